//! Records that a store keeps for idempotency keys.
//!
//! The records implement `Serialize` and `Deserialize`, so that a store can keep a record as one
//! value.

use std::{fmt, time::SystemTime};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{Fingerprint, RecordKey};
use crate::byte_strings::{base64url, byte_string, header_pairs};

byte_string! {
    /// Fencing token: 128 bits that identify one holder of a key. Compared for equality only.
    #[derive(Clone, Copy, Eq, Hash, PartialEq)]
    pub struct Fence(16);
}

/// Record of one key.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "stores in other crates build it from their columns"
)]
pub struct Record {
    /// Fingerprint of the request that claimed the key.
    pub fingerprint: Fingerprint,
    /// Progress of that request.
    pub state: State,
    /// Expiry: at and after this instant the record counts as absent.
    pub expires_at: SystemTime,
}

/// Progress of the request that claimed a key.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(clippy::exhaustive_enums, reason = "stores in other crates map every state")]
pub enum State {
    /// The handler is running, or it crashed.
    InFlight {
        /// Fencing token of the holder.
        fence: Fence,
        /// Expiry of the lease: at and after this instant the holder counts as crashed.
        lease_until: SystemTime,
    },
    /// The request has an outcome, which does not change.
    Settled(RequestOutcome),
}

/// Stored outcome of a request.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(clippy::exhaustive_enums, reason = "stores in other crates map every outcome")]
pub enum RequestOutcome {
    /// The request completed. A retry gets the stored response.
    Completed(StoredResponse),
    /// The request completed, and its response is not stored: it is too large, or it contains a
    /// secret that may be sent only once.
    Unreplayable {
        /// Status of the response.
        status: u16,
    },
    /// The request may or may not have taken effect, for example because its handler crashed.
    Indeterminate,
}

/// Stored response.
///
/// # Security
///
/// `Debug` hides header values and body, because they may contain a secret.
#[derive(Clone, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "stores in other crates build it from their columns"
)]
pub struct StoredResponse {
    /// Status code.
    pub status: u16,
    /// Field lines in order: lower-case name, and value in bytes.
    #[serde(with = "header_pairs")]
    pub headers: Vec<(String, Bytes)>,
    /// Content of the response.
    #[serde(with = "base64url")]
    pub body: Bytes,
}

impl fmt::Debug for StoredResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("StoredResponse")
            .field("status", &self.status)
            .field("headers", &names)
            .field("body", &format_args!("{} bytes", self.body.len()))
            .finish()
    }
}

/// Behaviour for a key whose first request crashed: its process died, or its handler panicked or
/// was dropped.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a crash either may or may not be followed by a second run"
)]
pub enum AfterCrash {
    /// Never run the request again: the client gets 409 `idempotency-outcome-unknown`.
    #[default]
    Refuse,
    /// Run the request again. Safe only if the handler is idempotent, for example one database
    /// transaction.
    RunAgain,
}

/// Claim of a request on a key: the argument of
/// [`IdempotencyStore::claim`](super::IdempotencyStore::claim).
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Claim {
    /// Key of the record.
    pub key: RecordKey,
    /// Fingerprint of the request.
    pub fingerprint: Fingerprint,
    /// Fencing token of the request that makes the claim.
    pub fence: Fence,
    /// Expiry of the lease.
    pub lease_until: SystemTime,
    /// Expiry of the record.
    pub expires_at: SystemTime,
    /// Behaviour for a lease that expired.
    pub after_crash: AfterCrash,
    /// `false` if a crash of the store may lose the record. This is safe if the same crash loses
    /// all effects of the request. The store then need not wait for its disk.
    pub is_durable: bool,
}

impl Claim {
    /// Creates a durable claim with [`AfterCrash::Refuse`].
    #[must_use]
    pub fn new(
        key: RecordKey,
        fingerprint: Fingerprint,
        fence: Fence,
        lease_until: SystemTime,
        expires_at: SystemTime,
    ) -> Self {
        Self {
            key,
            fingerprint,
            fence,
            lease_until,
            expires_at,
            after_crash: AfterCrash::default(),
            is_durable: true,
        }
    }

    /// Sets the behaviour for a lease that expired.
    #[must_use]
    pub fn with_after_crash(mut self, after_crash: AfterCrash) -> Self {
        self.after_crash = after_crash;
        self
    }

    /// Allows the store to lose the record in a crash.
    #[must_use]
    pub fn without_durability(mut self) -> Self {
        self.is_durable = false;
        self
    }

    /// Creates the record to store if the claim is granted.
    #[must_use]
    pub fn record(&self) -> Record {
        Record {
            fingerprint: self.fingerprint,
            state: State::InFlight {
                fence: self.fence,
                lease_until: self.lease_until,
            },
            expires_at: self.expires_at,
        }
    }
}
