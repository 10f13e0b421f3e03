//! Resolves the version of a request.

use std::time::SystemTime;

use http::{
    HeaderMap, HeaderName, Uri,
    header::{ACCEPT, CONTENT_TYPE},
};

use super::{ApiVersion, VersionError, VersionScheme, Versions};
use crate::{
    caching::Vary,
    content::Weight,
    field, single_value,
    versions::{Lifecycle, Stage},
};

/// Version that serves a request.
#[derive(Clone, Debug)]
pub struct Resolved<'a> {
    version: ApiVersion,
    lifecycle: &'a Lifecycle,
    path: &'a str,
    vary: Vary,
}

/// Version that a request names.
enum Asked {
    Nothing,
    Version(ApiVersion),
    /// The request names an invalid version, or several versions.
    Malformed,
    /// This header field names the version, and decides the status of a refusal. `None`: the named
    /// version is invalid.
    In(HeaderName, Option<ApiVersion>),
}

impl Resolved<'_> {
    /// Version from the host's list. For dates it can be earlier than the requested date.
    #[must_use]
    pub const fn version(&self) -> ApiVersion {
        self.version
    }

    /// Lifecycle of the version.
    #[must_use]
    pub const fn lifecycle(&self) -> &Lifecycle {
        self.lifecycle
    }

    /// Path for routing: without the version, with a leading slash.
    #[must_use]
    pub const fn path(&self) -> &str {
        self.path
    }

    /// Sets the headers of the version: `Deprecation`, `Sunset` and their links. If a header field
    /// selects the version, the field is added to `Vary`.
    pub fn apply(&self, headers: &mut HeaderMap) {
        self.lifecycle.apply(headers);
        self.vary.apply(headers);
    }
}

impl Versions {
    /// Resolves the version of a request: the version that the request names, or else `pinned`, the
    /// version that the host stored for the client's account, or else the default. With
    /// [`VersionScheme::Path`] the path must name the version; `pinned` and the default are
    /// ignored.
    ///
    /// A requested date selects the latest listed date that is not later.
    ///
    /// # Errors
    ///
    /// [`VersionError`] if the request names no version and neither `pinned` nor the default
    /// applies, if the version is unknown, or if the version has reached its sunset.
    pub fn resolve<'a>(
        &'a self,
        uri: &'a Uri,
        headers: &HeaderMap,
        pinned: Option<ApiVersion>,
        now: SystemTime,
    ) -> Result<Resolved<'a>, VersionError> {
        let (asked, path) = self.asked(uri, headers);
        let said_in = match &asked {
            Asked::In(name, _) => Some(name.clone()),
            Asked::Nothing | Asked::Version(_) | Asked::Malformed => None,
        };
        let unsupported = || VersionError::unsupported(&self.scheme, said_in.clone(), &self.all);
        let version = match asked {
            Asked::Version(version) | Asked::In(_, Some(version)) => version,
            Asked::Malformed | Asked::In(_, None) => return Err(unsupported()),
            Asked::Nothing => self.unsaid(pinned).ok_or_else(unsupported)?,
        };
        let (version, lifecycle) = self.find(version).ok_or_else(unsupported)?;
        if lifecycle.stage(now) == Stage::Sunset {
            return Err(VersionError::gone(lifecycle));
        }
        Ok(Resolved {
            version: *version,
            lifecycle,
            path,
            vary: self.vary(),
        })
    }

    fn unsaid(&self, pinned: Option<ApiVersion>) -> Option<ApiVersion> {
        match self.scheme {
            VersionScheme::Path => None,
            _ => pinned.or(self.default),
        }
    }

    /// Returns `true` if the request names a version, valid or not.
    pub(crate) fn are_named(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        !matches!(self.asked(uri, headers).0, Asked::Nothing)
    }

    /// Returns `true` if the scheme reads the version from a header field.
    pub(crate) fn are_in_field(&self) -> bool {
        matches!(
            self.scheme,
            VersionScheme::Header(_) | VersionScheme::MediaType(_)
        )
    }

    /// Path without the version. Only [`VersionScheme::Path`] changes the path.
    pub(crate) fn path<'a>(&self, uri: &'a Uri) -> &'a str {
        match self.scheme {
            VersionScheme::Path => in_path(uri.path()).1,
            _ => uri.path(),
        }
    }

    /// Request header fields that select the version.
    pub(crate) fn vary(&self) -> Vary {
        let mut vary = Vary::default();
        match &self.scheme {
            VersionScheme::Header(name) => vary.add(name.clone()),
            VersionScheme::MediaType(_) => vary.add(ACCEPT),
            VersionScheme::Path | VersionScheme::Query(_) => {}
        }
        vary
    }

    fn asked<'a>(&self, uri: &'a Uri, headers: &HeaderMap) -> (Asked, &'a str) {
        let asked = match &self.scheme {
            VersionScheme::Path => return in_path(uri.path()),
            VersionScheme::Header(name) => in_header(headers, name),
            VersionScheme::Query(name) => in_query(uri.query().unwrap_or_default(), name),
            VersionScheme::MediaType(name) => in_media_type(headers, name),
        };
        (asked, uri.path())
    }
}

