//! Refusals of patches.

use crate::{
    content::{Fault, Faults, MalformedJson, UnsupportedContent},
    errors::{ErrorStatus, Problem, ProblemBase, types},
};

/// Error for a patch that cannot be read or applied. Nothing was changed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PatchRefusal {
    /// The format or the content coding is not supported.
    #[error("unsupported format of patch")]
    Unsupported(#[from] UnsupportedContent),
    /// The content is not JSON.
    #[error("malformed patch")]
    Malformed(#[from] MalformedJson),
    /// The content is JSON, but not a JSON Patch. The pointers of the faults are locations in the
    /// patch.
    #[error("not a JSON Patch")]
    NotAPatch(#[source] Faults),
    /// An operation does not apply to the state of the resource. The pointer is the location of the
    /// operation in the patch.
    #[error("patch conflicts with the resource: {}", .0.detail())]
    Conflict(Fault),
    /// The changed resource would be invalid.
    #[error("patch makes the resource invalid")]
    Faulty(#[from] Faults),
    /// The resource has no JSON form: a mistake of the host.
    #[error("resource has no JSON form")]
    Unserializable,
}

impl PatchRefusal {
    /// Creates the problem, see [Statuses](super#statuses). The extension `errors` lists the
    /// faults.
    #[must_use]
    pub fn problem(self, base: &ProblemBase) -> Problem {
        match self {
            Self::Unsupported(unsupported) => unsupported.problem(base),
            Self::Malformed(malformed) => malformed.problem(base),
            Self::NotAPatch(faults) => types::MALFORMED_CONTENT
                .problem(base)
                .with_detail("the content is not a JSON Patch")
                .with_extension("errors", faults.members()),
            Self::Conflict(fault) => types::PATCH_CONFLICT
                .problem(base)
                .with_extension("errors", Faults::from(fault).members()),
            Self::Faulty(faults) => faults.problem(base),
            Self::Unserializable => Problem::new(ErrorStatus::INTERNAL_SERVER_ERROR),
        }
    }
}
