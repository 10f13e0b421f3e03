//! Versions of an API, which are validated when the list is created.

use http::HeaderName;

use super::ApiVersion;
use crate::versions::Lifecycle;

/// Location of the version in a request.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum VersionScheme {
    /// `/v` and the version at the start of the path, such as `/v2/charges`.
    Path,
    /// A header field, such as `Api-Version: 2`.
    Header(HeaderName),
    /// A query parameter, such as `api-version=2`.
    Query(String),
    /// A parameter of the media type in `Accept`, or else in `Content-Type`, such as
    /// `application/json;version=2`.
    MediaType(String),
}

/// Versions of an API, each with its lifecycle.
#[derive(Clone, Debug)]
pub struct Versions {
    pub(super) scheme: VersionScheme,
    /// In ascending order.
    pub(crate) all: Vec<(ApiVersion, Lifecycle)>,
    pub(crate) default: Option<ApiVersion>,
}

impl Versions {
    /// Creates the list. The versions may be in any order.
    ///
    /// A request that names no version is refused, unless its account is pinned to a version or a
    /// [default](Self::with_default) is set.
    ///
    /// # Errors
    ///
    /// [`InvalidVersions`] if the list is empty, has a version twice, or mixes numbers and dates.
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

    /// Sets the version for requests that name none and whose account is not pinned to a version.
    /// Has no effect with [`VersionScheme::Path`].
    ///
    /// # Errors
    ///
    /// [`InvalidVersions`] if `version` is not in the list.
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

    /// Location of the version in a request.
    pub(crate) const fn scheme(&self) -> &VersionScheme {
        &self.scheme
    }

    /// Returns `true` if any version has a `Deprecation` date.
    pub(crate) fn are_deprecated(&self) -> bool {
        self.lifecycles().any(Lifecycle::is_deprecated)
    }

    /// Returns `true` if any version has a `Sunset` date.
    pub(crate) fn end(&self) -> bool {
        self.lifecycles().any(Lifecycle::ends)
    }

    /// Returns `true` if any version has documentation or successor links.
    pub(crate) fn are_linked(&self) -> bool {
        self.lifecycles().any(Lifecycle::is_linked)
    }

    fn lifecycles(&self) -> impl Iterator<Item = &Lifecycle> {
        self.all.iter().map(|(_, lifecycle)| lifecycle)
    }

    /// Lifecycle of a listed version.
    pub(crate) fn lifecycle(&self, version: ApiVersion) -> Option<&Lifecycle> {
        let mut all = self.all.iter();
        all.find_map(|(listed, lifecycle)| (*listed == version).then_some(lifecycle))
    }

    /// Finds the requested number, or the latest listed date that is not later than the requested
    /// date.
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

/// A mistake in [`Versions`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum VersionMistake {
    /// The list is empty.
    #[error("no version is listed")]
    NoVersion,
    /// A version is listed twice.
    #[error("version {0} is listed twice")]
    Repeated(ApiVersion),
    /// The list mixes numbers and dates, which have no common order.
    #[error("versions are numbers or dates, not both")]
    NumbersAndDates,
    /// The default is not listed.
    #[error("the default version {0} is not listed")]
    UnknownDefault(ApiVersion),
}

/// Error for invalid versions, with all mistakes.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid versions: {}", mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct InvalidVersions {
    mistakes: Vec<VersionMistake>,
}

impl InvalidVersions {
    /// All mistakes.
    #[must_use]
    pub fn mistakes(&self) -> &[VersionMistake] {
        &self.mistakes
    }
}
