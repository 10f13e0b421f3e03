use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::ports::Entropy;
use crate::random::random_text;
use crate::secret::TokenHash;

/// Prefix of all session secrets, so that log scanners recognise a leak.
const PREFIX: &str = "ss_";

/// Characters after the prefix: base64url of 256 bits.
const LENGTH: usize = 43;

/// The text is not a session secret.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a session secret: expected `ss_` and 43 base64url characters")]
#[non_exhaustive]
pub struct InvalidSessionSecret;

/// Secret in the cookie of a session: `ss_` and 256 random bits as 43 base64url characters. Only
/// the browser keeps it; the store keeps its [hash](Self::hash).
#[derive(Clone)]
pub struct SessionSecret(Zeroizing<String>);

impl SessionSecret {
    /// Generates a secret of 256 random bits.
    #[must_use]
    pub fn generate(entropy: &dyn Entropy) -> Self {
        Self(random_text::<32>(PREFIX, entropy))
    }

    /// Returns the secret, for the cookie only. Its characters need no quoting.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns the SHA-256 hash of the secret, for the store.
    #[must_use]
    pub fn hash(&self) -> TokenHash {
        TokenHash::new(&self.0)
    }
}

impl FromStr for SessionSecret {
    type Err = InvalidSessionSecret;

    fn from_str(text: &str) -> Result<Self, InvalidSessionSecret> {
        let random = text.strip_prefix(PREFIX).ok_or(InvalidSessionSecret)?;
        let base64url = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        if random.len() == LENGTH && random.bytes().all(base64url) {
            Ok(Self(Zeroizing::new(text.to_owned())))
        } else {
            Err(InvalidSessionSecret)
        }
    }
}

impl fmt::Debug for SessionSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionSecret([redacted])")
    }
}

/// Label that separates CSRF tokens from other values derived from the secret.
const LABEL: &[u8] = b"oauth-core csrf token";

impl SessionSecret {
    /// Returns the CSRF token for the forms of this browser: 43 base64url characters, for a hidden
    /// field.
    ///
    /// The token is an HMAC-SHA-256 with the secret as key. It is not stored, changes when the
    /// secret is renewed, and does not reveal the secret.
    ///
    /// A sign-in form needs a token before the session exists: [`generate`](Self::generate) a
    /// secret, and put it in the [cookie](super::SessionCookie) without storing a session. The
    /// sign-in replaces this secret.
    ///
    /// ```
    /// use oauth_core::{ports::OsEntropy, session::SessionSecret};
    ///
    /// let secret = SessionSecret::generate(&OsEntropy);
    /// assert!(secret.is_csrf_token(&secret.csrf_token()));
    /// assert!(!secret.is_csrf_token(&SessionSecret::generate(&OsEntropy).csrf_token()));
    /// ```
    #[must_use]
    pub fn csrf_token(&self) -> Zeroizing<String> {
        Zeroizing::new(URL_SAFE_NO_PAD.encode(self.csrf_mac().finalize().into_bytes()))
    }

    /// Returns `true` if `presented` is the [`csrf_token`](Self::csrf_token) of this secret. The
    /// comparison takes constant time.
    #[must_use]
    pub fn is_csrf_token(&self, presented: &str) -> bool {
        let mut tag = [0; 32];
        let decoded = URL_SAFE_NO_PAD.decode_slice(presented, &mut tag);
        decoded == Ok(tag.len()) && self.csrf_mac().verify_slice(&tag).is_ok()
    }

    #[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
    fn csrf_mac(&self) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.expose().as_bytes()).expect("any length is a key");
        mac.update(LABEL);
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::entropy_fn;

    fn secret(byte: u8) -> SessionSecret {
        SessionSecret::generate(&entropy_fn(move |bytes: &mut [u8]| bytes.fill(byte)))
    }

    /// S1, 103: a secret has 256 random bits and `Debug` does not print it; text with a cookie
    /// delimiter is refused.
    #[test]
    fn a_session_secret_is_256_bits_in_base64url() {
        let secret = secret(0xff);
        assert_eq!(secret.expose(), "ss___________________________________________8");
        assert_eq!(secret.hash(), TokenHash::new(secret.expose()));
        assert_eq!(format!("{secret:?}"), "SessionSecret([redacted])");
        assert!(secret.expose().parse::<SessionSecret>().is_ok());
        let long = format!("{}A", secret.expose());
        let cut = format!("ss_; Domain=a.example{}", "A".repeat(25));
        for text in [
            "",
            "ss_",
            "at___________________________________________8",
            &long,
            &cut,
        ] {
            assert!(text.parse::<SessionSecret>().is_err(), "{text:?}");
        }
    }

    /// S4, 109: a CSRF token is valid for one secret only, so a form from before a renewal is
    /// refused.
    #[test]
    fn a_csrf_token_is_of_one_session() {
        let (first, second) = (secret(1), secret(2));
        let token = first.csrf_token();
        assert_eq!(token.len(), 43);
        assert!(first.is_csrf_token(&token));
        assert!(!second.is_csrf_token(&token));
        let other_first = if token.starts_with('A') { "B" } else { "A" };
        let flipped = format!("{other_first}{}", token.get(1..).unwrap());
        for wrong in [
            "",
            first.expose(),
            token.get(1..).unwrap(),
            &flipped,
            &format!("{}=", *token),
        ] {
            assert!(!first.is_csrf_token(wrong), "{wrong:?}");
        }
    }
}
