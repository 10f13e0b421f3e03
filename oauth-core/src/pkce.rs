//! Proof Key for Code Exchange, [RFC 7636](https://www.rfc-editor.org/rfc/rfc7636).
//!
//! The client keeps a [`CodeVerifier`] and sends its [`CodeChallenge`] in the authorization
//! request. Only a client that has the verifier can redeem the code. Only the method `S256` is
//! supported: with `plain` the challenge is the verifier itself, so an attacker who reads the
//! authorization request could redeem the code.
//!
//! ```
//! use oauth_core::pkce::{CodeChallenge, CodeVerifier};
//!
//! let verifier: CodeVerifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk".parse()?;
//! let challenge: CodeChallenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM".parse()?;
//! assert!(challenge.matches(&verifier));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This module is available without any Cargo feature.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::ports::Entropy;
use crate::random::random_text;
use crate::vocabulary::serde_as_text;

/// The only supported `code_challenge_method`, [RFC 7636
/// §4.2](https://www.rfc-editor.org/rfc/rfc7636#section-4.2).
pub const METHOD: &str = "S256";

/// Error for a code verifier that is not 43 to 128 unreserved characters.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a code verifier: expected 43 to 128 unreserved characters")]
pub struct InvalidCodeVerifier;

/// Error for a code challenge that is not the canonical base64url encoding of 32 bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not an S256 code challenge: expected 43 base64url characters")]
pub struct InvalidCodeChallenge;

/// Code verifier: the client's secret for one authorization request, [RFC 7636
/// §4.1](https://www.rfc-editor.org/rfc/rfc7636#section-4.1).
///
/// # ABNF
///
/// ```text
/// code-verifier = 43*128unreserved
/// unreserved    = ALPHA / DIGIT / "-" / "." / "_" / "~"
/// ```
#[derive(Clone)]
pub struct CodeVerifier(Zeroizing<String>);

impl CodeVerifier {
    /// Generates a verifier of 256 random bits, as recommended by [RFC 7636
    /// §7.1](https://www.rfc-editor.org/rfc/rfc7636#section-7.1).
    #[must_use]
    pub fn generate(entropy: &dyn Entropy) -> Self {
        Self(random_text::<32>("", entropy))
    }

    /// Returns the challenge for the authorization request:
    /// `BASE64URL(SHA256(ASCII(code_verifier)))`.
    #[must_use]
    pub fn challenge(&self) -> CodeChallenge {
        CodeChallenge(Sha256::digest(self.0.as_bytes()).into())
    }

    /// Returns the text of the verifier, for the token request.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl FromStr for CodeVerifier {
    type Err = InvalidCodeVerifier;

    fn from_str(text: &str) -> Result<Self, InvalidCodeVerifier> {
        let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if (43..=128).contains(&text.len()) && text.bytes().all(unreserved) {
            Ok(Self(Zeroizing::new(text.to_owned())))
        } else {
            Err(InvalidCodeVerifier)
        }
    }
}

impl fmt::Debug for CodeVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CodeVerifier([redacted])")
    }
}

/// Code challenge: the SHA-256 hash of the code verifier, sent in the authorization request, [RFC
/// 7636 §4.2](https://www.rfc-editor.org/rfc/rfc7636#section-4.2).
///
/// The text must be the canonical base64url of a SHA-256 digest, 43 characters. The grammar of the
/// RFC also allows longer challenges, of up to 128 characters, which `S256` never produces.
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
pub struct CodeChallenge([u8; 32]);

impl CodeChallenge {
    /// Returns `true` if `verifier` matches this challenge, compared in constant time ([RFC 7636
    /// §4.6](https://www.rfc-editor.org/rfc/rfc7636#section-4.6)).
    #[must_use]
    pub fn matches(&self, verifier: &CodeVerifier) -> bool {
        self.0.ct_eq(&verifier.challenge().0).into()
    }

