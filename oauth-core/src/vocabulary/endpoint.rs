//! Endpoint URLs.

use http::Uri;

use super::{Issuer, serde_as_text};

/// Error for a text that is not an [`Endpoint`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not an endpoint: expected an https url without fragment and user information")]
pub struct InvalidEndpoint;

/// URL of an endpoint: `https`, or `http` on a loopback address, without fragment and user
/// information. A query is allowed. The part before the query has at most 2048 bytes.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Endpoint(Uri);

// only code that sends requests uses these methods, and it needs a signature back end
#[cfg(feature = "_signatures")]
impl Endpoint {
    pub(crate) fn uri(&self) -> &Uri {
        &self.0
    }

    /// Returns the URL with `query` appended to its query. `query` must be form-encoded.
    pub(crate) fn with_query(&self, query: &str) -> String {
        let separator = if self.0.query().is_some() { '&' } else { '?' };
        format!("{}{separator}{query}", self.0)
    }
}

impl std::str::FromStr for Endpoint {
    type Err = InvalidEndpoint;

    fn from_str(text: &str) -> Result<Self, InvalidEndpoint> {
        // before its query an endpoint has the same form as an issuer
        let before_query = text.split('?').next().unwrap_or_default();
        before_query.parse::<Issuer>().map_err(|_| InvalidEndpoint)?;
        if text.contains('#') {
            return Err(InvalidEndpoint);
        }
        text.parse().map(Self).map_err(|_| InvalidEndpoint)
    }
}

serde_as_text!(Endpoint);

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_https_or_loopback() {
        for text in [
            "https://as.example/token",
            "http://127.0.0.1:8080/token",
            "https://as.example/a?x=y",
        ] {
            assert_eq!(text.parse::<Endpoint>().unwrap().to_string(), text);
        }
        let refused = [
            "",
            "/token",
            "http://as.example/token",
            "https://u@as.example/",
            "https://as.example/#f",
            "https://a/?\n",
        ];
        for text in refused {
            assert_eq!(text.parse::<Endpoint>(), Err(InvalidEndpoint), "{text}");
        }
    }
}
