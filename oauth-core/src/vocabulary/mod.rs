//! Types for the terms of OAuth: client identifiers, issuers, redirect URIs, scopes. Parsing
//! validates them.
//!
//! Values are cheap to clone. Texts are compared, ordered and hashed by their bytes, without
//! normalisation.
//!
//! ```
//! use oauth_core::vocabulary::{ClientId, Scopes};
//!
//! let client: ClientId = "demo-web".parse()?;
//! assert_eq!(client.as_str(), "demo-web");
//! let scopes: Scopes = "read:charges write:charges".parse()?;
//! assert!(scopes.contains_str("read:charges") && !scopes.contains_str("read"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod access_token_terms;
mod claims;
mod confirmation;
mod endpoint;
mod issuer;
mod redirect_uri;
mod response_mode;
mod words;

pub use access_token_terms::AccessTokenTerms;
pub use claims::{Claims, ReservedClaim};
pub use confirmation::{Confirmation, InvalidThumbprint, Thumbprint};
pub use endpoint::{Endpoint, InvalidEndpoint};
pub use host_ports::{InvalidScope, Scope, Scopes};
pub use issuer::{InvalidIssuer, Issuer};
pub use redirect_uri::{
    InvalidRedirectUri, LocalhostRedirectUri, LoopbackRedirectUri, RedirectUri, RegisteredRedirectUri,
};
pub use response_mode::ResponseMode;
pub use words::{
    Audience, ClientId, InvalidAudience, InvalidClientId, InvalidNonce, InvalidState, InvalidSubject, Nonce,
    State, Subject,
};

/// Scope that requests an ID token, [OpenID Connect Core section
/// 3.1.2.1](https://openid.net/specs/openid-connect-core-1_0.html#AuthRequest).
pub(crate) const OPENID: &str = "openid";

/// Defines a text type and its parser, which fails with `$error` unless `$grammar`, a `fn(&str) ->
/// bool`, returns `true`.
macro_rules! word {
    ($(#[$docs:meta])* $name:ident, $error:ident, $grammar:expr) => {
        $(#[$docs])*
        #[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub struct $name(std::sync::Arc<str>);

        impl $name {
            /// Returns the text as it was parsed.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = $error;

            fn from_str(text: &str) -> Result<Self, $error> {
                let grammar: fn(&str) -> bool = $grammar;
                if grammar(text) { Ok(Self(text.into())) } else { Err($error) }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        crate::vocabulary::serde_as_text!($name);
    };
}
use word;

/// Implements serde traits for a type: it is serialized with `Display`, and parsed with `FromStr`.
macro_rules! serde_as_text {
    ($name:ty) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use serde_as_text;

/// Returns `true` for `1*VSCHAR` (printable ASCII and space) of at most `longest` bytes, [RFC 6749
/// appendix A](https://www.rfc-editor.org/rfc/rfc6749#appendix-A).
fn is_vschar(text: &str, longest: usize) -> bool {
    (1..=longest).contains(&text.len()) && text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Returns `true` if the host of `url` is `127.0.0.1`, `[::1]` or `localhost`.
fn is_loopback(url: &url::Url) -> bool {
    matches!(url.host_str(), Some("127.0.0.1" | "[::1]" | "localhost"))
}

/// Returns the authority of a URL, given the text after the scheme and colon. The authority is
/// empty if the text does not begin with `//`.
///
/// The URL parser also accepts `https:host` and `https:///host`, so it cannot be used to check that
/// a URL has a host.
fn authority(after_scheme: &str) -> &str {
    let rest = after_scheme.strip_prefix("//").unwrap_or_default();
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

/// Returns `true` if the text has only characters of RFC 3986, and each percent sign has two
/// hexadecimal digits.
///
/// The URL parser repairs other characters, such as backslashes, tabs and spaces, so that two texts
/// could stand for one URL. Refusing such texts makes comparison by bytes reliable.
pub(crate) fn is_uri_text(text: &str) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let allowed = match byte {
            b'%' => {
                [bytes.next(), bytes.next()]
                    .iter()
                    .flatten()
                    .filter(|b| b.is_ascii_hexdigit())
                    .count()
                    == 2
            }
            _ => byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=".contains(&byte),
        };
        if !allowed {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_take_printable_ascii_and_nothing_else() {
        for text in ["", "a\tb", "a\r\nb", "a\0", "\u{e9}", "\u{7f}"] {
            assert!(text.parse::<ClientId>().is_err(), "{text:?}");
            assert!(text.parse::<State>().is_err(), "{text:?}");
        }
        assert_eq!("demo web".parse::<ClientId>().unwrap().as_str(), "demo web");
    }

    /// 25: texts of the maximum length are accepted, and longer texts are refused.
    #[test]
    fn words_have_a_longest_length() {
        assert!("s".repeat(2048).parse::<State>().is_ok());
        assert!("s".repeat(2049).parse::<State>().is_err());
        assert!("n".repeat(384).parse::<Nonce>().is_ok());
        assert!("n".repeat(513).parse::<Nonce>().is_err());
        assert!("u".repeat(256).parse::<Subject>().is_err());
    }

    #[test]
    fn a_word_is_parsed_again_when_it_is_read_back() {
        let client: ClientId = serde_json::from_str(r#""demo\u002dweb""#).unwrap();
        assert_eq!(serde_json::to_string(&client).unwrap(), r#""demo-web""#);
        assert!(serde_json::from_str::<ClientId>(r#""""#).is_err());
        assert!(serde_json::from_str::<Scopes>(r#""a  b""#).is_err());
        let check = |scopes: &Scopes, text: &str| {
            assert_eq!(serde_json::to_string(scopes).unwrap(), text);
            assert_eq!(serde_json::from_str::<Scopes>(text).unwrap(), *scopes);
        };
        check(&Scopes::default(), r#""""#);
        check(&"b a".parse().unwrap(), r#""a b""#);
    }

    #[test]
    fn uri_text_has_only_characters_of_rfc_3986() {
        assert!(is_uri_text("https://a.example/%7Ex?y=z"));
        for text in ["a b", "a\\b", "a%2", "a%zz", "a\u{e9}", "a\"b", "a<b", "a\nb"] {
            assert!(!is_uri_text(text), "{text:?}");
        }
    }
}
