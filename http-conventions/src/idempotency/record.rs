//! What a store keeps for a key.
//!
//! The records implement `serde`'s traits, so that a store can keep one as a single value.

use std::{fmt, time::SystemTime};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{Fingerprint, RecordKey};
use crate::byte_strings::{base64url, byte_string, header_pairs};

byte_string! {
    /// Tells one holder of a key from every other, past and future: 128 bits, compared for equality only.
    #[derive(Clone, Copy, Eq, Hash, PartialEq)]
    pub struct Fence(16);
}

/// Everything a store keeps for one key.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "stores in other crates build it from their columns"
)]
pub struct Record {
    /// The request that claimed the key.
    pub fingerprint: Fingerprint,
    /// How far it got.
    pub state: State,
    /// From this instant on the record does not exist.
    pub expires_at: SystemTime,
}

/// How far the request that claimed a key got.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(clippy::exhaustive_enums, reason = "stores in other crates map every state")]
pub enum State {
    /// Its handler runs, or broke off.
    InFlight {
        /// Who holds the key.
        fence: Fence,
        /// From this instant on the holder counts as broken off.
        lease_until: SystemTime,
    },
    /// It is over.
    Settled(RequestOutcome),
}

/// Outcome of a request with a key, as it is stored.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(clippy::exhaustive_enums, reason = "stores in other crates map every outcome")]
pub enum RequestOutcome {
    /// With this answer, which is sent again.
    Completed(StoredResponse),
    /// With an answer that was not kept: too large, or with a secret that is shown once.
    Unreplayable {
        /// The status of that answer.
        status: u16,
    },
    /// Nobody knows how.
    Indeterminate,
}

/// An answer as a store keeps it.
///
/// `Debug` shows no header value and no body: either may hold a secret that is shown once.
#[derive(Clone, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "stores in other crates build it from their columns"
)]
pub struct StoredResponse {
    /// The status code.
    pub status: u16,
    /// The field lines in their order: lowercase name and value, which is bytes.
    #[serde(with = "header_pairs")]
    pub headers: Vec<(String, Bytes)>,
    /// The body.
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

/// What to do with a key whose first request broke off: its process died, its handler panicked or was dropped.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a crash either may or may not be followed by a second run"
)]
pub enum AfterCrash {
    /// Never run it again: the outcome is unknown, and the client is told so.
    #[default]
    Refuse,
    /// Run it again. Right where the handler itself is idempotent, for instance one database transaction.
    RunAgain,
}

/// One attempt to become the holder of a key.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Claim {
    /// The record in question.
    pub key: RecordKey,
    /// The request that wants to run.
    pub fingerprint: Fingerprint,
    /// What will tell this holder from others.
    pub fence: Fence,
    /// When this holder will count as broken off.
    pub lease_until: SystemTime,
    /// When the record will be forgotten.
    pub expires_at: SystemTime,
    /// What a lease that ended means.
    pub after_crash: AfterCrash,
}

impl Claim {
    /// A claim; [`AfterCrash::Refuse`] unless said otherwise.
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
        }
    }

    /// With this meaning of a lease that ended.
    #[must_use]
    pub fn with_after_crash(mut self, after_crash: AfterCrash) -> Self {
        self.after_crash = after_crash;
        self
    }

    /// The record to write when the claim is granted.
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
