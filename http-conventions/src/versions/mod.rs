//! Versions: the version of a request, deprecation and sunset, compatible changes of a schema.
//!
//! # The version of a request
//!
//! Versions of an API: which one a request asks for, whether there is one, and what becomes of it.
//!
//! The version is in the path (`/v2/charges`) by default; a field, a parameter of the query or one of the media type are
//! alternatives. A version is a number or a date. Of dates the latest on or before the one that is asked for answers, so that
//! an account pinned to the day it began gets what was current then.
//!
//! ```
//! use std::time::SystemTime;
//!
//! use http::{HeaderMap, Uri};
//! use http_conventions::versions::{Lifecycle, VersionScheme, Versions};
//!
//! let now = SystemTime::UNIX_EPOCH;
//! let old = Lifecycle::deprecated(now).with_successor("/v2".parse()?);
//! let versions = Versions::new(VersionScheme::Path, [("1".parse()?, old), ("2".parse()?, Lifecycle::default())])?;
//!
//! let asked = Uri::from_static("/v1/charges?limit=2");
//! let resolved = versions.resolve(&asked, &HeaderMap::new(), None, now)?;
//! assert_eq!((resolved.version().to_string().as_str(), resolved.path()), ("1", "/charges"));
//!
//! let mut answer = HeaderMap::new();
//! resolved.apply(&mut answer);
//! assert_eq!(answer["deprecation"], "@0");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Deprecation and sunset
//!
//! What becomes of a resource or a version: `Deprecation` ([RFC 9745](https://www.rfc-editor.org/rfc/rfc9745)) and `Sunset`
//! ([RFC 8594](https://www.rfc-editor.org/rfc/rfc8594)).
//!
//! ```
//! use std::time::{Duration, SystemTime};
//!
//! use http::HeaderMap;
//! use http_conventions::versions::{Lifecycle, Stage};
//!
//! let deprecated_at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_688_169_599);
//! let sunset_at = deprecated_at + Duration::from_secs(365 * 86_400);
//! let lifecycle = Lifecycle::deprecated(deprecated_at).with_sunset(sunset_at)?.with_successor("/v2/charges".parse()?);
//!
//! let mut headers = HeaderMap::new();
//! lifecycle.apply(&mut headers);
//! assert_eq!(headers["deprecation"], "@1688169599");
//! assert_eq!(headers["sunset"], "Sat, 29 Jun 2024 23:59:59 GMT");
//! assert_eq!(headers["link"], "</v2/charges>; rel=\"successor-version\"");
//! assert_eq!(lifecycle.stage(sunset_at), Stage::Sunset);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod additive;
pub(crate) mod lifecycle;
pub(crate) mod version;

pub use self::{
    lifecycle::{DEPRECATION, Lifecycle, SUNSET, Stage, SunsetTooEarly},
    version::{
        ApiVersion, InvalidApiVersion, InvalidVersions, Resolved, VersionError, VersionMistake,
        VersionScheme, Versions,
    },
};
