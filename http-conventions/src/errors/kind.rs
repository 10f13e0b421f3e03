//! Kinds of problems: the URIs that clients switch on.

use std::fmt;

use super::{ErrorStatus, Problem};
use crate::uri::is_uri_byte;

/// A kind of problem, defined once: what [RFC 9457 §4](https://www.rfc-editor.org/rfc/rfc9457#section-4) asks a definition for.
///
/// Its URI is the host's [`ProblemBase`] followed by the slug; neither may change once clients have seen it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ProblemType {
    slug: &'static str,
    status: ErrorStatus,
    title: &'static str,
    description: &'static str,
}

impl ProblemType {
    /// Defines a kind of problem; the description is what a reader finds at its URI.
    #[must_use]
    pub const fn new(
        slug: &'static str,
        status: ErrorStatus,
        title: &'static str,
        description: &'static str,
    ) -> Self {
        Self {
            slug,
            status,
            title,
            description,
        }
    }

    /// An occurrence of this kind.
    #[must_use]
    pub fn problem(&self, base: &ProblemBase) -> Problem {
        Problem::new(self.status).with_type(self.uri(base), self.title)
    }

    /// The URI of this kind at one host.
    #[must_use]
    pub fn uri(&self, base: &ProblemBase) -> String {
        [&base.0, self.slug].concat()
    }

    /// The last part of the URI.
    #[must_use]
    pub const fn slug(&self) -> &'static str {
        self.slug
    }

    /// The status of every occurrence.
    #[must_use]
    pub const fn status(&self) -> ErrorStatus {
        self.status
    }

    /// The short summary, the same in every occurrence.
    #[must_use]
    pub const fn title(&self) -> &'static str {
        self.title
    }

    /// What went wrong and what a client can do about it.
    #[must_use]
    pub const fn description(&self) -> &'static str {
        self.description
    }
}

/// The URI under which a host's problem types live, such as `https://api.example.com/problems/`.
///
/// There is no default, because type URIs must be absolute to mean the same everywhere, and only the host has a name
/// to put there. RFC 9457 would like the URIs to lead to documentation, but nothing ever fetches them automatically.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProblemBase(Box<str>);

impl ProblemBase {
    /// An absolute URI that ends in `/`, `#` or `:`, so that a slug can follow.
    ///
    /// # Errors
    ///
    /// When it has no scheme, does not end so, holds a character that URIs do not have, or when a slug would become its host
    /// or port.
    pub fn new(base: &str) -> Result<Self, InvalidProblemBase> {
        let (scheme, rest) = base.split_once(':').ok_or(InvalidProblemBase)?;
        let ready_for_slug = rest.ends_with(['/', '#', ':']);
        if !is_scheme(scheme) || !is_past_authority(rest) || !ready_for_slug || !rest.bytes().all(is_uri_byte)
        {
            return Err(InvalidProblemBase);
        }
        Ok(Self(base.into()))
    }
}

impl fmt::Display for ProblemBase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_scheme(scheme: &str) -> bool {
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Whether an authority, where there is one, is over before the end:
/// [RFC 3986 §3.2](https://www.rfc-editor.org/rfc/rfc3986#section-3.2).
fn is_past_authority(rest: &str) -> bool {
    rest.strip_prefix("//")
        .is_none_or(|authority| authority.find(['/', '?', '#']).is_some_and(|end| end > 0))
}

/// The base is not an absolute URI that a slug can follow.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid base of problem types")]
pub struct InvalidProblemBase;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_is_an_absolute_uri_that_a_slug_can_follow() {
        for base in [
            "https://api.example.com/problems/",
            "https://example.com/p#",
            "tag:example.com,2026:",
            "urn:example:p:",
        ] {
            assert!(ProblemBase::new(base).is_ok(), "{base}");
        }
        for base in [
            "",
            "/problems/",
            "problems/",
            "https://api.example.com/problems",
            "https:",
            "https://",
            "https:///p/",
            "https://api.example.com:",
            "https://api.example.com",
            "1https://e/",
            "://e/",
            "https://e x/",
            "https://\u{fc}/",
            "https://e/\"/",
            "https://e/\r\n/",
        ] {
            assert_eq!(ProblemBase::new(base), Err(InvalidProblemBase), "{base}");
        }
    }
}
