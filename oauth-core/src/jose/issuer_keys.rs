//! Verification keys of an issuer: pinned by the host, or fetched by a JWKS client.

use std::time::SystemTime;

use super::jwt::JwtError;
use super::key_set::KeySet;
use super::remote_key_set::{RemoteKeySet, VerifyError};

/// Verification keys of an issuer: a pinned key set, or a JWKS client.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub enum IssuerKeys {
    /// Pinned keys. The host replaces them when the issuer rotates its keys.
    Pinned(KeySet),
    /// Keys fetched from the issuer's JWKS.
    Published(RemoteKeySet),
}

impl IssuerKeys {
    /// Returns `true` for a pinned set without keys, which can verify no token.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::Pinned(keys) if keys.iter().next().is_none())
    }

    /// Like [`RemoteKeySet::verify`]. With pinned keys it completes without waiting.
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
