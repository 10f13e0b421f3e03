//! The same refresh a second time: how long it is answered as the first, and how its tokens are made again.

use std::fmt;
use std::time::{Duration, SystemTime};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::InvalidLifetime;
use crate::ports::Entropy;
use crate::secret::{AccessToken, RefreshToken};
use crate::store::RotationSalt;

/// For how long after a rotation the token that was presented may be presented again by a client that lost the answer: not at all
/// unless said otherwise, and a minute at most.
///
/// Within it the same client that asks for the same scopes and resources is given the same refresh token and access token once
/// more, as often as it asks. The window ends early when the new refresh token is first used, when the new access token or the family is
/// revoked, and at the end of the family. Where the clocks of two servers differ it is shorter or longer by as much.
///
/// The chain never forks: a thief who comes within the window holds the same leaf as its owner. When both have used that leaf the
/// theft is seen, unless the second use was itself a retry of the first: within its window, and before its successor was used. Both
/// then hold the next leaf, and the same is asked again.
///
/// ```
/// use std::time::Duration;
/// use oauth_core::grant::RetryWindow;
///
/// assert_eq!(RetryWindow::default(), RetryWindow::NONE);
/// assert!(RetryWindow::new(Duration::from_secs(10)).is_ok());
/// assert!(RetryWindow::new(Duration::from_secs(61)).is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct RetryWindow(Duration);

impl RetryWindow {
    /// No time at all: a token that was rotated is a theft whenever it comes back.
    pub const NONE: Self = Self(Duration::ZERO);
    /// The longest.
    pub const MAX: Duration = Duration::from_secs(60);

    /// A window within the range.
    ///
    /// # Errors
    ///
    /// [`InvalidLifetime`] when it is longer than [`Self::MAX`].
    pub fn new(window: Duration) -> Result<Self, InvalidLifetime> {
        if window <= Self::MAX {
            Ok(Self(window))
        } else {
            Err(InvalidLifetime)
        }
    }

    /// How long it is.
    #[must_use]
    pub const fn as_duration(self) -> Duration {
        self.0
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.0.is_zero()
    }

    /// Whether `now` is less than the window away from the rotation `at`; the clocks of two servers may have either of them first.
    pub(super) fn covers(self, at: SystemTime, now: SystemTime) -> bool {
        let distance = now.duration_since(at).unwrap_or_else(|early| early.duration());
        distance < self.0
    }
}

/// The key that turns a presented refresh token into what it is exchanged for, so that the exchange can be repeated and nothing
/// but hashes is stored.
///
/// Made once and kept with the other keys of the server; every instance has the same. Where another took its place, tokens
/// of before come out differently: retries that are under way are refused, and nothing else happens.
///
/// What it makes is the refresh token and an opaque access token. A JWT is made again by signing the same claims once more, which gives
/// the same bytes under EdDSA alone.
///
/// # Security
///
/// Who has the pepper and the store learns nothing from them. Who has a refresh token besides can follow its chain, so the pepper is as
/// secret as the signing keys are.
///
/// ```
/// use oauth_core::grant::RetryPepper;
/// use oauth_core::ports::OsEntropy;
/// use oauth_core::secret::RefreshToken;
/// use oauth_core::store::RotationSalt;
///
/// let pepper = RetryPepper::from_bytes([7; 32]);
/// let (salt, presented) = (RotationSalt::generate(&OsEntropy), RefreshToken::generate(&OsEntropy));
/// let again = RetryPepper::from_bytes([7; 32]);
/// assert_eq!(pepper.refresh_token(&salt, &presented).hash(), again.refresh_token(&salt, &presented).hash());
/// ```
#[derive(Clone)]
pub struct RetryPepper(Zeroizing<[u8; 32]>);

