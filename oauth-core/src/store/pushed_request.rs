use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::{AuthorizationRequest, InteractionRecord};
use crate::secret::TokenHash;
use crate::time::later;

/// A pushed authorization request (PAR), [RFC 9126](https://www.rfc-editor.org/rfc/rfc9126), that
/// the server has checked.
///
/// Browsers may present its `request_uri` any number of times until it expires; each time starts an
/// interaction. The first completed interaction completes the pushed request. The record stays
/// until every interaction of the request has expired.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct PushedRequestRecord {
    /// Hash of the identifier in the `request_uri`.
    pub hash: TokenHash,
    /// Authorization request.
    pub request: AuthorizationRequest,
    /// Instant from which the `request_uri` is refused.
    pub expires_at: SystemTime,
    /// Instant from which the record may be deleted: all its interactions have expired by then.
    pub retain_until: SystemTime,
    /// `true` after one of its interactions was completed. This is the only field that changes.
    pub completed: bool,
}

impl PushedRequestRecord {
    /// Lifetime of a `request_uri`: 60 seconds.
    pub const LIFETIME: Duration = Duration::from_secs(60);

    /// Creates a request pushed at `pushed_at`. It expires after [`Self::LIFETIME`].
    #[must_use]
    pub fn new(hash: TokenHash, request: AuthorizationRequest, pushed_at: SystemTime) -> Self {
        let expires_at = later(pushed_at, Self::LIFETIME);
        Self {
            hash,
            request,
            expires_at,
            retain_until: later(expires_at, InteractionRecord::LIFETIME),
            completed: false,
        }
    }
}
