//! What can be wrong with conventions.

use http::HeaderName;

use crate::{cors::CorsMistake, errors::InvalidProblemBase, versions::VersionMistake};

/// What is wrong with the conventions.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConventionsMistake {
    /// The base of problem types is none.
    #[error("{0}")]
    ProblemBase(InvalidProblemBase),
    /// A rule for requests of other origins.
    #[error("{0}")]
    Cors(CorsMistake),
    /// The versions.
    #[error("{0}")]
    Version(VersionMistake),
    /// A path always says its version, so that neither a default nor a pin can take its place.
    #[error("a path says its version itself: there is no default and no pin")]
    UnsaidInPath,
    /// Accounts are pinned to versions of which there are none.
    #[error("accounts are pinned to versions, and there are none")]
    PinsWithoutVersions,
    /// The version is read from a field that means something else already.
    #[error("{0} has another meaning than a version")]
    VersionField(HeaderName),
    /// Not even a request for `/` is as small as the limits ask.
    #[error("no request is as small as the size limits")]
    NothingFits,
    /// The problems of `Idempotency` have another base, so that a client would meet each type under two URIs.
    #[error("idempotency has another base of problem types")]
    OtherProblemBase,
    /// Two types of problems have this slug, or names in a document that are the same: the host's own, or one of them and one of
    /// the conventions.
    #[error("there are two problem types {0}")]
    RepeatedProblemType(&'static str),
}

/// The conventions contradict themselves, with every mistake.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid conventions: {}", mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct InvalidConventions {
    mistakes: Vec<ConventionsMistake>,
}

impl InvalidConventions {
    pub(super) const fn new(mistakes: Vec<ConventionsMistake>) -> Self {
        Self { mistakes }
    }

    /// All of them.
    #[must_use]
    pub fn mistakes(&self) -> &[ConventionsMistake] {
        &self.mistakes
    }
}