fn in_path(path: &str) -> (Asked, &str) {
    let rest = path.strip_prefix("/v").unwrap_or_default();
    let (version, rest) = match rest.find('/') {
        Some(slash) => rest.split_at_checked(slash).unwrap_or((rest, "/")),
        None => (rest, "/"),
    };
    match version.parse() {
        Ok(version) => (Asked::Version(version), rest),
        Err(_) => (Asked::Nothing, path),
    }
}

fn in_header(headers: &HeaderMap, name: &HeaderName) -> Asked {
    let parsed = single_value(headers, name).and_then(|value| value.to_str().ok()?.trim().parse().ok());
    match parsed {
        Some(version) => Asked::Version(version),
        None if headers.contains_key(name) => Asked::Malformed,
        None => Asked::Nothing,
    }
}

fn in_query(query: &str, name: &str) -> Asked {
    let mut found = form_urlencoded::parse(query.as_bytes()).filter(|(there, _)| there == name);
    match (found.next(), found.next()) {
        (None, _) => Asked::Nothing,
        (Some((_, value)), None) => match value.parse() {
            Ok(version) => Asked::Version(version),
            Err(_) => Asked::Malformed,
        },
        (Some(_), Some(_)) => Asked::Malformed,
    }
}

fn in_media_type(headers: &HeaderMap, name: &str) -> Asked {
    for field_name in [ACCEPT, CONTENT_TYPE] {
        let mut best: Option<(Weight, Option<ApiVersion>)> = None;
        for member in field::members(headers, &field_name) {
            if let Some((weight, version)) = versioned(member, name)
                && weight.is_acceptable()
                && best.is_none_or(|(most, _)| weight > most)
            {
                best = Some((weight, version));
            }
        }
        if let Some((_, version)) = best {
            return Asked::In(field_name, version);
        }
    }
    Asked::Nothing
}

/// Weight and version of a media range; `None` if the range lacks the version parameter or is
/// malformed.
fn versioned(member: &[u8], name: &str) -> Option<(Weight, Option<ApiVersion>)> {
    let (_, parameters) = field::split_once(member, b';');
    let (mut weight, mut version) = (Weight::FULL, None);
    for part in field::split(parameters?, b';') {
        let (there, raw) = field::parameter(part)?;
        if there.eq_ignore_ascii_case(b"q") {
            weight = Weight::parse(raw)?;
        } else if there.eq_ignore_ascii_case(name.as_bytes()) {
            let text: Vec<u8> = field::unquoted(raw).collect();
            version = Some(std::str::from_utf8(&text).ok().and_then(|text| text.parse().ok()));
        }
    }
    version.map(|version| (weight, version))
}
