//! A URL that the rules let pass.

use std::{fmt, net::IpAddr};

use http::Uri;

/// A vetted URL, normalised, without fragment.
///
/// It is the policy's word of this moment: vet again before every attempt, and vet what the name resolves to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Target {
    uri: Uri,
    text: String,
    host: Host,
    port: u16,
}

/// Where a [`Target`] is: by name, to be resolved, or by address.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Host {
    /// A name in lower case, in its ASCII form.
    Name(String),
    /// An address, vetted already.
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

    /// The URL to request.
    #[must_use]
    pub fn uri(&self) -> &Uri {
        &self.uri
    }

    /// The URL as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whom to resolve or to connect to.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The port, the scheme's own where the URL names none.
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
