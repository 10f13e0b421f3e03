use std::fmt;
use std::str::FromStr;

use url::Url;

use crate::vocabulary::{Endpoint, is_uri_text};

/// Maximum length of a URL in bytes.
const MAX_LENGTH: usize = 4096;

/// Error for a text that is not an absolute `http` or `https` URL, has user information, or is
/// longer than 4096 bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a request url: expected http or https without user information")]
pub struct InvalidHtu;

/// URL of a request without query and fragment: the `htu` claim of a DPoP proof, [RFC 9449
/// §4.2](https://www.rfc-editor.org/rfc/rfc9449#section-4.2).
///
/// The URL is normalised by [RFC 3986 §6.2.2](https://www.rfc-editor.org/rfc/rfc3986#section-6.2.2)
/// and §6.2.3, so that equivalent URLs are equal. The characters `"`, `[`, `]`, `^`, `{`, `|` and
/// `}` are equal to their percent-encoded forms.
///
/// ```
/// use oauth_core::dpop::Htu;
///
/// let htu: Htu = "HTTPS://API.example:443/v1/./charges%2D1?limit=2".parse()?;
/// assert_eq!(htu.to_string(), "https://api.example/v1/charges-1");
/// # Ok::<(), oauth_core::dpop::InvalidHtu>(())
/// ```
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Htu(String);

impl Htu {
    /// Returns the normalised URL.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the URL of `endpoint` without its query.
    #[expect(clippy::expect_used, reason = "what is an endpoint was checked for more")]
    pub(crate) fn of_endpoint(endpoint: &Endpoint) -> Self {
        let text = endpoint.to_string();
        let before_query = text.split('?').next().unwrap_or_default();
        before_query.parse().expect("an endpoint is a target of requests")
    }

    /// Returns the origin: scheme, host, and the port unless it is the default. Clients keep one
    /// nonce per origin.
    pub(crate) fn origin(&self) -> &str {
        let behind_scheme = self.0.find("://").map_or(0, |scheme| scheme + 3);
        let path = self.0.get(behind_scheme..).and_then(|rest| rest.find('/'));
        let end = path.map_or(self.0.len(), |path| behind_scheme + path);
        self.0.get(..end).unwrap_or(&self.0)
    }

    /// Returns `true` if requests to the URL are confidential: the scheme is `https`, or the host
    /// is a loopback address.
    pub(crate) fn keeps_secrets(&self) -> bool {
        let Some(authority) = self.origin().strip_prefix("http://") else {
            return true;
        };
        let port = authority.rfind(':').filter(|_| !authority.ends_with(']'));
        let host = authority.get(..port.unwrap_or(authority.len()));
        matches!(host, Some("127.0.0.1" | "[::1]" | "localhost"))
    }

    /// Returns this URL, the public base URL of a server, with `path` appended.
    ///
    /// # Errors
    ///
    /// [`InvalidHtu`] when `path` does not begin with a slash, has invalid characters, or has a
    /// segment `.` or `..`, raw or percent-encoded, which could lead out of the base URL.
    pub fn join(&self, path: &str) -> Result<Self, InvalidHtu> {
        if !path.starts_with('/') || path.split(['/', '?', '#']).any(is_dots) {
            return Err(InvalidHtu);
        }
        format!("{}{path}", self.0.trim_end_matches('/')).parse()
    }
}

impl FromStr for Htu {
    type Err = InvalidHtu;

    fn from_str(text: &str) -> Result<Self, InvalidHtu> {
        if text.len() > MAX_LENGTH {
            return Err(InvalidHtu);
        }
        let (scheme, behind_scheme) = text.split_once(':').ok_or(InvalidHtu)?;
        let behind_scheme = behind_scheme.strip_prefix("//").ok_or(InvalidHtu)?;
        let end = behind_scheme.find(['/', '?', '#']).unwrap_or(behind_scheme.len());
        let (authority, path) = behind_scheme.split_at(end);
        if authority.is_empty() || authority.contains('@') {
            return Err(InvalidHtu);
        }
        let text = format!("{scheme}://{authority}{}", encoded(path));
        // `Url::parse` repairs other text, and the parser of the peer may repair it differently
        if !is_uri_text(&text) {
            return Err(InvalidHtu);
        }
        let url = Url::parse(&text).map_err(|_| InvalidHtu)?;
        let host = url.host_str().ok_or(InvalidHtu)?;
        let scheme @ ("https" | "http") = url.scheme() else {
            return Err(InvalidHtu);
        };
        // `port` returns `None` for the default port of the scheme
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        Ok(Self(format!("{scheme}://{host}{port}{}", normal(url.path()))))
    }
}

