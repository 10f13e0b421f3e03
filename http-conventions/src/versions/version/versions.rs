//! The versions that there are, checked once.

use http::HeaderName;

use super::ApiVersion;
use crate::versions::Lifecycle;

/// Where a request says which version it means.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum VersionScheme {
    /// `/v<N>` at the beginning of the path.
    Path,
    /// A field such as `Api-Version: 2`.
    Header(HeaderName),
    /// A parameter of the query such as `api-version=2`.
    Query(String),
    /// A parameter of the media type such as `application/json;version=2`: of `Accept`, or else of `Content-Type`.
    MediaType(String),
}

/// The versions of an API, each with what becomes of it.
#[derive(Clone, Debug)]
pub struct Versions {
    pub(super) scheme: VersionScheme,
    /// In ascending order.
    pub(crate) all: Vec<(ApiVersion, Lifecycle)>,
    pub(crate) default: Option<ApiVersion>,
}

impl Versions {
    /// These versions, in any order. A request that names none is refused, unless there is a
    /// [default](Self::with_default).
    ///
    /// # Errors
    ///
    /// Every mistake in them.
    pub fn new(
        scheme: VersionScheme,
        versions: impl IntoIterator<Item = (ApiVersion, Lifecycle)>,
    ) -> Result<Self, InvalidVersions> {
        let mut all: Vec<_> = versions.into_iter().collect();
        all.sort_by_key(|(version, _)| *version);
        let mistakes = mistakes(&all);
        match mistakes.is_empty() {
            true => Ok(Self {
                scheme,
                all,
                default: None,
            }),
            false => Err(InvalidVersions { mistakes }),
        }
    }

    /// A request that names none, and whose account is pinned to none, means this one. Never so in the path.
    ///
    /// # Errors
    ///
    /// When it is none of them.
    pub fn with_default(mut self, version: ApiVersion) -> Result<Self, InvalidVersions> {
        let is_there = self.all.iter().any(|(there, _)| *there == version);
        self.default = Some(version);
        match is_there {
            true => Ok(self),
            false => Err(InvalidVersions {
                mistakes: vec![VersionMistake::UnknownDefault(version)],
            }),
        }
    }

    /// Where requests say which version they mean.
    pub(crate) const fn scheme(&self) -> &VersionScheme {
        &self.scheme
    }

    /// Whether answers say since when one of them is not to be built upon.
    pub(crate) fn are_deprecated(&self) -> bool {
        self.lifecycles().any(Lifecycle::is_deprecated)
    }

    /// Whether one of them ends.
    pub(crate) fn end(&self) -> bool {
        self.lifecycles().any(Lifecycle::ends)
    }

    /// Whether answers link to what there is to read about one of them, or to what takes its place.
    pub(crate) fn are_linked(&self) -> bool {
        self.lifecycles().any(Lifecycle::is_linked)
    }

    fn lifecycles(&self) -> impl Iterator<Item = &Lifecycle> {
        self.all.iter().map(|(_, lifecycle)| lifecycle)
    }

    /// What becomes of one of these versions.
    pub(crate) fn lifecycle(&self, version: ApiVersion) -> Option<&Lifecycle> {
        let mut all = self.all.iter();
        all.find_map(|(listed, lifecycle)| (*listed == version).then_some(lifecycle))
    }

    /// The version that answers what is asked for: the same number, or the latest date that is not later.
    pub(super) fn find(&self, asked: ApiVersion) -> Option<&(ApiVersion, Lifecycle)> {
        let mut candidates = self.all.iter().rev();
        match asked.is_date() {
            true => candidates.find(|(version, _)| version.is_date() && *version <= asked),
            false => candidates.find(|(version, _)| *version == asked),
        }
    }
}

fn mistakes(sorted: &[(ApiVersion, Lifecycle)]) -> Vec<VersionMistake> {
    let mut mistakes = Vec::new();
    if sorted.is_empty() {
        mistakes.push(VersionMistake::NoVersion);
    }
    let mut neighbours = sorted.iter().zip(sorted.iter().skip(1));
    let repeated = neighbours.clone().filter(|((one, _), (next, _))| one == next);
    mistakes.extend(repeated.map(|((version, _), _)| VersionMistake::Repeated(*version)));
    if neighbours.any(|((one, _), (next, _))| one.is_date() != next.is_date()) {
        mistakes.push(VersionMistake::NumbersAndDates);
    }
    mistakes
}

/// What is wrong with the versions.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum VersionMistake {
    /// There is none.
    #[error("there is no version")]
    NoVersion,
    /// One is there twice.
    #[error("version {0} is there twice")]
    Repeated(ApiVersion),
    /// Some are numbers and some dates, which have no common order.
    #[error("versions are numbers or dates, not both")]
    NumbersAndDates,
    /// The default is none of them.
    #[error("the default {0} is no version")]
    UnknownDefault(ApiVersion),
}

/// The versions contradict themselves, with every mistake.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid versions: {}", mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct InvalidVersions {
    mistakes: Vec<VersionMistake>,
}

impl InvalidVersions {
    /// All of them.
    #[must_use]
    pub fn mistakes(&self) -> &[VersionMistake] {
        &self.mistakes
    }
}
