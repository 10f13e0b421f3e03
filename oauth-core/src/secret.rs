//! Secrets on the wire: client secrets, authorization codes, access and refresh tokens.
//!
//! A secret has no `Display` and no `PartialEq`. Its `Debug` output is `[redacted]`, and its memory
//! is overwritten with zeros on drop. Stores keep only its [`TokenHash`].
//!
//! ```
//! use oauth_core::secret::{RefreshToken, TokenHash};
//!
//! let token: RefreshToken = "rt_8xLOxBtZp8".parse()?;
//! assert_eq!(format!("{token:?}"), "RefreshToken([redacted])");
//! assert_eq!(token.hash(), TokenHash::new("rt_8xLOxBtZp8"));
//! # Ok::<(), oauth_core::secret::InvalidSecret>(())
//! ```

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::ports::Entropy;
use crate::random::{random_text, text_of};
use crate::vocabulary::serde_as_text;

/// Maximum length of a secret in bytes: enough for a JWT access token with many claims.
pub(crate) const MAX_LENGTH: usize = 16 * 1024;

/// Error for a secret that is empty, is longer than 16 KiB, or has characters outside `VSCHAR`
/// (printable ASCII and space).
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a secret: 1 to 16384 printable ASCII characters are allowed")]
pub struct InvalidSecret;

/// Error for a token hash that is not the base64url encoding of 32 bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a token hash: expected 43 base64url characters")]
pub struct InvalidTokenHash;

/// SHA-256 hash of a secret. Stores keep this hash and look tokens up by it.
///
/// The hash does not reveal secrets with at least 128 bits of entropy. It is not a password hash:
/// never use it for a secret that a user chose.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    /// Creates the hash of a secret.
    #[must_use]
    pub fn new(secret: &str) -> Self {
        Self(Sha256::digest(secret.as_bytes()).into())
    }

    /// Restores a hash from [`TokenHash::as_bytes`].
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the 32 bytes of the digest.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns `true` if the hashes are equal, compared in constant time.
    #[must_use]
    pub fn matches(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

/// Writes the digest as 43 base64url characters, for logs and text columns.
impl fmt::Display for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenHash({self})")
    }
}

impl FromStr for TokenHash {
    type Err = InvalidTokenHash;

    fn from_str(text: &str) -> Result<Self, InvalidTokenHash> {
        let mut bytes = [0; 32];
        match URL_SAFE_NO_PAD.decode_slice(text, &mut bytes) {
            Ok(32) => Ok(Self(bytes)),
            _ => Err(InvalidTokenHash),
        }
    }
}

serde_as_text!(TokenHash);

fn parse(text: &str) -> Result<Zeroizing<String>, InvalidSecret> {
    let allowed =
        (1..=MAX_LENGTH).contains(&text.len()) && text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if allowed {
        Ok(Zeroizing::new(text.to_owned()))
    } else {
        Err(InvalidSecret)
    }
}

