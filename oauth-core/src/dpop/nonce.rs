use std::fmt;
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::ports::Entropy;
use crate::vocabulary::{Audience, Issuer};

/// How long one nonce is the newest.
const STEP: Duration = Duration::from_secs(60);
/// How many nonces before the newest are accepted.
const OLDER: u64 = 4;

/// The key that nonces are made with: kept with the other keys of a server, and the same on every instance of it.
///
/// One key may serve an authorization server and resource servers: the nonces of each are its own.
#[derive(Clone)]
pub struct NonceKey(Zeroizing<[u8; 32]>);

impl NonceKey {
    /// The key of these bytes, which must come from a generator of random numbers or keys, never from a person.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// A new one, for a server that runs once and alone.
    #[must_use]
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let mut bytes = Zeroizing::new([0; 32]);
        entropy.fill(bytes.as_mut_slice());
        Self(bytes)
    }
}

impl fmt::Debug for NonceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NonceKey([redacted])")
    }
}

/// The nonces that one server gives out and takes back, [RFC 9449 §8](https://www.rfc-editor.org/rfc/rfc9449#section-8): a
/// function of its key and of the minute, so that none is stored.
///
/// One is accepted for four to five minutes. Where a client comes with one that is not the newest, it is handed the newest with its
/// answer, so that a client that keeps talking is asked once. A server whose clock is up to a minute behind accepts what another gave
/// out.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use oauth_core::dpop::{Freshness, NonceKey, Nonces};
///
/// let nonces = Nonces::of_authorization_server(&NonceKey::from_bytes([7; 32]), &"https://as.example".parse()?);
/// let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
/// let nonce = nonces.newest(now);
/// assert_eq!(nonces.freshness(&nonce, now), Some(Freshness::Newest));
/// assert_eq!(nonces.freshness(&nonce, now + Duration::from_secs(60)), Some(Freshness::Older));
/// assert_eq!(nonces.freshness(&nonce, now + Duration::from_secs(300)), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Nonces(Zeroizing<[u8; 32]>);

/// What an accepted nonce is worth.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a nonce is the newest or it is not")]
pub enum Freshness {
    /// It goes on being good.
    Newest,
    /// It will soon be refused: hand out the newest.
    Older,
}

impl Nonces {
    /// Those of an authorization server.
    #[must_use]
    pub fn of_authorization_server(key: &NonceKey, issuer: &Issuer) -> Self {
        Self::of(key, "authorization server", issuer.as_str())
    }

    /// Those of a resource server.
    #[must_use]
    pub fn of_resource_server(key: &NonceKey, audience: &Audience) -> Self {
        Self::of(key, "resource server", audience.as_str())
    }

    fn of(key: &NonceKey, role: &str, name: &str) -> Self {
        // no name holds a NUL, so that no two servers are written alike
        Self(Zeroizing::new(mac(
            &key.0,
            format!("DPoP nonce\0{role}\0{name}").as_bytes(),
        )))
    }

    /// The nonce to hand out now.
    #[must_use]
    pub fn newest(&self, now: SystemTime) -> String {
        self.at(step(now))
    }

    /// Whether this is a nonce that was handed out a few minutes ago at most.
    #[must_use]
    pub fn freshness(&self, presented: &str, now: SystemTime) -> Option<Freshness> {
        let newest = step(now);
        let is = |step| bool::from(self.at(step).as_bytes().ct_eq(presented.as_bytes()));
        // that of the next step is of a server whose clock is ahead
        if is(newest) || is(newest.saturating_add(1)) {
            return Some(Freshness::Newest);
        }
        let older = newest.saturating_sub(OLDER)..newest;
        older.rev().any(is).then_some(Freshness::Older)
    }

    fn at(&self, step: u64) -> String {
        URL_SAFE_NO_PAD.encode(mac(&self.0, &step.to_be_bytes()))
    }
}

impl fmt::Debug for Nonces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Nonces([redacted])")
    }
}

/// The number of the step that is now; those before 1970 are the first.
fn step(now: SystemTime) -> u64 {
    let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    since.as_secs() / STEP.as_secs()
}

#[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
fn mac(key: &[u8; 32], message: &[u8]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("any length is a key");
    mac.update(message);
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn nonces(key: u8, role: &str, name: &str) -> Nonces {
        Nonces::of(&NonceKey::from_bytes([key; 32]), role, name)
    }

    /// O20, DP10, DP16: a nonce is good for four to five minutes, to the instant; one from a minute ahead is, too.
    #[test]
    fn a_nonce_is_good_for_a_few_minutes() {
        // the beginning of a step
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let nonces = nonces(7, "authorization server", "https://as.example");
        let nonce = nonces.newest(start);
        let tick = Duration::from_nanos(1);
        for (now, expected) in [
            (start, Some(Freshness::Newest)),
            (start + 60 * SECOND - tick, Some(Freshness::Newest)),
            (start + 60 * SECOND, Some(Freshness::Older)),
            (start + 300 * SECOND - tick, Some(Freshness::Older)),
            (start + 300 * SECOND, None),
            (start - tick, Some(Freshness::Newest)),
            (start - 60 * SECOND, Some(Freshness::Newest)),
            (start - 60 * SECOND - tick, None),
            (SystemTime::UNIX_EPOCH, None),
            (SystemTime::UNIX_EPOCH - SECOND, None),
        ] {
            assert_eq!(nonces.freshness(&nonce, now), expected, "{now:?}");
        }
    }

    /// O20, DP16: neither another key nor another server, nor another role of the same name, makes the same nonce.
    #[test]
    fn the_nonces_of_a_server_are_its_own() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let name = "https://one.example";
        let key = NonceKey::from_bytes([7; 32]);
        let server = Nonces::of_authorization_server(&key, &name.parse().unwrap());
        let resource = Nonces::of_resource_server(&key, &name.parse().unwrap());
        let others = [
            resource,
            nonces(8, "authorization server", name),
            nonces(7, "authorization server", "https://two.example"),
        ];
        for other in others {
            assert_eq!(other.freshness(&server.newest(now), now), None);
        }
        assert_eq!(
            format!("{key:?} {server:?}"),
            "NonceKey([redacted]) Nonces([redacted])"
        );
    }

    /// O20, DP10, DP16: what is no nonce of ours is none; HMAC-SHA-256, computed by another program.
    #[test]
    fn a_nonce_cannot_be_made_up() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let nonces = nonces(7, "authorization server", "https://as.example");
        let nonce = nonces.newest(now);
        assert_eq!(nonce, "Lx28QlH_1_Mcgd4uXZDhDFg82kdg1W2-AhTzikcpFsE");
        assert_eq!(nonce.len(), 43);
        for made_up in [
            "",
            "0",
            nonce.trim_start_matches("Lx"),
            &nonce.to_lowercase(),
            &format!("{nonce}="),
        ] {
            assert_eq!(nonces.freshness(made_up, now), None, "{made_up}");
        }
    }
}
