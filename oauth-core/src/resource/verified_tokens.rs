use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use super::authenticated_token::Granted;
use super::cache::Cache;
use crate::jose::{AccessTokenClaims, AccessTokenPolicy, JwtError, KeySet};
use crate::secret::TokenHash;

/// Cache of verified JWTs by the hash of the whole token. A lookup computes a hash instead of
/// verifying a signature. Refused tokens are not cached, so forged tokens take no memory.
pub(super) struct VerifiedTokens {
    capacity: usize,
    state: Mutex<State>,
}

struct State {
    keys: Option<KeySet>,
    cache: Cache<Granted>,
}

impl VerifiedTokens {
    pub(super) fn new(capacity: usize) -> Self {
        let state = State {
            keys: None,
            cache: Cache::new(capacity),
        };
        Self {
            capacity,
            state: Mutex::new(state),
        }
    }

    /// Creates an empty cache of the same capacity.
    pub(super) fn emptied(&self) -> Self {
        Self::new(self.capacity)
    }

    /// Returns the content of a token from the cache, or verifies the token and caches it. All
    /// calls must use the same policy, because a cached token is not checked against the policy
    /// again.
    pub(super) fn granted(
        &self,
        token: &str,
        keys: &KeySet,
        policy: &AccessTokenPolicy,
        now: SystemTime,
    ) -> Result<Arc<Granted>, JwtError> {
        let verify = || {
            let claims = AccessTokenClaims::verify_bound(token, keys, policy, now)?;
            Ok(Arc::new(Granted::from(claims)))
        };
        if self.capacity == 0 {
            return verify();
        }
        let hash = TokenHash::new(token);
        // no code panics while it holds the lock, and signatures are verified without the lock
        let lock = || self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seen) = lock().verified_with(keys).get(&hash, now) {
            return Ok(seen);
        }
        let granted = verify()?;
        // cached until `exp` without leeway; during the leeway the token is verified each time
        let until = granted.terms.expires_at;
        let known = Arc::clone(&granted);
        lock().verified_with(keys).insert(hash, known, now, until);
        Ok(granted)
    }
}

impl State {
    /// Returns the cache of the tokens that were verified with `keys` or a clone of it. Another
    /// set, even one with equal keys, clears the cache first, because tokens of a withdrawn key
    /// must not stay accepted.
    fn verified_with(&mut self, keys: &KeySet) -> &mut Cache<Granted> {
        if !self.keys.as_ref().is_some_and(|own| own.is_same(keys)) {
            self.cache.clear();
            self.keys = Some(keys.clone());
        }
        &mut self.cache
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::jose::SigningKey;
    use crate::ports::entropy_fn;
    use crate::vocabulary::AccessTokenTerms;

    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
    }

    fn key() -> SigningKey {
        SigningKey::generate_ed25519(&entropy_fn(|bytes: &mut [u8]| bytes.fill(7))).unwrap()
    }

    fn keys() -> KeySet {
        KeySet::new([key().public_key().clone()]).unwrap()
    }

    fn policy() -> AccessTokenPolicy {
        AccessTokenPolicy::new(
            "https://as.example".parse().unwrap(),
            "https://api.example".parse().unwrap(),
        )
    }

    fn token(number: usize) -> String {
        let claims = AccessTokenClaims {
            terms: AccessTokenTerms {
                subject: "ada".parse().unwrap(),
                audience: vec!["https://api.example".parse().unwrap()],
                client_id: "web".parse().unwrap(),
                scopes: "read:charges".parse().unwrap(),
                issued_at: now(),
                expires_at: now() + Duration::from_secs(600),
                confirmation: None,
            },
            issuer: "https://as.example".parse().unwrap(),
            jti: number.to_string(),
            auth_time: None,
        };
        claims.sign(&key()).unwrap().expose().to_owned()
    }

    /// Returns `true` if the second of two calls needs no verification.
    fn remembers(
        tokens: &VerifiedTokens,
        first: (&KeySet, SystemTime),
        second: (&KeySet, SystemTime),
    ) -> bool {
        let token = token(0);
        let first = tokens.granted(&token, first.0, &policy(), first.1).unwrap();
        let second = tokens.granted(&token, second.0, &policy(), second.1).unwrap();
        Arc::ptr_eq(&first, &second)
    }

    /// O15: a cached token is not verified again until it expires. It is verified again if the
    /// clock is set back to before the first verification.
    #[test]
    fn a_token_that_is_seen_again_is_not_verified_again() {
        let (tick, keys) = (Duration::from_nanos(1), keys());
        let end = now() + Duration::from_secs(600);
        for (at, again) in [
            (now(), true),
            (end - tick, true),
            (end, false),
            (now() - tick, false),
        ] {
            let tokens = VerifiedTokens::new(10);
            assert_eq!(
                remembers(&tokens, (&keys, now()), (&keys.clone(), at)),
                again,
                "{at:?}"
            );
        }
        assert!(!remembers(
            &VerifiedTokens::new(0),
            (&keys, now()),
            (&keys, now())
        ));
        assert!(!remembers(
            &VerifiedTokens::new(10).emptied(),
            (&keys, end),
            (&keys, end)
        ));
    }

    /// O15, 77: with another key set, even one with equal keys, all tokens are verified again.
    #[test]
    fn other_key_set_clears_cache() {
        let (tokens, before, after) = (VerifiedTokens::new(10), keys(), keys());
        assert!(remembers(&tokens, (&before, now()), (&before, now())));
        assert!(!remembers(&tokens, (&before, now()), (&after, now())));
        assert!(!remembers(&tokens, (&after, now()), (&before, now())));
        let empty = KeySet::new([]).unwrap();
        let refused = tokens.granted(&token(0), &empty, &policy(), now());
        assert_eq!(refused.unwrap_err(), JwtError::UnknownKey);
    }

    /// O15: tokens are cached by their whole text, so a changed token is refused, and each refused
    /// token is verified again.
    #[test]
    fn refused_tokens_are_not_cached() {
        let (tokens, keys, token) = (VerifiedTokens::new(10), keys(), token(0));
        let long_ago = now() - Duration::from_secs(60);
        let refused = tokens.granted(&token, &keys, &policy(), long_ago);
        assert_eq!(refused.unwrap_err(), JwtError::NotYetValid);
        tokens.granted(&token, &keys, &policy(), now()).unwrap();
        for index in 0..token.len() {
            let mut forged = token.clone().into_bytes();
            forged[index] = if forged[index] == b'A' { b'B' } else { b'A' };
            let forged = String::from_utf8(forged).unwrap();
            for _ in 0..2 {
                assert!(
                    tokens.granted(&forged, &keys, &policy(), now()).is_err(),
                    "{index}"
                );
            }
        }
    }

    /// O15: a full cache drops the oldest token.
    #[test]
    fn the_capacity_is_kept() {
        let (tokens, keys) = (VerifiedTokens::new(4), keys());
        let first = tokens.granted(&token(0), &keys, &policy(), now()).unwrap();
        for number in 1..=4 {
            tokens.granted(&token(number), &keys, &policy(), now()).unwrap();
        }
        let again = tokens.granted(&token(0), &keys, &policy(), now()).unwrap();
        assert!(!Arc::ptr_eq(&first, &again));
    }
}
