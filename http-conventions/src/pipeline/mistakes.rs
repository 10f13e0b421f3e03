//! Mistakes in conventions.

use http::HeaderName;

use crate::{cors::CorsMistake, errors::InvalidProblemBase, versions::VersionMistake};

/// A mistake in [`ConventionsBuilder`](super::ConventionsBuilder).
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConventionsMistake {
    /// The base of problem types is invalid.
    #[error("{0}")]
    ProblemBase(InvalidProblemBase),
    /// A CORS rule is invalid.
    #[error("{0}")]
    Cors(CorsMistake),
    /// The versions are invalid.
    #[error("{0}")]
    Version(VersionMistake),
    /// A default or pinned version with versions in the path, where each request names its version.
    #[error("versions in the path cannot have a default or a pin")]
    DefaultInPath,
    /// Pinned versions without versions.
    #[error("accounts are pinned to versions, but no versions are set")]
    PinsWithoutVersions,
    /// The header field of the version has another meaning in HTTP or in these conventions.
    #[error("header `{0}` cannot name the version: it has another meaning")]
    VersionField(HeaderName),
    /// The size limits reject every request, even `GET /`.
    #[error("the size limits reject every request")]
    NothingFits,
    /// `Idempotency` has another base of problem types, so one type would have two URIs.
    #[error("the idempotency middleware has another base of problem types")]
    OtherProblemBase,
    /// Two problem types have the same slug or the same OpenAPI name.
    #[error("problem type `{0}` is defined twice")]
    RepeatedProblemType(&'static str),
}

/// The conventions are invalid. Contains all mistakes.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid conventions: {}", mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct InvalidConventions {
    mistakes: Vec<ConventionsMistake>,
}

impl InvalidConventions {
    pub(super) const fn new(mistakes: Vec<ConventionsMistake>) -> Self {
        Self { mistakes }
    }

    /// All mistakes.
    #[must_use]
    pub fn mistakes(&self) -> &[ConventionsMistake] {
        &self.mistakes
    }
}
