//! API versions.

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
