//! Destination URL of an endpoint.
//!
//! The URL is checked at registration. A host name may resolve to another address later, so every
//! attempt checks the URL again, and the transport checks the address that it connects to.

use std::{fmt, str::FromStr};

use url::Url;

use crate::address::{AddressPolicy, RefusedAddress, Target};

const MAX_LENGTH: usize = 2048;

/// Absolute `https` or `http` URL without credentials or fragment, at most 2048 bytes, normalized.
///
/// A `Destination` may still lead to a forbidden address: see [`vet`](Self::vet).
///
/// # Examples
///
/// ```
/// use webhook_core::{address::AddressPolicy, sender::Destination};
///
/// let destination: Destination = "HTTPS://Hooks.Example.com".parse()?;
/// assert_eq!(destination.as_str(), "https://hooks.example.com/");
/// assert!(destination.vet(&AddressPolicy::new()).is_ok());
///
/// let inside: Destination = "https://0x7f.1/".parse()?;
/// assert!(inside.vet(&AddressPolicy::new()).is_err());
/// # Ok::<_, webhook_core::sender::InvalidDestination>(())
/// ```
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Destination(Box<str>);

impl Destination {
    /// The URL as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Host of the URL, in lower case and without the port.
    #[must_use]
    pub fn host(&self) -> &str {
        let rest = self.0.split_once("://").map_or("", |(_, rest)| rest);
        let authority = rest.split(['/', '?']).next().unwrap_or_default();
        match authority.rsplit_once(':') {
            // the last part of an IPv6 address is no port
            Some((host, port)) if !port.ends_with(']') => host,
            _ => authority,
        }
    }

    /// Checks the URL with the address rules, without name resolution.
    ///
    /// # Errors
    ///
    /// [`RefusedAddress`], which names the rule.
    pub fn vet(&self, policy: &AddressPolicy) -> Result<Target, RefusedAddress> {
        policy.vet(&self.0)
    }
}

impl FromStr for Destination {
    type Err = InvalidDestination;

    fn from_str(text: &str) -> Result<Self, InvalidDestination> {
        let url = Url::parse(text).map_err(|_| InvalidDestination(()))?;
        let plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
        if matches!(url.scheme(), "https" | "http") && plain && url.as_str().len() <= MAX_LENGTH {
            Ok(Self(String::from(url).into()))
        } else {
            Err(InvalidDestination(()))
        }
    }
}

impl TryFrom<String> for Destination {
    type Error = InvalidDestination;

    fn try_from(text: String) -> Result<Self, InvalidDestination> {
        text.parse()
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Error: not a valid destination URL.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "a destination is an absolute http or https URL without credentials and fragment, at most 2048 bytes"
)]
pub struct InvalidDestination(());

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn host_has_neither_port_nor_path() {
        for (url, host) in [
            ("https://Hooks.Example.com", "hooks.example.com"),
            ("https://example.com:8443/hooks?at=1:2", "example.com"),
            ("http://192.0.2.1:8080/", "192.0.2.1"),
            ("https://[2001:db8::1]/", "[2001:db8::1]"),
            ("https://[2001:db8::1]:8443/", "[2001:db8::1]"),
            ("https://example.com?a:b", "example.com"),
        ] {
            assert_eq!(url.parse::<Destination>().unwrap().host(), host);
        }
    }

    #[test]
    fn a_destination_is_an_absolute_http_url_and_nothing_else() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(
                text.parse().ok().as_ref().map(Destination::as_str),
                expected,
                "{text}"
            );
        };
        check(
            "https://example.com/hooks?a=1",
            Some("https://example.com/hooks?a=1"),
        );
        check("http://example.com", Some("http://example.com/"));
        check("https://user@example.com/", None);
        check("https://:secret@example.com/", None);
        check("https://example.com/#part", None);
        check("ftp://example.com/", None);
        check("file:///etc/passwd", None);
        check("/hooks", None);
        check("", None);
        check(&format!("https://example.com/{}", "a".repeat(2048)), None);
    }

    proptest! {
        #[test]
        fn parsed_url_is_normalized(text in "(https?://)?[a-z0-9.:/@#?%\\[\\] -]{0,60}") {
            if let Ok(destination) = text.parse::<Destination>() {
                prop_assert_eq!(destination.as_str().parse(), Ok(destination.clone()));
            }
        }
    }
}
