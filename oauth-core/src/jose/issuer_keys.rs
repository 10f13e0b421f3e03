//! The keys of an issuer, wherever they come from.

use std::time::SystemTime;

use super::jwt::JwtError;
use super::key_set::KeySet;
use super::remote_key_set::{RemoteKeySet, VerifyError};

/// The keys that tokens of an issuer are verified with.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub enum IssuerKeys {
    /// Known beforehand; after the issuer has rotated its own, the host replaces them.
    Pinned(KeySet),
    /// Fetched from where the issuer publishes them.
    Published(RemoteKeySet),
}

impl IssuerKeys {
    /// Whether no token can be verified, now or later.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::Pinned(keys) if keys.iter().next().is_none())
    }

    /// As [`RemoteKeySet::verify`]; waits for nothing where the keys are pinned.
    pub(crate) async fn verify<T>(
        &self,
        check: impl Fn(&KeySet) -> Result<T, JwtError>,
        now: SystemTime,
    ) -> Result<T, VerifyError> {
        match self {
            Self::Pinned(keys) => check(keys).map_err(VerifyError::Refused),
            Self::Published(keys) => keys.verify(check, now).await,
        }
    }
}

impl From<KeySet> for IssuerKeys {
    fn from(keys: KeySet) -> Self {
        Self::Pinned(keys)
    }
}

impl From<RemoteKeySet> for IssuerKeys {
    fn from(keys: RemoteKeySet) -> Self {
        Self::Published(keys)
    }
}
