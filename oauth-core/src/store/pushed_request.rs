use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::{AuthorizationRequest, InteractionRecord};
use crate::secret::TokenHash;
use crate::time::later;

/// A checked request that its client has pushed, [RFC 9126](https://www.rfc-editor.org/rfc/rfc9126).
///
/// Browsers may bring its name as often as they like while it is fresh; the first sign-in that is answered completes it.
/// It stays until no sign-in that it began can be answered any more.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct PushedRequestRecord {
    /// The hash of the name in its `request_uri`.
    pub hash: TokenHash,
    /// What is asked for, and by which client.
    pub request: AuthorizationRequest,
    /// The instant from which it begins no sign-in.
    pub expires_at: SystemTime,
    /// The instant from which it may be forgotten.
    pub retain_until: SystemTime,
    /// Whether one of its sign-ins was answered. The only field that changes.
    pub completed: bool,
}

impl PushedRequestRecord {
    /// How long its client may take to send the user along.
    pub const LIFETIME: Duration = Duration::from_secs(60);

    /// A fresh one of this hash, pushed at `pushed_at`: good for sixty seconds.
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
