//! Requests that no version answers.

use http::{
    HeaderName, HeaderValue,
    header::{ACCEPT, CONTENT_TYPE, LINK},
};

use super::{ApiVersion, VersionScheme};
use crate::{
    errors::{ErrorStatus, Problem, ProblemBase, types},
    paging::{Link, Relation},
    versions::Lifecycle,
};

/// No version answers this request.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum VersionError {
    /// The path names none: there is nothing there.
    #[error("no version in the path")]
    NotFound,
    /// It names none, or one that is not there.
    #[error("unsupported version")]
    Unsupported {
        /// Those that are.
        supported: Vec<ApiVersion>,
    },
    /// What it accepts is of no version that is there.
    #[error("unsupported version of a media type that is accepted")]
    NotAcceptable {
        /// Those that are.
        supported: Vec<ApiVersion>,
    },
    /// What it sends is of no version that is there.
    #[error("unsupported version of the media type that is sent")]
    UnsupportedContent {
        /// Those that are.
        supported: Vec<ApiVersion>,
    },
    /// It is over.
    #[error("the version is over")]
    Gone {
        /// The `Link` to what takes its place.
        successor: Option<HeaderValue>,
    },
}

impl VersionError {
    pub(super) fn unsupported(
        scheme: &VersionScheme,
        said_in: Option<HeaderName>,
        all: &[(ApiVersion, Lifecycle)],
    ) -> Self {
        let supported = all.iter().map(|(version, _)| *version).collect();
        match (scheme, said_in) {
            (VersionScheme::Path, _) => Self::NotFound,
            (VersionScheme::MediaType(_), Some(ACCEPT)) => Self::NotAcceptable { supported },
            (VersionScheme::MediaType(_), Some(CONTENT_TYPE)) => Self::UnsupportedContent { supported },
            _ => Self::Unsupported { supported },
        }
    }

    pub(super) fn gone(lifecycle: &Lifecycle) -> Self {
        let link = |successor| Link::new(successor).header_value(&Relation::SUCCESSOR_VERSION);
        Self::Gone {
            successor: lifecycle.successor().cloned().map(link),
        }
    }

    /// The problem to answer with: 404 for a path, 406 or 415 for a media type, 410 with a link to its successor for a version
    /// that is over, else 400. The extension `supported` lists the versions that there are.
    #[must_use]
    pub fn problem(self, base: &ProblemBase) -> Problem {
        let listed = |problem: Problem, supported: Vec<ApiVersion>| {
            let supported: Vec<String> = supported.iter().map(ToString::to_string).collect();
            problem.with_extension("supported", supported)
        };
        match self {
            Self::NotFound => Problem::new(ErrorStatus::NOT_FOUND),
            Self::Unsupported { supported } => listed(types::UNSUPPORTED_VERSION.problem(base), supported),
            Self::NotAcceptable { supported } => listed(types::NOT_ACCEPTABLE.problem(base), supported),
            Self::UnsupportedContent { supported } => {
                listed(types::UNSUPPORTED_CONTENT.problem(base), supported)
            }
            Self::Gone { successor } => {
                let problem = types::VERSION_GONE.problem(base);
                match successor {
                    Some(link) => problem.with_field(LINK, link),
                    None => problem,
                }
            }
        }
    }
}
