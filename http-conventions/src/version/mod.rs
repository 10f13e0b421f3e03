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
//! use http_conventions::{lifecycle::Lifecycle, version::{VersionScheme, Versions}};
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

mod api_version;
mod refused;
mod resolve;
mod versions;

pub use self::{
    api_version::{ApiVersion, InvalidApiVersion},
    refused::VersionError,
    resolve::Resolved,
    versions::{InvalidVersions, VersionMistake, VersionScheme, Versions},
};
