//! Where the browser is sent back to, and how a registered place is matched.

use std::num::NonZeroU16;

use serde::{Deserialize, Serialize};
use url::Url;

use crate::vocabulary::{authority, is_loopback, is_uri_text, word};

/// The text is no [`RedirectUri`], or none that could be registered in the way asked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a redirect uri")]
pub struct InvalidRedirectUri;

word! {
    /// A redirection endpoint as a client presents it,
    /// [RFC 6749 §3.1.2](https://www.rfc-editor.org/rfc/rfc6749#section-3.1.2).
    ///
    /// An absolute URI without fragment and user information: `https`, or `http` on the loopback interface,
    /// or a private-use scheme that has a dot in it
    /// ([RFC 8252 §7.1](https://www.rfc-editor.org/rfc/rfc8252#section-7.1)).
    RedirectUri, InvalidRedirectUri, is_redirect_uri
}

impl RedirectUri {
    /// This URI with `pairs` added to its query; a query that is there already is kept.
    #[must_use]
    pub fn with_query<'a>(&self, pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
        let separator = match self.0.split_once('?') {
            None => "?",
            Some((_, "")) => "",
            Some(_) => "&",
        };
        format!("{self}{separator}{}", crate::params::encode(pairs))
    }
}

fn is_redirect_uri(text: &str) -> bool {
    if text.len() > 2048 || !is_uri_text(text) || text.contains('#') {
        return false;
    }
    let Ok(url) = Url::parse(text) else { return false };
    let (scheme, rest) = text.split_once(':').unwrap_or_default();
    match scheme {
        "https" => has_plain_authority(rest) && url.has_host(),
        "http" => has_plain_authority(rest) && is_loopback(&url),
        private => private.contains('.') && !rest.is_empty() && !authority(rest).contains('@'),
    }
}

fn has_plain_authority(after_scheme: &str) -> bool {
    let authority = authority(after_scheme);
    !authority.is_empty() && !authority.contains('@')
}

/// A redirection endpoint as it was registered, and with it the rule by which a presented one matches.
///
/// ```
/// use oauth_core::vocabulary::RegisteredRedirectUri;
///
/// let web = RegisteredRedirectUri::exact("https://app.example/callback")?;
/// assert!(web.matches(&"https://app.example/callback".parse()?));
/// assert!(!web.matches(&"https://app.example/callback/more".parse()?));
///
/// let native = RegisteredRedirectUri::loopback_any_port("http://127.0.0.1/callback")?;
/// assert!(native.matches(&"http://127.0.0.1:51004/callback".parse()?));
/// # Ok::<(), oauth_core::vocabulary::InvalidRedirectUri>(())
/// ```
#[expect(
    clippy::exhaustive_enums,
    reason = "another way of matching would be another security model"
)]
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RegisteredRedirectUri {
    /// Matches the same bytes and nothing else.
    Exact(RedirectUri),
    /// Matches the same bytes with any port.
    LoopbackAnyPort(LoopbackRedirectUri),
}

impl RegisteredRedirectUri {
    /// A URI that must be presented byte for byte.
    ///
    /// # Errors
    ///
    /// The text is no [`RedirectUri`].
    pub fn exact(text: &str) -> Result<Self, InvalidRedirectUri> {
        text.parse().map(Self::Exact)
    }

    /// A URI on a loopback address that a native app may present with whichever port it could open,
    /// [RFC 8252 §7.3](https://www.rfc-editor.org/rfc/rfc8252#section-7.3).
    ///
    /// # Errors
    ///
    /// The text is no [`LoopbackRedirectUri`].
    ///
    /// # Security
    ///
    /// For public clients only: every program of the machine can listen on some port.
    pub fn loopback_any_port(text: &str) -> Result<Self, InvalidRedirectUri> {
        text.parse().map(Self::LoopbackAnyPort)
    }

    /// Whether `presented` is registered hereby.
    #[must_use]
    pub fn matches(&self, presented: &RedirectUri) -> bool {
        match self {
            Self::Exact(registered) => registered == presented,
            Self::LoopbackAnyPort(registered) => registered.matches(presented),
        }
    }

    /// Whether any port matches.
    #[must_use]
    pub fn is_loopback_any_port(&self) -> bool {
        matches!(self, Self::LoopbackAnyPort(_))
    }

    /// The text as it was registered.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Exact(registered) => registered.as_str(),
            Self::LoopbackAnyPort(registered) => registered.as_str(),
        }
    }
}

word! {
    /// `http://127.0.0.1` or `http://[::1]` without a port, and a path and query that must match byte for
    /// byte.
    ///
    /// Never `localhost`: what that name resolves to is not in the app's hands.
    LoopbackRedirectUri, InvalidRedirectUri, |text| {
        is_redirect_uri(text) && split_loopback(text).is_some_and(|(_, tail)| !tail.starts_with(':'))
    }
}

impl LoopbackRedirectUri {
    fn matches(&self, presented: &RedirectUri) -> bool {
        match (split_loopback(&self.0), split_loopback(presented.as_str())) {
            (Some((host, tail)), Some((presented_host, rest))) => {
                host == presented_host && without_port(rest) == Some(tail)
            }
            _ => false,
        }
    }
}

/// Splits `http://127.0.0.1:8080/cb` into the address and `:8080/cb`.
fn split_loopback(text: &str) -> Option<(&'static str, &str)> {
    ["http://127.0.0.1", "http://[::1]"]
        .into_iter()
        .find_map(|origin| {
            let tail = text.strip_prefix(origin)?;
            (tail.is_empty() || tail.starts_with([':', '/', '?'])).then_some((origin, tail))
        })
}

/// Takes `:8080` off the front, where there is a port; a colon without digits is no port, and nobody listens on port 0.
fn without_port(rest: &str) -> Option<&str> {
    let Some(port_and_tail) = rest.strip_prefix(':') else {
        return Some(rest);
    };
    let tail = port_and_tail.trim_start_matches(|c: char| c.is_ascii_digit());
    let port = port_and_tail.strip_suffix(tail)?;
    port.parse::<NonZeroU16>().is_ok().then_some(tail)
}

#[cfg(test)]
mod tests;