    /// Returns the 32 bytes of the digest, for the store.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Restores a challenge from [`CodeChallenge::as_bytes`].
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl FromStr for CodeChallenge {
    type Err = InvalidCodeChallenge;

    fn from_str(text: &str) -> Result<Self, InvalidCodeChallenge> {
        let mut bytes = [0; 32];
        // the decoder refuses padding, other characters and trailing bits that are not zero
        match URL_SAFE_NO_PAD.decode_slice(text, &mut bytes) {
            Ok(32) => Ok(Self(bytes)),
            _ => Err(InvalidCodeChallenge),
        }
    }
}

impl fmt::Display for CodeChallenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

serde_as_text!(CodeChallenge);

impl fmt::Debug for CodeChallenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CodeChallenge({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::entropy_fn;
    use proptest::prelude::*;

    /// O7, 21, 37: the vector of RFC 7636 appendix B, from octets to challenge.
    #[test]
    fn the_vector_of_rfc_7636_appendix_b_holds() {
        let octets = [
            116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186, 22, 212, 37, 77, 105,
            214, 191, 240, 91, 88, 5, 88, 83, 132, 141, 121,
        ];
        let verifier = CodeVerifier::generate(&entropy_fn(move |bytes: &mut [u8]| {
            bytes.copy_from_slice(&octets);
        }));
        assert_eq!(verifier.expose(), "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        assert_eq!(
            verifier.challenge().to_string(),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        );
    }

    /// O7, 36: a verifier outside the grammar of RFC 7636 is refused.
    #[test]
    fn a_verifier_is_43_to_128_unreserved_characters() {
        for length in [43, 44, 127, 128] {
            assert!("a".repeat(length).parse::<CodeVerifier>().is_ok(), "{length}");
        }
        for length in [0, 1, 42, 129, 1000] {
            assert!("a".repeat(length).parse::<CodeVerifier>().is_err(), "{length}");
        }
        for foreign in ["+", "/", "=", " ", "%", "\0", "\n", "\u{e9}"] {
            assert!(
                format!("{}{foreign}", "a".repeat(43))
                    .parse::<CodeVerifier>()
                    .is_err(),
                "{foreign:?}"
            );
        }
        assert!("-._~".repeat(11).parse::<CodeVerifier>().is_ok());
    }

    /// O2, 21: an S256 challenge has exactly one accepted text form.
    #[test]
    fn a_challenge_is_43_canonical_base64url_characters() {
        let canonical = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
        assert_eq!(canonical.parse::<CodeChallenge>().unwrap().to_string(), canonical);
        let refused = [
            "",
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-c",
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cN",
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM=",
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw+cM",
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cMA",
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-c\n",
        ];
        for text in refused {
            assert!(text.parse::<CodeChallenge>().is_err(), "{text:?}");
        }
        assert!("a".repeat(100_000).parse::<CodeChallenge>().is_err());
    }

    /// O7, 38: the text of a challenge is not accepted as its verifier; the method `plain` would
    /// accept it.
    #[test]
    fn the_challenge_is_not_its_own_verifier() {
        let challenge: CodeChallenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM".parse().unwrap();
        assert!(!challenge.matches(&challenge.to_string().parse().unwrap()));
    }

    #[test]
    fn a_verifier_never_prints() {
        let verifier = CodeVerifier::generate(&entropy_fn(|bytes: &mut [u8]| bytes.fill(1)));
        assert_eq!(format!("{verifier:?}"), "CodeVerifier([redacted])");
    }

    proptest! {
        /// O7, 37: a challenge matches its own verifier and no other.
        #[test]
        fn a_verifier_matches_its_own_challenge_only(a in "[a-zA-Z0-9._~-]{43,128}", b in "[a-zA-Z0-9._~-]{43,128}") {
            let (first, second): (CodeVerifier, CodeVerifier) = (a.parse().unwrap(), b.parse().unwrap());
            prop_assert!(first.challenge().matches(&first));
            prop_assert_eq!(first.challenge().matches(&second), a == b);
        }

        #[test]
        fn any_text_parses_or_fails_without_panic(text in ".*") {
            drop((text.parse::<CodeVerifier>(), text.parse::<CodeChallenge>()));
        }
    }
}
