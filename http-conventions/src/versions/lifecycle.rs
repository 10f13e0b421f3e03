//! `Deprecation` and `Sunset` of a resource or version.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::{
    http_date,
    paging::{Link, Links, Relation},
    routing::Location,
};

/// Header field with the date of deprecation, which may be in the future.
pub const DEPRECATION: HeaderName = HeaderName::from_static("deprecation");
/// Header field with the date from which the resource may be unavailable.
pub const SUNSET: HeaderName = HeaderName::from_static("sunset");

/// Lifecycle of a resource or version. By default it is active and has no sunset date.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Lifecycle {
    deprecated_at: Option<SystemTime>,
    sunset_at: Option<SystemTime>,
    information: Option<Location>,
    successor: Option<Location>,
}

/// Stage of a [`Lifecycle`].
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[expect(clippy::exhaustive_enums, reason = "the RFCs have no further stage")]
pub enum Stage {
    /// In regular use.
    Active,
    /// Works as before, but new clients should not use it.
    Deprecated,
    /// The sunset date has been reached. [`Versions::resolve`](crate::versions::Versions::resolve)
    /// refuses the version with 410.
    Sunset,
}

impl Lifecycle {
    /// Creates a lifecycle with this date of deprecation, which may be in the future. The time is
    /// truncated to whole seconds.
    #[must_use]
    pub fn deprecated(at: SystemTime) -> Self {
        Self {
            deprecated_at: Some(http_date::whole_seconds(at)),
            ..Self::default()
        }
    }

    /// Sets the sunset, the date of removal. The time is truncated to whole seconds.
    ///
    /// # Errors
    ///
    /// [`SunsetTooEarly`] if the sunset is before the deprecation. [RFC 9745
    /// §4](https://www.rfc-editor.org/rfc/rfc9745#section-4) forbids that.
    pub fn with_sunset(mut self, at: SystemTime) -> Result<Self, SunsetTooEarly> {
        let at = http_date::whole_seconds(at);
        if self.deprecated_at.is_some_and(|deprecated_at| at < deprecated_at) {
            return Err(SunsetTooEarly);
        }
        self.sunset_at = Some(at);
        Ok(self)
    }

    /// Sets the URI of the documentation. It is sent as the link `deprecation` if a date of
    /// deprecation is set, and as the link `sunset` if a sunset is set.
    #[must_use]
    pub fn with_information(mut self, information: Location) -> Self {
        self.information = Some(information);
        self
    }

    /// Sets the URI of the successor, which is sent as the link `successor-version`.
    #[must_use]
    pub fn with_successor(mut self, successor: Location) -> Self {
        self.successor = Some(successor);
        self
    }

    /// Stage at `now`. A stage begins at the exact second of its date.
    #[must_use]
    pub fn stage(&self, now: SystemTime) -> Stage {
        let has_come = |at: Option<SystemTime>| at.is_some_and(|at| at <= now);
        if has_come(self.sunset_at) {
            Stage::Sunset
        } else if has_come(self.deprecated_at) {
            Stage::Deprecated
        } else {
            Stage::Active
        }
    }

    /// Sets the headers `Deprecation` and `Sunset`, and adds the links to `Link`. Dates before 1970
    /// are omitted.
    pub fn apply(&self, headers: &mut HeaderMap) {
        if let Some(date) = self.deprecated_at.and_then(structured_date) {
            headers.insert(DEPRECATION, date);
        }
        if let Some(date) = self.sunset_at.and_then(http_date::header_value) {
            headers.insert(SUNSET, date);
        }
        self.links().apply(headers);
    }

    pub(crate) const fn is_deprecated(&self) -> bool {
        self.deprecated_at.is_some()
    }

    pub(crate) const fn ends(&self) -> bool {
        self.sunset_at.is_some()
    }

    pub(crate) fn is_linked(&self) -> bool {
        !self.links().is_empty()
    }

    pub(crate) fn successor(&self) -> Option<&Location> {
        self.successor.as_ref()
    }

    fn links(&self) -> Links {
        let link = |relation, to: &Location| (relation, Link::new(to.clone()));
        let information = self.information.as_ref();
        let deprecation = information.filter(|_| self.deprecated_at.is_some());
        let sunset = information.filter(|_| self.sunset_at.is_some());
        let links = [
            deprecation.map(|to| link(Relation::DEPRECATION, to)),
            sunset.map(|to| link(Relation::SUNSET, to)),
            self.successor().map(|to| link(Relation::SUCCESSOR_VERSION, to)),
        ];
        links
            .into_iter()
            .flatten()
            .fold(Links::default(), |links, (relation, link)| {
                links.with(relation, link)
            })
    }
}

/// Formats a Date of [RFC 9651 §3.3.7](https://www.rfc-editor.org/rfc/rfc9651#section-3.3.7);
/// `None` before 1970.
fn structured_date(at: SystemTime) -> Option<HeaderValue> {
    let since: Duration = at.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    HeaderValue::try_from(format!("@{}", since.as_secs())).ok()
}

/// Error for a sunset before the deprecation.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("sunset before deprecation")]
pub struct SunsetTooEarly;