impl fmt::Display for Htu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns `true` for the segments `.` and `..`, raw or percent-encoded.
fn is_dots(segment: &str) -> bool {
    let segment = segment.to_ascii_lowercase().replace("%2e", ".");
    segment == "." || segment == ".."
}

/// Percent-encodes the characters that browsers send unencoded and `http::Uri` accepts, although
/// RFC 3986 forbids them. The backslash stays, so that the caller refuses it: some parsers treat it
/// as a slash.
fn encoded(path: &str) -> String {
    let mut encoded = String::with_capacity(path.len());
    for character in path.chars() {
        match character {
            '"' | '[' | ']' | '^' | '{' | '|' | '}' => {
                encoded.push_str(&format!("%{:02X}", u32::from(character)));
            }
            _ => encoded.push(character),
        }
    }
    encoded
}

/// Normalises percent-encoding: unreserved characters are decoded, and other escapes get upper-case
/// digits.
fn normal(path: &str) -> String {
    let mut parts = path.split('%');
    let mut normal = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2).unwrap_or((part, ""));
        match u8::from_str_radix(digits, 16) {
            Ok(octet) if octet.is_ascii_alphanumeric() || b"-._~".contains(&octet) => {
                normal.push(char::from(octet));
            }
            _ => {
                normal.push('%');
                normal.push_str(&digits.to_ascii_uppercase());
            }
        }
        normal.push_str(rest);
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn endpoint_is_target_of_requests(
            text in "https?://(127\\.0\\.0\\.1|localhost|\\[::1\\]|[a-z.%:\\[\\]0-9-]{1,12})(:[0-9]{0,6})?(/[!-~]{0,12})?(\\?[!-~]{0,8})?",
        ) {
            if let Ok(endpoint) = text.parse::<Endpoint>() {
                prop_assert!(text.starts_with(Htu::of_endpoint(&endpoint).origin().get(..5).unwrap()));
            }
        }
    }

    fn htu(text: &str) -> Htu {
        text.parse().expect(text)
    }

    /// O20, DP9: equivalent URLs are equal.
    #[test]
    fn spellings_of_one_place_are_equal() {
        let place = htu("https://api.example/a/b~c");
        for text in [
            "https://api.example/a/b~c?x=y",
            "https://api.example/a/b~c?x=y#z",
            "https://api.example/a/b~c#/d",
            "HTTPS://API.EXAMPLE/a/b~c",
            "https://api.example:443/a/b~c",
            "https://api.example:/a/b~c",
            "https://api.example/a/b%7Ec",
            "https://api.example/a/b%7ec",
            "https://api.example/%61/b~c",
            "https://api.example/a/./x/../b~c",
            "https://api.example/a/%2e/b~c",
        ] {
            assert_eq!(htu(text), place, "{text}");
        }
        assert_eq!(htu("https://api.example"), htu("https://api.example/"));
        assert_eq!(htu("http://127.0.0.1:80/"), htu("http://127.0.0.1/"));
        assert_eq!(htu("https://api.example/a%3ab"), htu("https://api.example/a%3Ab"));
    }

    /// O20, DP9: characters that browsers send unencoded are equal to their encoded forms. In a
    /// query they have no effect.
    #[test]
    fn path_may_have_characters_that_browsers_send() {
        for (raw, encoded) in [
            ("|", "%7C"),
            ("\"", "%22"),
            ("{", "%7B"),
            ("}", "%7d"),
            ("^", "%5E"),
            ("[", "%5b"),
            ("]", "%5D"),
        ] {
            let spellings = [raw, encoded].map(|x| format!("https://a.example/x{x}y/{x}"));
            assert_eq!(htu(&spellings[0]), htu(&spellings[1]));
            assert_ne!(htu(&spellings[0]), htu("https://a.example/xy/"));
            assert_eq!(
                htu(&format!("https://a.example/b?{raw}")),
                htu("https://a.example/b")
            );
            let uri: http::Uri = spellings[0].parse().unwrap();
            let base = htu("https://a.example");
            assert_eq!(base.join(uri.path()).unwrap(), htu(&spellings[1]));
            // a host must not contain the character
            let host = format!("https://a{raw}b.example/").parse::<Htu>();
            assert_eq!(host, Err(InvalidHtu), "{raw}");
        }
        assert_eq!(
            htu("https://a/x|y").as_str(),
            "https://a/x%7Cy",
            "spelt as in RFC 3986"
        );
        for text in [
            "https://a/x\\y",
            "https://a/x<y",
            "https://a/x>y",
            "https://a/x`y",
        ] {
            assert_eq!(text.parse::<Htu>(), Err(InvalidHtu), "{text}");
        }
    }

    /// O20, 96: an origin is scheme, host and port; secrets are sent only over TLS or to a loopback
    /// address.
    #[test]
    fn a_target_is_on_a_server() {
        for (text, origin, keeps_secrets) in [
            ("https://API.example:443/a?b", "https://api.example", true),
            ("https://api.example:8443", "https://api.example:8443", true),
            ("http://api.example/a", "http://api.example", false),
            ("http://127.0.0.1:8080/a", "http://127.0.0.1:8080", true),
            ("http://[::1]/a", "http://[::1]", true),
            ("http://[::1]:8080/a", "http://[::1]:8080", true),
            ("http://localhost/a", "http://localhost", true),
            ("http://127.0.0.1.evil.com/a", "http://127.0.0.1.evil.com", false),
            ("http://[::2]/a", "http://[::2]", false),
        ] {
            let htu = htu(text);
            assert_eq!((htu.origin(), htu.keeps_secrets()), (origin, keeps_secrets));
        }
    }

    /// O20, DP9: URLs that are not equivalent are not equal.
    #[test]
    fn other_places_differ() {
        let place = htu("https://api.example/a/b~c");
        for text in [
            "http://api.example/a/b~c",
            "https://api.example:8443/a/b~c",
            "https://api.example:80/a/b~c",
            "https://api.example.evil.com/a/b~c",
            "https://evil.com/api.example/a/b~c",
            "https://api.example/A/b~c",
            "https://api.example/a/b~c/",
            "https://api.example/a//b~c",
            "https://api.example/a%2Fb~c",
            "https://api.example/a/b~c%3F",
            "https://api.example/a/b",
            "https://api.example/",
        ] {
            assert_ne!(htu(text), place, "{text}");
        }
    }

    /// O20, DP9: ambiguous URLs are refused.
    #[test]
    fn rejects_ambiguous_targets() {
        for text in [
            "",
            "/a",
            "//api.example/a",
            "api.example/a",
            "https:api.example/a",
            "https:/api.example/a",
            "https:///api.example/a",
            "https://",
            "https://ada@api.example/a",
            "https://api.example@evil.com/a",
            "https:\\\\api.example\\a",
            "https://api.example/a b",
            "https://api.example/a%2",
            "https://api.example/\u{e4}",
            "\thttps://api.example/a",
            "https://api.example/a\n",
            "ftp://api.example/a",
            "javascript:alert(1)",
            "https://api.example:99999/a",
        ] {
            assert_eq!(text.parse::<Htu>(), Err(InvalidHtu), "{text:?}");
        }
        assert!(format!("https://a/{}", "a".repeat(4096)).parse::<Htu>().is_err());
    }

    /// O20, DP9: a joined URL stays below its base URL, for any path.
    #[test]
    fn a_path_stays_below_its_server() {
        for base in ["https://api.example", "https://api.example/"] {
            let base = htu(base);
            assert_eq!(base.join("/v1").unwrap(), htu("https://api.example/v1"));
            assert_eq!(
                base.join("//evil.com/v1").unwrap(),
                htu("https://api.example//evil.com/v1")
            );
            for path in ["", "*", "v1", "@evil.com/", ".evil.com/", ":1/", "/a b"] {
                assert!(base.join(path).is_err(), "{path:?}");
            }
        }
        let tenant = htu("https://api.example/tenant/");
        assert_eq!(tenant.join("/v1").unwrap(), htu("https://api.example/tenant/v1"));
        for path in ["/.v1", "/v1..", "/...", "/%2e%2e%2e", "/a.b/c"] {
            let joined = tenant.join(path).expect(path);
            assert!(
                joined.as_str().starts_with("https://api.example/tenant/"),
                "{joined}"
            );
        }
        for dots in [".", "..", "%2e", "%2E", "%2e%2E", ".%2e", "%2E."] {
            for path in [
                format!("/{dots}"),
                format!("/{dots}/"),
                format!("/{dots}/v1"),
                format!("/v1/{dots}/{dots}/other"),
                format!("//{dots}/v1"),
                format!("/{dots}?a=b"),
                format!("/{dots}#a"),
            ] {
                assert_eq!(tenant.join(&path), Err(InvalidHtu), "{path:?}");
            }
        }
    }
}
