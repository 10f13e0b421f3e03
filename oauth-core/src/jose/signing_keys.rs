//! Key rotation of an issuer.

use std::time::{Duration, SystemTime};

use super::jwk::Jwk;
use super::key_set::KeySet;
use super::signing_key::SigningKey;
use crate::time::later;

/// Signing keys of one issuer: the active key, an optional next key, and retired keys.
///
/// The next key is published before it signs, so that resource servers can fetch it in time. A
/// retired key stays published until its last token has expired. The host decides when to rotate
/// and stores the private keys. This type reads no clock.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use oauth_core::jose::{SigningKey, SigningKeys};
/// use oauth_core::ports::OsEntropy;
///
/// let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
/// let first = SigningKey::generate_ed25519(&OsEntropy)?;
/// let second = SigningKey::generate_ed25519(&OsEntropy)?;
///
/// // a day before the rotation: publish the second key, so that resource servers fetch it
/// let keys = SigningKeys::new(first.clone()).with_next(second.clone());
/// assert_eq!(keys.active().key_id(), first.key_id());
/// assert_eq!(keys.published_keys(now).iter().count(), 2);
///
/// // the second key signs; the first stays published until its tokens have expired
/// let keys = keys.rotate(now, Duration::from_secs(900));
/// assert_eq!(keys.active().key_id(), second.key_id());
/// assert_eq!(keys.published_keys(now).iter().count(), 2);
/// assert_eq!(keys.published_keys(now + Duration::from_secs(900)).iter().count(), 1);
/// # Ok::<(), oauth_core::jose::InvalidKey>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct SigningKeys {
    active: SigningKey,
    next: Option<SigningKey>,
    retired: Vec<(Jwk, SystemTime)>,
}

impl SigningKeys {
    /// Creates a set with an active key.
    pub fn new(active: SigningKey) -> Self {
        Self {
            active,
            next: None,
            retired: Vec::new(),
        }
    }

    /// Sets the next key. It is published at once and signs after the next rotation.
    pub fn with_next(mut self, key: SigningKey) -> Self {
        self.next = Some(key);
        self
    }

    /// Adds a retired key. It is published until `until`, the expiry of its last token.
    pub fn with_retired(mut self, key: Jwk, until: SystemTime) -> Self {
        self.retired.push((key, until));
        self
    }

    /// Rotates at `now`: the next key becomes active, and the previous one stays published for
    /// `longest_life`, the maximum lifetime of its tokens. Without a next key nothing changes.
    pub fn rotate(mut self, now: SystemTime, longest_life: Duration) -> Self {
        self.retired.retain(|(_, until)| now < *until);
        if let Some(next) = self.next.take() {
            let before = std::mem::replace(&mut self.active, next);
            self.retired
                .push((before.public_key().clone(), later(now, longest_life)));
        }
        self
    }

    /// Returns the active key.
    #[must_use]
    pub const fn active(&self) -> &SigningKey {
        &self.active
    }

    /// Returns the JWKS to publish at `now`, with the active key first. If two keys have the same
    /// `kid`, the set contains only the first;
    /// [`build`](crate::server::AuthorizationServerBuilder::build) refuses such keys.
    #[must_use]
    pub fn published_keys(&self, now: SystemTime) -> KeySet {
        KeySet::first_of_each_name(self.public_keys(|until| now < until))
    }

    /// Iterates over all public keys, with those whose last token has expired.
    pub(crate) fn all_public_keys(&self) -> impl Iterator<Item = Jwk> {
        self.public_keys(|_| true)
    }

    fn public_keys<'a>(
        &'a self,
        is_alive: impl Fn(SystemTime) -> bool + 'a,
    ) -> impl Iterator<Item = Jwk> + 'a {
        let retired = self
            .retired
            .iter()
            .filter(move |(_, until)| is_alive(*until))
            .map(|(key, _)| key);
        std::iter::once(&self.active)
            .chain(&self.next)
            .map(SigningKey::public_key)
            .chain(retired)
            .cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::entropy_fn;

    const LIFE: Duration = Duration::from_secs(900);
    const INSTANT: Duration = Duration::from_nanos(1);

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn key(byte: u8) -> SigningKey {
        SigningKey::generate_ed25519(&entropy_fn(move |bytes: &mut [u8]| bytes.fill(byte))).unwrap()
    }

    fn check(keys: &SigningKeys, now: SystemTime, expected: &[u8]) {
        let published = keys.published_keys(now);
        let names: Vec<_> = published.iter().map(Jwk::thumbprint).collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|byte| key(*byte).public_key().thumbprint())
            .collect();
        assert_eq!(names, expected);
    }

    /// O22, 77: over three rotations each key is published before it signs and until its last token
    /// has expired.
    #[test]
    fn key_is_published_before_signing_and_until_last_expiry() {
        let keys = SigningKeys::new(key(1)).with_next(key(2));
        check(&keys, at(0), &[1, 2]);
        assert_eq!(keys.active().key_id(), key(1).key_id());

        let keys = keys.rotate(at(1000), LIFE);
        assert_eq!(keys.active().key_id(), key(2).key_id());
        check(&keys, at(1900) - INSTANT, &[2, 1]);
        check(&keys, at(1900), &[2]);

        let keys = keys.with_next(key(3)).rotate(at(1100), LIFE);
        check(&keys, at(1100), &[3, 1, 2]);
        check(&keys, at(1900), &[3, 2]);
        check(&keys, at(2000), &[3]);

        // expired keys are removed
        let keys = keys.with_next(key(4)).rotate(at(2000), LIFE);
        assert_eq!(keys.retired.len(), 1);
        check(&keys, at(2000), &[4, 3]);
    }

    /// O22: a key that was not published never signs.
    #[test]
    fn without_a_next_key_nothing_rotates() {
        let keys = SigningKeys::new(key(1)).rotate(at(1000), LIFE);
        assert_eq!(keys.active().key_id(), key(1).key_id());
        check(&keys, at(1000), &[1]);
    }

    /// O22, 77: of two keys with the same `kid`, the first is published.
    #[test]
    fn the_first_of_two_keys_of_one_name_is_published() {
        let twice = SigningKeys::new(key(1)).with_retired(key(1).public_key().clone(), at(10));
        check(&twice, at(0), &[1]);
    }
}
