use serde::{Deserialize, Serialize};

use crate::jose::{Algorithm, InvalidKeySet, KeySet};
use crate::vocabulary::{Endpoint, InvalidEndpoint};

/// The key set has no key of the algorithm, has two keys with the same `kid`, or has more than 100
/// keys.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not usable client keys: expected at least one key of the algorithm, each with its own kid")]
pub struct InvalidClientKeys;

/// Public keys of a `private_key_jwt` client, and the only algorithm of its assertions: `jwks` and
/// `token_endpoint_auth_signing_alg` of [RFC 7591
/// §2](https://www.rfc-editor.org/rfc/rfc7591#section-2).
///
/// ```
/// use oauth_core::jose::{Algorithm, KeySet, SigningKey};
/// use oauth_core::ports::OsEntropy;
/// use oauth_core::store::{ClientKeys, RegisteredClient};
///
/// // the key of the client, which registers its public key
/// let key = SigningKey::generate_es256(&OsEntropy)?;
/// let keys = KeySet::new([key.public_key().clone()])?;
/// let registered = ClientKeys::new(Algorithm::Es256, &keys)?;
/// let robot = RegisteredClient::keyed("robot".parse()?, registered);
/// assert!(robot.is_confidential());
/// assert!(ClientKeys::new(Algorithm::EdDsa, &keys).is_err());
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(try_from = "Wire", into = "Wire")]
pub struct ClientKeys {
    algorithm: Algorithm,
    keys: KeySet,
}

impl ClientKeys {
    /// Registers those keys of `keys` that have this algorithm. The server refuses the client's
    /// assertions with another algorithm.
    ///
    /// # Errors
    ///
    /// [`InvalidClientKeys`] when no key has this algorithm.
    pub fn new(algorithm: Algorithm, keys: &KeySet) -> Result<Self, InvalidClientKeys> {
        let of_algorithm = keys.iter().filter(|key| key.can_verify(algorithm));
        let keys = KeySet::new(of_algorithm.map(|key| key.only(algorithm)))?;
        if keys.iter().next().is_none() {
            return Err(InvalidClientKeys);
        }
        Ok(Self { algorithm, keys })
    }

    /// Returns the signature algorithm of the client's assertions.
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Returns the keys, all of [`algorithm`](Self::algorithm): one, or several while the client
    /// rotates its key.
    #[must_use]
    pub const fn keys(&self) -> &KeySet {
        &self.keys
    }
}

/// Location of the client's keys, `jwks_uri` ([OpenID Connect Registration
/// §2](https://openid.net/specs/openid-connect-registration-1_0.html#ClientMetadata)): the client
/// rotates its keys without a change of its registration.
///
/// ```
/// use oauth_core::jose::Algorithm;
/// use oauth_core::store::ClientKeysUri;
///
/// let keys = ClientKeysUri::new(Algorithm::Rs256, "https://robot.example/jwks.json")?;
/// assert_eq!(keys.uri(), "https://robot.example/jwks.json");
/// # Ok::<(), oauth_core::vocabulary::InvalidEndpoint>(())
/// ```
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ClientKeysUri {
    algorithm: Algorithm,
    uri: String,
}

impl ClientKeysUri {
    /// Creates a location. The server refuses the client's assertions with another algorithm.
    ///
    /// # Errors
    ///
    /// [`InvalidEndpoint`] when `uri` is neither an `https` URL nor an `http` URL of a loopback
    /// address.
    pub fn new(algorithm: Algorithm, uri: &str) -> Result<Self, InvalidEndpoint> {
        uri.parse::<Endpoint>()?;
        Ok(Self {
            algorithm,
            uri: uri.to_owned(),
        })
    }

    /// Returns the signature algorithm of the client's assertions.
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Returns the URL of the JWK set.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.uri
    }
}

impl From<InvalidKeySet> for InvalidClientKeys {
    fn from(_: InvalidKeySet) -> Self {
        Self
    }
}

/// Stored form: the name of the algorithm and the JWK set document.
#[derive(Deserialize, Serialize)]
struct Wire {
    algorithm: String,
    jwks: String,
}

impl From<ClientKeys> for Wire {
    fn from(keys: ClientKeys) -> Self {
        Self {
            algorithm: keys.algorithm.as_str().to_owned(),
            jwks: keys.keys.to_json(),
        }
    }
}

impl TryFrom<Wire> for ClientKeys {
    type Error = InvalidClientKeys;

    fn try_from(wire: Wire) -> Result<Self, InvalidClientKeys> {
        let algorithm = Algorithm::of(&wire.algorithm).ok_or(InvalidClientKeys)?;
        Self::new(algorithm, &KeySet::parse(wire.jwks.as_bytes())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jose::SigningKey;
    use crate::ports::entropy_fn;

    fn keys() -> KeySet {
        let es256 = SigningKey::generate_es256(&entropy_fn(|bytes: &mut [u8]| bytes.fill(7))).unwrap();
        let eddsa = SigningKey::generate_ed25519(&entropy_fn(|bytes: &mut [u8]| bytes.fill(7))).unwrap();
        KeySet::new([es256, eddsa].map(|key| key.public_key().clone())).unwrap()
    }

    /// O25, 11, 66: keys of another algorithm are not registered.
    #[test]
    fn the_keys_of_a_client_are_of_one_algorithm() {
        for algorithm in [Algorithm::Es256, Algorithm::EdDsa] {
            let kept = ClientKeys::new(algorithm, &keys()).unwrap();
            let algorithms: Vec<_> = kept.keys().iter().map(crate::jose::Jwk::algorithm).collect();
            assert_eq!(algorithms, [algorithm]);
            let text = serde_json::to_string(&kept).unwrap();
            assert_eq!(serde_json::from_str::<ClientKeys>(&text).unwrap(), kept);
        }
        assert_eq!(ClientKeys::new(Algorithm::Rs256, &keys()), Err(InvalidClientKeys));
    }

    /// O25: a stored record is checked again when it is read.
    #[test]
    fn a_record_without_usable_keys_is_no_client() {
        let jwks = keys().to_json();
        for (algorithm, jwks) in [
            ("RS256", jwks.as_str()),
            ("none", &jwks),
            ("ES256", r#"{"keys":[]}"#),
            ("ES256", ""),
        ] {
            let record = serde_json::json!({ "algorithm": algorithm, "jwks": jwks });
            assert!(
                serde_json::from_value::<ClientKeys>(record).is_err(),
                "{algorithm} {jwks}"
            );
        }
    }
}
