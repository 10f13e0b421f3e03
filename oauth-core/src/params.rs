//! Parameters of queries and forms as pairs, so that repeated parameters are detected.
//!
//! A map would keep only one value of a repeated parameter. If two parsers keep different values,
//! an attacker can get one value checked and the other value used. Therefore [RFC 6749
//! §3.1](https://www.rfc-editor.org/rfc/rfc6749#section-3.1) forbids repetition. The same section
//! says that a parameter without a value counts as absent.
//!
//! ```
//! use oauth_core::params::Params;
//!
//! let params = Params::parse(b"scope=read%3Acharges+write%3Acharges&state=&code=x&code=y")?;
//! assert_eq!(params.optional("scope"), Some("read:charges write:charges"));
//! assert_eq!(params.optional("state"), None);
//! assert_eq!(params.first_repeated(&["resource"]), Some("code"));
//! # Ok::<(), oauth_core::params::InvalidParams>(())
//! ```

use std::fmt;

use host_ports::ContentType;
use http::HeaderMap;
use zeroize::Zeroize;

/// Maximum number of pairs in a query or form.
const MAX_PAIRS: usize = 100;

/// Error for a text that is not `application/x-www-form-urlencoded` in UTF-8, or has more than 100
/// pairs.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("malformed parameters: not a form in utf-8, or more than 100 pairs")]
pub struct InvalidParams;

/// Parameters of a query or a form body, in their original order.
///
/// `Debug` shows only names, because values are codes, tokens and passwords. The memory of values
/// is overwritten with zeros on drop.
pub struct Params {
    pairs: Vec<(String, String)>,
}

impl Params {
    /// Parses a query (without `?`) or a form body.
    ///
    /// # Errors
    ///
    /// [`InvalidParams`] for a percent sign without two hexadecimal digits, for bytes that are not
    /// UTF-8, and for more than 100 pairs.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidParams> {
        let mut params = Self { pairs: Vec::new() };
        for pair in text.split(|&byte| byte == b'&').filter(|pair| !pair.is_empty()) {
            if params.pairs.len() == MAX_PAIRS {
                return Err(InvalidParams);
            }
            let mut halves = pair.splitn(2, |&byte| byte == b'=');
            let name = decode(halves.next().unwrap_or_default())?;
            let value = decode(halves.next().unwrap_or_default())?;
            params.pairs.push((name, value));
        }
        Ok(params)
    }

    /// Returns the first repeated parameter name that is not in `except`.
    ///
    /// Parameters that the caller does not know count too, because another parser may use them.
    #[must_use]
    pub fn first_repeated(&self, except: &[&str]) -> Option<&str> {
        let mut names = self.pairs.iter().map(|(name, _)| name.as_str()).enumerate();
        names
            .find(|(index, name)| {
                !except.contains(name) && self.pairs.iter().take(*index).any(|(earlier, _)| earlier == name)
            })
            .map(|(_, name)| name)
    }

    /// Returns the value of a parameter; `None` if it is missing or empty.
    ///
    /// If the parameter is repeated, this method returns the first value that is not empty. To
    /// refuse repeated parameters, call [`Params::first_repeated`] first.
    #[must_use]
    pub fn optional(&self, name: &str) -> Option<&str> {
        self.pairs
            .iter()
            .find(|(candidate, value)| candidate == name && !value.is_empty())
            .map(|(_, value)| value.as_str())
    }

    /// Returns all values of `name` that are not empty, for parameters that may be repeated.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.pairs
            .iter()
            .filter(move |(candidate, value)| candidate == name && !value.is_empty())
            .map(|(_, value)| value.as_str())
    }
}

impl Drop for Params {
    fn drop(&mut self) {
        for (_, value) in &mut self.pairs {
            value.zeroize();
        }
    }
}

impl fmt::Debug for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Params")?;
        f.debug_set()
            .entries(self.pairs.iter().map(|(name, _)| name))
            .finish()
    }
}

/// Encodes pairs as a query or form body, [RFC 6749 appendix
/// B](https://www.rfc-editor.org/rfc/rfc6749#appendix-B).
#[must_use]
pub fn encode<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    form_urlencoded::Serializer::new(String::new())
        .extend_pairs(pairs)
        .finish()
}

/// Returns `true` if `Content-Type` is `application/x-www-form-urlencoded`, without a `charset` or
/// with the `charset` UTF-8.
#[must_use]
pub fn is_form(headers: &HeaderMap) -> bool {
    ContentType::from_headers(headers)
        .is_some_and(|sent| sent.is("application/x-www-form-urlencoded") && sent.is_utf8())
}

