//! Errors of requests whose version cannot be served.

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

/// The version of a request cannot be served.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum VersionError {
    /// The path names no version or an unknown one.
    #[error("no version in the path")]
    NotFound,
    /// The request names no version or an unknown one.
    #[error("unsupported version")]
    Unsupported {
        /// Versions of the API.
        supported: Vec<ApiVersion>,
    },
    /// `Accept` names an unknown version.
    #[error("unsupported version in Accept")]
    NotAcceptable {
        /// Versions of the API.
        supported: Vec<ApiVersion>,
    },
    /// `Content-Type` names an unknown version.
    #[error("unsupported version in Content-Type")]
    UnsupportedContent {
        /// Versions of the API.
        supported: Vec<ApiVersion>,
    },
    /// The version was removed.
    #[error("the version has been removed")]
    Gone {
        /// `Link` to the successor.
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

    /// Creates the problem.
    ///
    /// | error | status |
    /// |---|---|
    /// | [`NotFound`](Self::NotFound) | 404 |
    /// | [`Unsupported`](Self::Unsupported) | 400 with the extension `supported` |
    /// | [`NotAcceptable`](Self::NotAcceptable) | 406 with the extension `supported` |
    /// | [`UnsupportedContent`](Self::UnsupportedContent) | 415 with the extension `supported` |
    /// | [`Gone`](Self::Gone) | 410 with a `Link` to the successor |
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
