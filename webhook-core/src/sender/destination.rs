//! Where an endpoint's messages go: the URL that a receiver registered.
//!
//! Registered means vetted once; because names resolve to other addresses later, every attempt vets again, and the transport
//! vets the addresses it connects to.

use std::{fmt, str::FromStr};

use url::Url;

use crate::address::{AddressPolicy, RefusedAddress, Target};

const MAX_LENGTH: usize = 2048;

/// An absolute `https` or `http` URL without user information or fragment, at most 2048 bytes, in its normal form.
///
/// Says nothing about whether it may be called: that is what [`vet`](Self::vet) is for.
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
    /// The URL.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the address rules allow calling it, as far as they can tell without resolving the name.
    ///
    /// # Errors
    ///
    /// [`RefusedAddress`] names the rule.
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

/// Not a URL that messages can be sent to.
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
        fn what_parses_is_in_its_normal_form(text in "(https?://)?[a-z0-9.:/@#?%\\[\\] -]{0,60}") {
            if let Ok(destination) = text.parse::<Destination>() {
                prop_assert_eq!(destination.as_str().parse(), Ok(destination.clone()));
            }
        }
    }
}