impl RetryPepper {
    /// The pepper of these bytes, which must come from a generator of random numbers or keys, never from a person.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// A new one, for a server that runs once: what it makes cannot be made again by another.
    #[must_use]
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let mut bytes = Zeroizing::new([0; 32]);
        entropy.fill(bytes.as_mut_slice());
        Self(bytes)
    }

    /// The refresh token that `presented` is exchanged for.
    #[must_use]
    pub fn refresh_token(&self, salt: &RotationSalt, presented: &RefreshToken) -> RefreshToken {
        RefreshToken::from_bits(&self.derive(b"rt", salt, presented))
    }

    /// The opaque access token that is issued with it.
    #[must_use]
    pub fn access_token(&self, salt: &RotationSalt, presented: &RefreshToken) -> AccessToken {
        AccessToken::from_bits(&self.derive(b"at", salt, presented))
    }

    /// HMAC-SHA-256 over label, salt and token: the first two are of one length each, so no two inputs are one text.
    #[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
    fn derive(&self, label: &[u8; 2], salt: &RotationSalt, presented: &RefreshToken) -> Zeroizing<[u8; 32]> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.0.as_slice()).expect("any length is a key");
        mac.update(label);
        mac.update(salt.as_bytes());
        mac.update(presented.expose().as_bytes());
        Zeroizing::new(mac.finalize().into_bytes().into())
    }
}

impl fmt::Debug for RetryPepper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RetryPepper([redacted])")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::entropy_fn;

    const SECOND: Duration = Duration::from_secs(1);
    const INSTANT: Duration = Duration::from_nanos(1);

    fn token(text: &str) -> RefreshToken {
        text.parse().unwrap()
    }

    /// O10, 53: a window is at most a minute, ends at the exact instant, and with none there is no instant in it.
    #[test]
    fn a_retry_window_is_a_minute_at_most_and_none_by_default() {
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        assert!(RetryWindow::default().is_none());
        assert!(!RetryWindow::NONE.covers(at, at));
        let window = RetryWindow::new(60 * SECOND).unwrap();
        for (now, covered) in [
            (at, true),
            (at + 60 * SECOND - INSTANT, true),
            (at + 60 * SECOND, false),
            (at - 60 * SECOND + INSTANT, true),
            (at - 60 * SECOND, false),
            (SystemTime::UNIX_EPOCH, false),
        ] {
            assert_eq!(window.covers(at, now), covered, "{now:?}");
        }
        assert_eq!(RetryWindow::new(60 * SECOND + INSTANT), Err(InvalidLifetime));
    }

    /// O10, O14, 53: what is derived is 256 bits that another pepper, salt, label or token changes altogether, and says nothing of any.
    #[test]
    fn derived_tokens_depend_on_all_they_are_derived_from() {
        let (salt, other_salt) = (
            RotationSalt::from_bytes([1; 16]),
            RotationSalt::from_bytes([2; 16]),
        );
        let (pepper, other) = (RetryPepper::from_bytes([7; 32]), RetryPepper::from_bytes([8; 32]));
        let presented = token("rt_presented");
        let derived = pepper.refresh_token(&salt, &presented);
        assert_eq!(derived.expose().len(), 3 + 43);
        assert!(derived.expose().starts_with("rt_"));
        let again = pepper.refresh_token(&salt, &presented);
        assert_eq!(again.expose(), derived.expose());
        let access = pepper.access_token(&salt, &presented);
        assert!(access.expose().starts_with("at_"));
        let others = [
            access.expose().replace("at_", "rt_"),
            other.refresh_token(&salt, &presented).expose().to_owned(),
            pepper.refresh_token(&other_salt, &presented).expose().to_owned(),
            pepper
                .refresh_token(&salt, &token("rt_presente"))
                .expose()
                .to_owned(),
            presented.expose().to_owned(),
        ];
        assert!(!others.iter().any(|other| other == derived.expose()));
    }

    /// O10: HMAC-SHA-256 of `rt`, sixteen ones and `rt_presented` under thirty-two sevens, computed by another program.
    #[test]
    fn the_derivation_is_this_to_the_bit() {
        let pepper = RetryPepper::from_bytes([7; 32]);
        let salt = RotationSalt::from_bytes([1; 16]);
        let derived = pepper.refresh_token(&salt, &token("rt_presented"));
        assert_eq!(derived.expose(), "rt_-GuFlwA2PCWTFm1XvIUx_07CV5y2kOCBylM-rwrarFg");
        let derived = pepper.access_token(&salt, &token("rt_presented"));
        assert_eq!(derived.expose(), "at_cTT-i4vit-Pv3QO0FAlMCR6iv-ePBUidBtOA9-cdOKM");
    }

    #[test]
    fn a_pepper_never_prints() {
        let pepper = RetryPepper::generate(&entropy_fn(|bytes: &mut [u8]| bytes.fill(0x41)));
        assert_eq!(format!("{pepper:?}"), "RetryPepper([redacted])");
    }
}