macro_rules! secret {
    ($(#[$docs:meta])* $name:ident, $prefix:literal) => {
        $(#[$docs])*
        #[derive(Clone)]
        pub struct $name(Zeroizing<String>);

        impl $name {
            #[doc = concat!("Generates a secret of 256 random bits: `", $prefix, "` and 43 base64url characters.")]
            #[must_use]
            pub fn generate(entropy: &dyn Entropy) -> Self {
                // secret scanners recognise a leaked token by its prefix
                Self(random_text::<32>($prefix, entropy))
            }

            /// Returns the text of the secret. Send it only to its owner.
            #[must_use]
            pub fn expose(&self) -> &str {
                &self.0
            }

            /// Returns the hash that the store keeps.
            #[must_use]
            pub fn hash(&self) -> TokenHash {
                TokenHash::new(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = InvalidSecret;

            fn from_str(text: &str) -> Result<Self, InvalidSecret> {
                parse(text).map(Self)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($name), "([redacted])"))
            }
        }
    };
}

secret! {
    /// An authorization code, [RFC 6749
    /// §4.1.2](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2).
    AuthorizationCode, "ac_"
}
secret! {
    /// An access token, opaque or a JWT, [RFC 6749
    /// §1.4](https://www.rfc-editor.org/rfc/rfc6749#section-1.4).
    AccessToken, "at_"
}

impl AccessToken {
    /// Creates an access token from a JWT in compact serialization. Only the length is checked,
    /// because all characters of a JWT are allowed.
    #[cfg(feature = "_signatures")]
    pub(crate) fn from_compact(token: String) -> Result<Self, InvalidSecret> {
        if token.len() > MAX_LENGTH {
            return Err(InvalidSecret);
        }
        Ok(Self(Zeroizing::new(token)))
    }
}

secret! {
    /// A refresh token, [RFC 6749 §1.5](https://www.rfc-editor.org/rfc/rfc6749#section-1.5).
    RefreshToken, "rt_"
}
secret! {
    /// Password-reset token, sent to the user's address in a link; see
    /// [`Sessions::issue_reset`](crate::session::Sessions::issue_reset).
    PasswordResetToken, "pr_"
}
secret! {
    /// Secret of a confidential client, [RFC 6749
    /// §2.3.1](https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1).
    ///
    /// # Security
    ///
    /// A server stores only [`ClientSecret::hash`] and compares hashes with [`TokenHash::matches`].
    /// Generate the secret with [`ClientSecret::generate`]: SHA-256 is fast and does not protect a
    /// secret that a user chose.
    ClientSecret, "cs_"
}

impl AccessToken {
    /// Generates an opaque access token and the 128-bit identifier (`jti`) of its record, by one
    /// draw of 48 bytes.
    #[cfg(feature = "_signatures")]
    pub(crate) fn generate_with_id(entropy: &dyn Entropy) -> (Self, String) {
        let mut bits = Zeroizing::new([0_u8; 48]);
        entropy.fill(bits.as_mut_slice());
        let (token, id) = bits.split_at(32);
        (Self(text_of("at_", token)), text_of("", id).to_string())
    }

    /// Creates an opaque access token from 256 bits that the caller derived.
    pub(crate) fn from_bits(bits: &[u8; 32]) -> Self {
        Self(text_of("at_", bits.as_slice()))
    }
}

impl RefreshToken {
    /// Creates a refresh token from 256 bits that the caller derived.
    pub(crate) fn from_bits(bits: &[u8; 32]) -> Self {
        Self(text_of("rt_", bits.as_slice()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::entropy_fn;

    /// O14: an opaque token is a prefix followed by 256 random bits. Its hash is the SHA-256 of the
    /// text.
    #[test]
    fn a_generated_secret_carries_its_prefix_and_256_bits() {
        let token = AccessToken::generate(&entropy_fn(|bytes: &mut [u8]| bytes.fill(0xff)));
        assert_eq!(token.expose(), "at___________________________________________8");
        assert_eq!(token.expose().len(), 3 + 43);
        assert_eq!(token.hash(), TokenHash::new(token.expose()));
    }

    /// O14: the identifier of a token reveals nothing of the token.
    #[test]
    fn token_and_identifier_share_no_random_bits() {
        let count = entropy_fn(|bytes: &mut [u8]| (0..).zip(bytes).for_each(|(n, byte)| *byte = n));
        let (token, id) = AccessToken::generate_with_id(&count);
        let bits: [u8; 32] = std::array::from_fn(|n| u8::try_from(n).unwrap());
        assert_eq!(token.expose(), AccessToken::from_bits(&bits).expose());
        assert_eq!(URL_SAFE_NO_PAD.decode(id).unwrap(), (32..48).collect::<Vec<u8>>());
    }

    #[test]
    fn a_secret_never_prints() {
        let secret: ClientSecret = "demo-web-secret".parse().unwrap();
        assert_eq!(format!("{secret:?}"), "ClientSecret([redacted])");
    }

    #[test]
    fn only_printable_ascii_of_sane_length_is_a_secret() {
        for text in [
            "",
            "tab\there",
            "line\nfeed",
            "nul\0",
            "käse",
            &"a".repeat(MAX_LENGTH + 1),
        ] {
            assert!(text.parse::<RefreshToken>().is_err(), "{text:?}");
        }
        assert!("a b~!".parse::<RefreshToken>().is_ok());
        assert!("a".repeat(MAX_LENGTH).parse::<RefreshToken>().is_ok());
    }

    #[test]
    fn hashes_match_only_themselves() {
        let hash = TokenHash::new("a");
        assert!(hash.matches(&TokenHash::from_bytes(*hash.as_bytes())));
        assert!(!hash.matches(&TokenHash::new("b")));
        assert_eq!(hash.to_string(), "ypeBEsobvcr6wjGzmiPcTaeG7_gUfE5yuYB3ha_uSLs");
        assert_eq!(hash.to_string().parse(), Ok(hash));
        assert_eq!(
            "ypeBEsobvcr6wjGzmiPcTaeG7_gUfE5yuYB3ha_uSLt".parse::<TokenHash>(),
            Err(InvalidTokenHash)
        );
    }
}