/// Decodes a form-encoded name or value. It refuses `%zz` and invalid UTF-8, which lenient decoders
/// accept.
pub(crate) fn decode(text: &[u8]) -> Result<String, InvalidParams> {
    if !text.iter().any(|byte| matches!(byte, b'+' | b'%')) {
        return str::from_utf8(text).map(str::to_owned).map_err(|_| InvalidParams);
    }
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'+' => b' ',
            b'%' => hex(bytes.next())? << 4 | hex(bytes.next())?,
            other => other,
        });
    }
    String::from_utf8(decoded).map_err(|_| InvalidParams)
}

fn hex(digit: Option<u8>) -> Result<u8, InvalidParams> {
    match digit {
        Some(byte @ b'0'..=b'9') => Ok(byte - b'0'),
        Some(byte @ b'a'..=b'f') => Ok(byte - b'a' + 10),
        Some(byte @ b'A'..=b'F') => Ok(byte - b'A' + 10),
        _ => Err(InvalidParams),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;
    use http::header::CONTENT_TYPE;
    use proptest::prelude::*;

    /// O2: repeated parameters are found, even if they are unknown or one value is empty.
    #[test]
    fn a_repeated_parameter_is_seen() {
        let check = |text: &[u8], expected: Option<&str>| {
            let params = Params::parse(text).unwrap();
            assert_eq!(
                params.first_repeated(&["resource"]),
                expected,
                "{}",
                String::from_utf8_lossy(text)
            );
        };
        check(b"client_id=a&client_id=b", Some("client_id"));
        check(b"client_id=a&client_id=a", Some("client_id"));
        check(b"state=&state=x", Some("state"));
        check(b"unknown=1&x=2&unknown=3", Some("unknown"));
        check(b"state=x&st%61te=y", Some("state"));
        check(b"resource=a&resource=b", None);
        check(b"client_id=a&Client_id=b", None);
        check(b"", None);
    }

    /// 2: a parameter with an empty value (`name=`) counts as absent, [RFC 6749
    /// §3.1](https://www.rfc-editor.org/rfc/rfc6749#section-3.1).
    #[test]
    fn an_empty_value_is_absent() {
        let params = Params::parse(b"a=&b&c=1&&d=%20").unwrap();
        assert_eq!(params.optional("a"), None);
        assert_eq!(params.optional("b"), None);
        assert_eq!(params.optional("c"), Some("1"));
        assert_eq!(params.optional("d"), Some(" "));
    }

    /// RFC 6749 appendix B.
    #[test]
    fn vector_of_appendix_b_holds_both_ways() {
        assert_eq!(encode([("", " %&+\u{a3}\u{20ac}")]), "=+%25%26%2B%C2%A3%E2%82%AC");
        assert_eq!(
            decode(b"+%25%26%2B%C2%A3%E2%82%AC").as_deref(),
            Ok(" %&+\u{a3}\u{20ac}")
        );
    }

    #[test]
    fn what_cannot_be_decoded_is_refused() {
        for text in [&b"a=%"[..], b"a=%2", b"a=%zz", b"%=1", b"a=%ff", b"a=\xff"] {
            assert!(Params::parse(text).is_err());
        }
        assert!(Params::parse("a=1&".repeat(100).as_bytes()).is_ok());
        assert!(Params::parse("a=1&".repeat(101).as_bytes()).is_err());
    }

    #[test]
    fn values_never_print() {
        let params = Params::parse(b"client_secret=hunter2").unwrap();
        assert_eq!(format!("{params:?}"), r#"Params{"client_secret"}"#);
    }

    #[test]
    fn only_a_form_in_utf_8_is_a_form() {
        let check = |value: &'static str, expected| {
            let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(value))]);
            assert_eq!(is_form(&headers), expected, "{value}");
        };
        check("application/x-www-form-urlencoded", true);
        check("Application/X-WWW-Form-URLEncoded; charset=UTF-8", true);
        check("application/x-www-form-urlencoded;charset=\"utf-8\"", true);
        check("application/x-www-form-urlencoded; charset=latin1", false);
        check("application/x-www-form-urlencoded2", false);
        check("application/json", false);
        assert!(!is_form(&HeaderMap::new()));
    }

    proptest! {
        #[test]
        fn pairs_round_trip(pairs in prop::collection::vec(("\\PC+", "\\PC+"), 0..8)) {
            let text = encode(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())));
            prop_assert_eq!(&Params::parse(text.as_bytes()).unwrap().pairs, &pairs);
        }

        #[test]
        fn any_bytes_parse_or_fail_without_panic(bytes: Vec<u8>) {
            drop(Params::parse(&bytes));
        }
    }
}
