//! Identifier of an authorization server.

use http::Uri;
use url::Url;

use super::{authority, is_loopback, is_uri_text, word};

/// Error for a text that is not an [`Issuer`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not an issuer: expected an https url without query and fragment")]
pub struct InvalidIssuer;

word! {
    /// Issuer identifier of an authorization server, [RFC 8414
    /// §2](https://www.rfc-editor.org/rfc/rfc8414#section-2): an `https` URL of at most 2048 bytes
    /// without query, fragment and user information. On a loopback address `http` is also accepted,
    /// for development and tests.
    ///
    /// # Security
    ///
    /// Issuers are compared byte for byte, as required by [RFC 9207
    /// §2.4](https://www.rfc-editor.org/rfc/rfc9207#section-2.4): a trailing slash, another letter
    /// case or an explicit default port makes another issuer.
    Issuer, InvalidIssuer, is_issuer
}

#[cfg(feature = "_signatures")]
impl Issuer {
    /// Returns the origin, and the path without trailing slashes. A well-known path is inserted
    /// between the two.
    pub(crate) fn origin_and_path(&self) -> (&str, &str) {
        let (scheme, behind_scheme) = self.as_str().split_once("://").unwrap_or_default();
        let path = behind_scheme.find('/').map(|at| scheme.len() + "://".len() + at);
        let halves = path.and_then(|at| self.as_str().split_at_checked(at));
        let (origin, path) = halves.unwrap_or((self.as_str(), ""));
        (origin, path.trim_end_matches('/'))
    }
}

fn is_issuer(text: &str) -> bool {
    if !is_uri_text(text) || text.contains(['?', '#', '@']) || text.len() > 2048 {
        return false;
    }
    let (scheme, rest) = text.split_once(':').unwrap_or_default();
    match (scheme, Url::parse(text)) {
        // `Url` accepts percent-encoded hosts, but `Uri` refuses them; no request can be sent to
        // them
        _ if authority(rest).is_empty() || text.parse::<Uri>().is_err() => false,
        ("https", Ok(url)) => url.has_host(),
        ("http", Ok(url)) => is_loopback(&url),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issuer_is_an_https_url_or_a_loopback_one() {
        for text in [
            "https://as.example",
            "https://as.example/tenant/",
            "http://127.0.0.1:8080",
            "http://[::1]:80/a",
        ] {
            assert_eq!(
                text.parse::<Issuer>().map(|issuer| issuer.to_string()).as_deref(),
                Ok(text)
            );
        }
    }

    #[test]
    fn everything_else_is_refused() {
        let refused = [
            "",
            "as.example",
            "https://",
            "https:///as.example",
            "https:as.example",
            "HTTPS://as.example",
            "http://as.example",
            "http://127.0.0.1.evil.com",
            "https://user@as.example",
            "https://as.example?x=y",
            "https://as.example#f",
            "https://as.example/a b",
            "https://as%2eexample",
            "https:\\\\as.example",
            "ftp://as.example",
        ];
        for text in refused {
            assert_eq!(text.parse::<Issuer>(), Err(InvalidIssuer), "{text}");
        }
    }

    #[test]
    fn a_slash_at_the_end_belongs_to_neither_half() {
        for (text, halves) in [
            ("https://as.example", ("https://as.example", "")),
            ("https://as.example/", ("https://as.example", "")),
            ("https://as.example:8443/a/b", ("https://as.example:8443", "/a/b")),
            ("http://[::1]:80/a/", ("http://[::1]:80", "/a")),
        ] {
            assert_eq!(text.parse::<Issuer>().unwrap().origin_and_path(), halves);
        }
    }

    #[test]
    fn issuers_are_never_normalised() {
        let issuer: Issuer = "https://as.example".parse().unwrap();
        for other in [
            "https://as.example/",
            "https://AS.example",
            "https://as.example:443",
        ] {
            assert_ne!(other.parse::<Issuer>().unwrap(), issuer);
        }
    }
}
