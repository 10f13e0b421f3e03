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

/// Time for which a nonce is the newest: one minute.
const STEP: Duration = Duration::from_secs(60);
/// Number of older nonces that are accepted in addition to the newest.
const OLDER: u64 = 4;

/// Secret key from which nonces are derived. Store it with the other keys of the server. All
/// instances of a server must use the same key.
///
/// An authorization server and resource servers may share one key. Each server still gets its own
/// nonces, because they are also derived from its issuer or audience.
#[derive(Clone)]
pub struct NonceKey(Zeroizing<[u8; 32]>);

impl NonceKey {
    /// Creates a key from bytes, which must come from a cryptographic random generator.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// Generates a random key, for a server with one instance. After a restart the server refuses
    /// all earlier nonces and sends new ones.
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

/// Nonces of one server, [RFC 9449 §8](https://www.rfc-editor.org/rfc/rfc9449#section-8). Each
/// nonce is derived from the key and the current minute, so the server stores no nonces.
///
/// A nonce is accepted for four to five minutes after its creation. If the nonce of a request is
/// not the newest, the response should contain the newest nonce. So an active client gets
/// `use_dpop_nonce` only once. Instances of a server accept each other's nonces if their clocks
/// differ by at most one minute.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use oauth_core::dpop::{Freshness, NonceKey, Nonces};
///
/// let key = NonceKey::from_bytes([7; 32]);
/// let nonces = Nonces::of_authorization_server(&key, &"https://as.example".parse()?);
/// let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
/// let nonce = nonces.newest(now);
/// assert_eq!(nonces.freshness(&nonce, now), Some(Freshness::Newest));
/// assert_eq!(nonces.freshness(&nonce, now + Duration::from_secs(60)), Some(Freshness::Older));
/// assert_eq!(nonces.freshness(&nonce, now + Duration::from_secs(300)), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Nonces(Zeroizing<[u8; 32]>);

/// Age of an accepted nonce.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a nonce is the newest or it is not")]
pub enum Freshness {
    /// The nonce is the newest.
    Newest,
    /// The nonce was the newest in one of the last four minutes. The server should send the newest
    /// nonce with its response.
    Older,
}

impl Nonces {
    /// Creates the nonces of an authorization server.
    #[must_use]
    pub fn of_authorization_server(key: &NonceKey, issuer: &Issuer) -> Self {
        Self::of(key, "authorization server", issuer.as_str())
    }

    /// Creates the nonces of a resource server.
    #[must_use]
    pub fn of_resource_server(key: &NonceKey, audience: &Audience) -> Self {
        Self::of(key, "resource server", audience.as_str())
    }

    fn of(key: &NonceKey, role: &str, name: &str) -> Self {
        // an issuer or audience contains no NUL, so the text is unambiguous
        Self(Zeroizing::new(mac(
            &key.0,
            format!("DPoP nonce\0{role}\0{name}").as_bytes(),
        )))
    }

    /// Returns the nonce to send to clients at `now`.
    #[must_use]
    pub fn newest(&self, now: SystemTime) -> String {
        self.at(step(now))
    }

    /// Returns the age of `presented` if it is an accepted nonce; otherwise `None`.
    #[must_use]
    pub fn freshness(&self, presented: &str, now: SystemTime) -> Option<Freshness> {
        let newest = step(now);
        let is = |step| bool::from(self.at(step).as_bytes().ct_eq(presented.as_bytes()));
        // an instance whose clock is ahead may already have sent the next nonce
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

/// Returns the number of whole minutes since 1970; 0 before 1970.
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

    /// O20, DP10, DP16: a nonce is accepted until exactly five minutes after the start of its
    /// minute, and from one minute before that start.
    #[test]
    fn a_nonce_is_good_for_a_few_minutes() {
        // start of a minute
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

    /// O20, DP16: a server with another key, another name or another role has other nonces.
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

    /// O20, DP10, DP16: nonces that the server did not derive are refused. The expected
    /// HMAC-SHA-256 was computed by another program.
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
