//! Problem types: the URIs that clients compare.

use std::fmt;

use super::{ErrorStatus, Problem};
use crate::uri::is_uri_byte;

/// Definition of a problem type, [RFC 9457 §4](https://www.rfc-editor.org/rfc/rfc9457#section-4).
///
/// Its URI is the [`ProblemBase`] of the host followed by the slug. Clients compare the URI, so
/// change neither the base nor the slug after a release.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ProblemType {
    slug: &'static str,
    status: ErrorStatus,
    title: &'static str,
    description: &'static str,
}

impl ProblemType {
    /// Defines a problem type. The host serves `description` at the URI of the type.
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

    /// Creates a problem of this type.
    #[must_use]
    pub fn problem(&self, base: &ProblemBase) -> Problem {
        Problem::new(self.status).with_type(self.uri(base), self.title)
    }

    /// URI of this type: the base followed by the slug.
    #[must_use]
    pub fn uri(&self, base: &ProblemBase) -> String {
        [&base.0, self.slug].concat()
    }

    /// Slug: the last part of the URI.
    #[must_use]
    pub const fn slug(&self) -> &'static str {
        self.slug
    }

    /// Status of every problem of this type.
    #[must_use]
    pub const fn status(&self) -> ErrorStatus {
        self.status
    }

    /// Title: a short summary, the same in every problem of this type.
    #[must_use]
    pub const fn title(&self) -> &'static str {
        self.title
    }

    /// Description of the cause and of the action that a client can take.
    #[must_use]
    pub const fn description(&self) -> &'static str {
        self.description
    }
}

/// Base URI of the problem types of a host, such as `https://api.example.com/problems/`.
///
/// There is no default: a type URI must be absolute, and only the host knows its domain. RFC 9457
/// recommends that the URIs lead to documentation. Clients compare the URIs and do not fetch them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProblemBase(Box<str>);

impl ProblemBase {
    /// Parses an absolute URI that ends in `/`, `#` or `:`, so that a slug can follow.
    ///
    /// # Errors
    ///
    /// [`InvalidProblemBase`] if
    ///
    /// - the URI has no scheme,
    /// - the URI does not end in `/`, `#` or `:`,
    /// - the URI contains a character that [RFC
    ///   3986](https://www.rfc-editor.org/rfc/rfc3986#section-2) forbids,
    /// - a slug would become part of the host or port.
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

/// Returns `true` if there is no authority, or if the authority ends before the last character,
/// [RFC 3986 §3.2](https://www.rfc-editor.org/rfc/rfc3986#section-3.2).
fn is_past_authority(rest: &str) -> bool {
    rest.strip_prefix("//")
        .is_none_or(|authority| authority.find(['/', '?', '#']).is_some_and(|end| end > 0))
}

/// Error for a base that is not an absolute URI to which a slug can be appended.
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
