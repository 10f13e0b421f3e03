//! Retries of a refresh: the window, and the derivation of the same tokens.

use std::fmt;
use std::time::{Duration, SystemTime};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::InvalidLifetime;
use crate::ports::Entropy;
use crate::secret::{AccessToken, RefreshToken};
use crate::store::RotationSalt;

/// Time after a rotation in which a client that lost the response may retry the refresh. Default:
/// no retry. Maximum: 60 seconds.
///
/// Within the window, a retry by the same client with the same binding, scopes and resources
/// returns the same refresh token and access token, any number of times. The window ends early when
/// the new refresh token is used, when the new access token or the family is revoked, and at the
/// expiry of the family. Clock differences between servers shorten or extend it.
///
/// # Security
///
/// A family never has two valid refresh tokens: a thief who presents a rotated token within the
/// window gets the same new token as its owner. When both have used the new token, the server
/// detects reuse, with one exception: the second use is itself a retry, within the window of the
/// first use and before the next token was used. Then both have the next token, and the same rule
/// applies to it.
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
    /// No window: a rotated token that is presented again is always reuse.
    pub const NONE: Self = Self(Duration::ZERO);
    /// Longest window: 60 seconds.
    pub const MAX: Duration = Duration::from_secs(60);

    /// Creates a window of zero to 60 seconds. Zero means no window.
    ///
    /// # Errors
    ///
    /// [`InvalidLifetime`] when `window` is longer than [`Self::MAX`].
    pub fn new(window: Duration) -> Result<Self, InvalidLifetime> {
        if window <= Self::MAX {
            Ok(Self(window))
        } else {
            Err(InvalidLifetime)
        }
    }

    /// Returns the length of the window.
    #[must_use]
    pub const fn as_duration(self) -> Duration {
        self.0
    }

    /// Returns `true` if there is no window.
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.0.is_zero()
    }

    /// Returns `true` if `now` is less than the window before or after the rotation at `at`. It may
    /// be before, because the clocks of two servers may differ.
    pub(super) fn covers(self, at: SystemTime, now: SystemTime) -> bool {
        let distance = now.duration_since(at).unwrap_or_else(|early| early.duration());
        distance < self.0
    }
}

/// Key to derive new tokens from the presented refresh token. A retry thus gets the same tokens,
/// although the store keeps only hashes.
///
/// Generate the pepper once and keep it with the other keys of the server. All instances of the
/// server use the same pepper. After a change of the pepper, the server refuses retries of earlier
/// rotations and revokes nothing.
///
/// The pepper derives the refresh token and an opaque access token. A JWT access token is signed
/// again over the same claims, which gives the same bytes only with EdDSA.
///
/// # Security
///
/// An attacker who has the pepper and the store learns no token. With a refresh token in addition,
/// the attacker can derive the tokens that replaced it, so keep the pepper as secret as the signing
/// keys.
///
/// ```
/// use oauth_core::grant::RetryPepper;
/// use oauth_core::ports::OsEntropy;
/// use oauth_core::secret::RefreshToken;
/// use oauth_core::store::RotationSalt;
///
/// let pepper = RetryPepper::from_bytes([7; 32]);
/// let salt = RotationSalt::generate(&OsEntropy);
/// let presented = RefreshToken::generate(&OsEntropy);
/// let again = RetryPepper::from_bytes([7; 32]);
/// let [first, second] = [pepper, again].map(|key| key.refresh_token(&salt, &presented).hash());
/// assert_eq!(first, second);
/// ```
#[derive(Clone)]
pub struct RetryPepper(Zeroizing<[u8; 32]>);

impl RetryPepper {
    /// Creates the pepper from bytes, which must come from a cryptographic random generator.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// Generates a pepper that lives only in this process. After a restart, and on other instances,
    /// the server refuses retries; to share a pepper, use [`from_bytes`](Self::from_bytes).
    #[must_use]
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let mut bytes = Zeroizing::new([0; 32]);
        entropy.fill(bytes.as_mut_slice());
        Self(bytes)
    }

    /// Derives the refresh token that replaces `presented`.
    #[must_use]
    pub fn refresh_token(&self, salt: &RotationSalt, presented: &RefreshToken) -> RefreshToken {
        RefreshToken::from_bits(&self.derive(b"rt", salt, presented))
    }

    /// Derives the opaque access token that is issued with [`refresh_token`](Self::refresh_token).
    #[must_use]
    pub fn access_token(&self, salt: &RotationSalt, presented: &RefreshToken) -> AccessToken {
        AccessToken::from_bits(&self.derive(b"at", salt, presented))
    }

    /// Computes HMAC-SHA-256 over label, salt and token. Label and salt have fixed lengths, so that
    /// different inputs never concatenate to the same bytes.
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

    /// O10, 53: a window is at most 60 seconds and excludes the instant at its end; without a
    /// window no instant is covered.
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

    /// O10, O14, 53: a derived token has 256 bits and depends on pepper, salt, label and presented
    /// token.
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

    /// O10: HMAC-SHA-256 of `rt` (or `at`), 16 bytes 0x01 and `rt_presented`, with a key of 32
    /// bytes 0x07, equals the value that another program computed.
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
