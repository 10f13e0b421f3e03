//! Versions: the version of a request, deprecation and sunset, compatible changes of a schema.
//!
//! # Version of a request
//!
//! [`Versions`] resolves the version that a request names, and applies its [`Lifecycle`] to the
//! response.
//!
//! The version is in the path (`/v2/charges`), in a header field, in a query parameter or in a
//! parameter of the media type. It is a number or a date. A date resolves to the latest version on
//! or before it: an account that is pinned to the date of its registration keeps the version of
//! that date.
//!
//! ```
//! use std::time::SystemTime;
//!
//! use http::{HeaderMap, Uri};
//! use http_conventions::versions::{Lifecycle, VersionScheme, Versions};
//!
//! let now = SystemTime::UNIX_EPOCH;
//! let old = Lifecycle::deprecated(now).with_successor("/v2".parse()?);
//! let versions = Versions::new(
//!     VersionScheme::Path,
//!     [("1".parse()?, old), ("2".parse()?, Lifecycle::default())],
//! )?;
//!
//! let asked = Uri::from_static("/v1/charges?limit=2");
//! let resolved = versions.resolve(&asked, &HeaderMap::new(), None, now)?;
//! assert_eq!(
//!     (resolved.version().to_string().as_str(), resolved.path()),
//!     ("1", "/charges")
//! );
//!
//! let mut answer = HeaderMap::new();
//! resolved.apply(&mut answer);
//! assert_eq!(answer["deprecation"], "@0");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Deprecation and sunset
//!
//! Lifecycle of a resource or version: `Deprecation` ([RFC
//! 9745](https://www.rfc-editor.org/rfc/rfc9745)) and `Sunset` ([RFC
//! 8594](https://www.rfc-editor.org/rfc/rfc8594)).
//!
//! ```
//! use std::time::{Duration, SystemTime};
//!
//! use http::HeaderMap;
//! use http_conventions::versions::{Lifecycle, Stage};
//!
//! let deprecated_at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_688_169_599);
//! let sunset_at = deprecated_at + Duration::from_secs(365 * 86_400);
//! let lifecycle = Lifecycle::deprecated(deprecated_at)
//!     .with_sunset(sunset_at)?
//!     .with_successor("/v2/charges".parse()?);
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
