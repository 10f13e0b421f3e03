//! Selection among the signing keys of the server.

use std::time::SystemTime;

use crate::jose::{Algorithm, InvalidKeySet, Jwk, KeySet, SigningKey, SigningKeys};

/// Signing keys of the server: one set for access tokens, and further sets for ID tokens of other
/// algorithms.
pub(super) struct IssuerKeys {
    access_tokens: SigningKeys,
    id_tokens: Vec<SigningKeys>,
}

impl IssuerKeys {
    /// Creates the keys.
    ///
    /// # Errors
    ///
    /// [`InvalidKeySet`] when two keys have the same `kid`, there are more than 100 keys, or two
    /// sets have one algorithm.
    pub(super) fn new(
        access_tokens: SigningKeys,
        id_tokens: Vec<SigningKeys>,
    ) -> Result<Self, InvalidKeySet> {
        let keys = Self {
            access_tokens,
            id_tokens,
        };
        let algorithms = keys.algorithms();
        let is_repeated = |(index, algorithm): (usize, &Algorithm)| {
            let mut earlier = algorithms.iter().take(index);
            earlier.any(|other| other == algorithm)
        };
        if algorithms.iter().enumerate().any(is_repeated) {
            return Err(InvalidKeySet);
        }
        KeySet::new(keys.sets().flat_map(SigningKeys::all_public_keys))?;
        Ok(keys)
    }

    fn sets(&self) -> impl Iterator<Item = &SigningKeys> {
        std::iter::once(&self.access_tokens).chain(&self.id_tokens)
    }

    /// Returns the key that signs access tokens.
    pub(super) const fn access_token_key(&self) -> &SigningKey {
        self.access_tokens.active()
    }

    /// Returns the key that signs the ID tokens of a client with this registered algorithm. A
    /// client without one gets RS256, the default of OpenID Connect, if there is such a key,
    /// otherwise the algorithm of access tokens. `None` if no key has the registered algorithm.
    pub(super) fn id_token_key(&self, registered: Option<Algorithm>) -> Option<&SigningKey> {
        let of = |algorithm| {
            let mut keys = self.sets().map(SigningKeys::active);
            keys.find(|key| key.algorithm() == algorithm)
        };
        match registered {
            Some(algorithm) => of(algorithm),
            None => of(Algorithm::Rs256).or(Some(self.access_token_key())),
        }
    }

    /// Returns the algorithms of ID tokens.
    pub(super) fn algorithms(&self) -> Vec<Algorithm> {
        self.sets().map(|keys| keys.active().algorithm()).collect()
    }

    /// Returns the JWKS to publish at `now`.
    pub(super) fn published(&self, now: SystemTime) -> KeySet {
        let keys = self.sets().map(|keys| keys.published_keys(now));
        let keys: Vec<Jwk> = keys
            .flat_map(|keys| keys.iter().cloned().collect::<Vec<_>>())
            .collect();
        // `new` has refused repeated names
        KeySet::new(keys).unwrap_or_default()
    }
}
