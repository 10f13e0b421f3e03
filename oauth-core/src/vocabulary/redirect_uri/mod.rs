//! Redirect URIs, and the rules by which registered redirect URIs match.

use std::num::NonZeroU16;

use serde::{Deserialize, Serialize};
use url::Url;

use crate::vocabulary::{authority, is_loopback, is_uri_text, word};

/// Error for a text that is not a [`RedirectUri`], or not a [`LoopbackRedirectUri`] where one is
/// required.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a redirect uri: expected https, loopback http or a private-use scheme, without fragment")]
pub struct InvalidRedirectUri;

word! {
    /// Redirect URI of a request, [RFC 6749
    /// §3.1.2](https://www.rfc-editor.org/rfc/rfc6749#section-3.1.2).
    ///
    /// An absolute URI of at most 2048 bytes, without fragment and user information: `https`,
    /// `http` on a loopback address, or a private-use scheme with a dot ([RFC 8252
    /// §7.1](https://www.rfc-editor.org/rfc/rfc8252#section-7.1)).
    RedirectUri, InvalidRedirectUri, is_redirect_uri
}

impl RedirectUri {
    /// Returns this URI with `pairs`, form-encoded, appended to its query. An existing query is
    /// kept.
    #[must_use]
    pub fn with_query<'a>(&self, pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
        let separator = match self.0.split_once('?') {
            None => "?",
            Some((_, query)) if query.is_empty() || query.ends_with('&') => "",
            Some(_) => "&",
        };
        format!("{self}{separator}{}", crate::params::encode(pairs))
    }

    /// Returns this URI with `pairs`, form-encoded, as its fragment. A redirect URI has none.
    #[must_use]
    pub fn with_fragment<'a>(&self, pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
        format!("{self}#{}", crate::params::encode(pairs))
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

/// A registered redirect URI with its matching rule.
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
    /// Matches only a URI with the same bytes.
    Exact(RedirectUri),
    /// Matches a URI with the same bytes apart from its port, which may be any port or absent.
    LoopbackAnyPort(LoopbackRedirectUri),
    /// Matches a URI of `localhost` with the same bytes apart from its port, which may be any port
    /// or absent.
    LocalhostAnyPort(LocalhostRedirectUri),
}

impl RegisteredRedirectUri {
    /// Registers a URI that matches byte for byte.
    ///
    /// # Errors
    ///
    /// [`InvalidRedirectUri`] when the text is not a [`RedirectUri`].
    pub fn exact(text: &str) -> Result<Self, InvalidRedirectUri> {
        text.parse().map(Self::Exact)
    }

    /// Registers a loopback URI that matches with any port, for native apps, [RFC 8252
    /// §7.3](https://www.rfc-editor.org/rfc/rfc8252#section-7.3).
    ///
    /// # Errors
    ///
    /// [`InvalidRedirectUri`] when the text is not a [`LoopbackRedirectUri`].
    ///
    /// # Security
    ///
    /// Use it only for public clients: any program on the user's machine can listen on the port.
    /// PKCE protects the code from such programs.
    pub fn loopback_any_port(text: &str) -> Result<Self, InvalidRedirectUri> {
        text.parse().map(Self::LoopbackAnyPort)
    }

    /// Registers a URI of `localhost` that matches with any port, for clients that cannot send a
    /// loopback address, such as command-line tools that use an SDK.
    ///
    /// # Errors
    ///
    /// [`InvalidRedirectUri`] when the text is not a [`LocalhostRedirectUri`].
    ///
    /// # Security
    ///
    /// Prefer [`loopback_any_port`](Self::loopback_any_port): [RFC 8252
    /// §8.3](https://www.rfc-editor.org/rfc/rfc8252#section-8.3) does not recommend `localhost`,
    /// because the name may resolve to another address. Use it only for public clients.
    pub fn localhost_any_port(text: &str) -> Result<Self, InvalidRedirectUri> {
        text.parse().map(Self::LocalhostAnyPort)
    }

    /// Returns `true` if `presented`, the URI of a request, matches.
    #[must_use]
    pub fn matches(&self, presented: &RedirectUri) -> bool {
        match self {
            Self::Exact(registered) => registered == presented,
            Self::LoopbackAnyPort(registered) => is_same_but_port(&registered.0, presented, &LOOPBACK),
            Self::LocalhostAnyPort(registered) => is_same_but_port(&registered.0, presented, &LOCALHOST),
        }
    }

    /// Returns `true` if any port matches.
    #[must_use]
    pub fn is_any_port(&self) -> bool {
        matches!(self, Self::LoopbackAnyPort(_) | Self::LocalhostAnyPort(_))
    }

    /// Returns the registered text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Exact(registered) => registered.as_str(),
            Self::LoopbackAnyPort(registered) => registered.as_str(),
            Self::LocalhostAnyPort(registered) => registered.as_str(),
        }
    }
}

word! {
    /// `http://127.0.0.1` or `http://[::1]` without a port, with a path and query that must match
    /// byte for byte.
    ///
    /// `localhost` is not allowed, because the app does not control to which address the name
    /// resolves.
    LoopbackRedirectUri, InvalidRedirectUri, |text| is_without_port(text, &LOOPBACK)
}

word! {
    /// `http://localhost` without a port, with a path and query that must match byte for byte.
    LocalhostRedirectUri, InvalidRedirectUri, |text| is_without_port(text, &LOCALHOST)
}

const LOOPBACK: [&str; 2] = ["http://127.0.0.1", "http://[::1]"];
const LOCALHOST: [&str; 1] = ["http://localhost"];

/// Returns `true` for a redirect URI of one of these origins, without a port.
fn is_without_port(text: &str, origins: &[&'static str]) -> bool {
    is_redirect_uri(text) && split_origin(text, origins).is_some_and(|(_, tail)| !tail.starts_with(':'))
}

/// Returns `true` if the URI equals the registered text, apart from its port.
fn is_same_but_port(registered: &str, presented: &RedirectUri, origins: &[&'static str]) -> bool {
    match (
        split_origin(registered, origins),
        split_origin(presented.as_str(), origins),
    ) {
        (Some((origin, tail)), Some((presented_origin, rest))) => {
            origin == presented_origin && without_port(rest) == Some(tail)
        }
        _ => false,
    }
}

/// Splits `http://127.0.0.1:8080/cb` into `http://127.0.0.1` and `:8080/cb`. `None` for an origin
/// that is not listed.
fn split_origin<'t>(text: &'t str, origins: &[&'static str]) -> Option<(&'static str, &'t str)> {
    origins.iter().find_map(|origin| {
        let tail = text.strip_prefix(origin)?;
        (tail.is_empty() || tail.starts_with([':', '/', '?'])).then_some((*origin, tail))
    })
}

/// Removes the port, if there is one. `None` for a colon without digits, for port 0 and for ports
/// beyond 65535.
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
