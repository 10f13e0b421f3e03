//! A URL that passed the policy.

use std::{fmt, net::IpAddr};

use http::Uri;

/// A vetted URL, normalized and without fragment.
///
/// A `Target` does not stay valid: vet the URL again before every attempt, and vet the addresses to
/// which its name resolves.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Target {
    uri: Uri,
    text: String,
    host: Host,
    port: u16,
}

/// Host of a [`Target`]: a name to resolve, or an address.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Host {
    /// A name in lower case and in ASCII form.
    Name(String),
    /// A vetted address.
    Ip(IpAddr),
}

impl Target {
    pub(super) fn new(uri: Uri, text: String, host: Host, port: u16) -> Self {
        Self {
            uri,
            text,
            host,
            port,
        }
    }

    /// URL to request.
    #[must_use]
    pub fn uri(&self) -> &Uri {
        &self.uri
    }

    /// URL as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Host to resolve or to connect to.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Port; the default port of the scheme if the URL names none.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
