//! Binding of a token to a key or certificate of its sender: the `cnf` claim.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use super::serde_as_text;

/// Error for a text that is not a [`Thumbprint`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a thumbprint: expected 43 base64url characters")]
pub struct InvalidThumbprint;

/// SHA-256 thumbprint of a public key, [RFC 7638](https://www.rfc-editor.org/rfc/rfc7638), or of a
/// certificate, [RFC 8705 §3.1](https://www.rfc-editor.org/rfc/rfc8705#section-3.1); sent as 43
/// base64url characters. Not a secret.
///
/// ```
/// use oauth_core::vocabulary::Thumbprint;
///
/// let jkt: Thumbprint = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I".parse()?;
/// assert_eq!(jkt.to_string(), "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I");
/// assert!("0ZcOCORZNYy".parse::<Thumbprint>().is_err());
/// # Ok::<(), oauth_core::vocabulary::InvalidThumbprint>(())
/// ```
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Thumbprint([u8; 32]);

impl Thumbprint {
    /// Creates a thumbprint from the 32 bytes of the digest.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the 32 bytes of the digest.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Thumbprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl fmt::Debug for Thumbprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Thumbprint({self})")
    }
}

impl FromStr for Thumbprint {
    type Err = InvalidThumbprint;

    fn from_str(text: &str) -> Result<Self, InvalidThumbprint> {
        let mut bytes = [0; 32];
        match URL_SAFE_NO_PAD.decode_slice(text, &mut bytes) {
            Ok(32) => Ok(Self(bytes)),
            _ => Err(InvalidThumbprint),
        }
    }
}

serde_as_text!(Thumbprint);

/// Binding of a token to its sender, [RFC 7800
/// §3.1](https://www.rfc-editor.org/rfc/rfc7800#section-3.1), serialized as the object of `cnf`.
///
/// Deserialization fails for a `cnf` with an unknown method or with several methods, because this
/// crate cannot check them.
///
/// ```
/// use oauth_core::vocabulary::Confirmation;
///
/// let text = r#"{"jkt":"0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"}"#;
/// let confirmation: Confirmation = serde_json::from_str(text)?;
/// assert_eq!(confirmation.token_type(), "DPoP");
/// assert_eq!(serde_json::to_string(&confirmation)?, text);
/// assert!(serde_json::from_str::<Confirmation>(r#"{"kid":"1"}"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(try_from = "Methods", into = "Methods")]
#[non_exhaustive]
pub enum Confirmation {
    /// `jkt`: a key with this thumbprint, proven by DPoP, [RFC 9449
    /// §6.1](https://www.rfc-editor.org/rfc/rfc9449#section-6.1).
    Jkt(Thumbprint),
    /// `x5t#S256`: a certificate with this thumbprint, proven by mutual TLS, [RFC 8705
    /// §3.1](https://www.rfc-editor.org/rfc/rfc8705#section-3.1).
    Certificate(Thumbprint),
}

impl Confirmation {
    /// Returns the `token_type` of an access token with this binding.
    #[must_use]
    pub const fn token_type(self) -> &'static str {
        match self {
            Self::Jkt(_) => "DPoP",
            Self::Certificate(_) => "Bearer",
        }
    }
}

/// `cnf` on the wire.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Methods {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    jkt: Option<Thumbprint>,
    #[serde(rename = "x5t#S256", default, skip_serializing_if = "Option::is_none")]
    certificate: Option<Thumbprint>,
}

impl TryFrom<Methods> for Confirmation {
    type Error = &'static str;

    fn try_from(methods: Methods) -> Result<Self, &'static str> {
        match (methods.jkt, methods.certificate) {
            (Some(jkt), None) => Ok(Self::Jkt(jkt)),
            (None, Some(certificate)) => Ok(Self::Certificate(certificate)),
            _ => Err("not one method of confirmation"),
        }
    }
}

impl From<Confirmation> for Methods {
    fn from(confirmation: Confirmation) -> Self {
        let none = Self {
            jkt: None,
            certificate: None,
        };
        match confirmation {
            Confirmation::Jkt(jkt) => Self {
                jkt: Some(jkt),
                ..none
            },
            Confirmation::Certificate(certificate) => Self {
                certificate: Some(certificate),
                ..none
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I";

    /// O20, DP12: a `cnf` must have exactly one known method.
    #[test]
    fn rejects_unsupported_confirmation() {
        let parse = |text: &str| serde_json::from_str::<Confirmation>(text).ok();
        let thumbprint = A.parse().unwrap();
        assert_eq!(
            parse(&format!(r#"{{"jkt":"{A}"}}"#)),
            Some(Confirmation::Jkt(thumbprint))
        );
        let certificate = format!(r#"{{"x5t#S256":"{A}"}}"#);
        assert_eq!(parse(&certificate), Some(Confirmation::Certificate(thumbprint)));
        assert_eq!(
            serde_json::to_string(&Confirmation::Certificate(thumbprint)).unwrap(),
            certificate
        );
        let refused = [
            "{}".to_owned(),
            "null".to_owned(),
            r#"{"jkt":null}"#.to_owned(),
            r#"{"jkt":"0ZcO"}"#.to_owned(),
            format!(r#"{{"jkt":"{A}="}}"#),
            // 43 characters, the last of which has a trailing bit that is not zero
            format!(r#"{{"jkt":"{}J"}}"#, A.strip_suffix("I").unwrap()),
            format!(r#"{{"jkt":"{A}","x5t#S256":"{A}"}}"#),
            format!(r#"{{"jkt":"{A}","kid":"1"}}"#),
            format!(r#"{{"jku":"{A}"}}"#),
        ];
        for text in refused {
            assert_eq!(parse(&text), None, "{text}");
        }
    }
}
