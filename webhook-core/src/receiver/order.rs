//! Order of events: drops events that are older than the latest event of the same resource.
//!
//! Deliveries have no order: the retry of an old event may arrive after a newer event. If events
//! carry the whole state of their resource, a worker calls [`LatestSeen::advance`] before it
//! writes, with the version, the sequence number or the time of the event:
//!
//! ```
//! use webhook_core::memory::MemoryLatestSeen;
//! use webhook_core::receiver::{Advance, LatestSeen, Position, ResourceKey};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let seen = MemoryLatestSeen::default();
//! let charge = ResourceKey { source: "payments".into(), resource: "ch_1".parse()? };
//! assert_eq!(seen.advance(&charge, Position::from(2)).await?, Advance::Newer);
//! // drop it: the stored state is newer
//! assert_eq!(seen.advance(&charge, Position::from(1)).await?, Advance::Older);
//! // process it again, as after a crash
//! assert_eq!(seen.advance(&charge, Position::from(2)).await?, Advance::Same);
//! # Ok(())
//! # }
//! ```

use std::{fmt, str::FromStr, sync::Arc, time::SystemTime};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::ports::StoreError;

const MAX_LENGTH: usize = 255;

/// Store of the latest position of each resource.
///
/// `advance` and the work that follows are two writes. A worker that stalls between them can write
/// an old state over a newer one. To prevent this, do both in one transaction (`advance_in` of
/// `host-store-postgres` and `host-store-sqlite`).
///
/// # Contract
///
/// - [`advance`](Self::advance) is one atomic step and durable before it returns. Of any number of
///   concurrent calls for one resource and one position, in all processes, at most one returns
///   [`Advance::Newer`].
/// - The position of a resource never decreases. Only [`Advance::Newer`] writes.
/// - Keys are compared byte for byte, positions as unsigned 64-bit numbers.
///
/// The kit `latest_seen!` of `webhook-core-conformance` checks these rules.
#[async_trait]
pub trait LatestSeen: Send + Sync {
    /// Stores `position` for `resource` if the resource has no position yet or a lower one.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the result is unknown. The call may be retried; the retry returns
    /// [`Advance::Same`] if the first call was stored.
    async fn advance(&self, resource: &ResourceKey, position: Position) -> Result<Advance, StoreError>;
}

#[async_trait]
impl<S: LatestSeen + ?Sized> LatestSeen for Arc<S> {
    async fn advance(&self, resource: &ResourceKey, position: Position) -> Result<Advance, StoreError> {
        (**self).advance(resource, position).await
    }
}

/// Key of a resource over all senders. Two senders may use the same resource id.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct ResourceKey {
    /// Name of the sender, as given to [`Receiver::builder`](super::Receiver::builder).
    pub source: String,
    /// Identifier of the resource.
    pub resource: ResourceId,
}

/// Identifier of a resource that the host chooses, such as `charge/ch_1`.
///
/// It has 1 to 255 bytes of UTF-8 without NUL, so that every database can store it, and is compared
/// byte for byte. For longer names, pass a digest.
///
/// # Examples
///
/// ```
/// use webhook_core::receiver::ResourceId;
///
/// assert_eq!("charge/ch_1".parse::<ResourceId>().unwrap().as_str(), "charge/ch_1");
/// assert!("".parse::<ResourceId>().is_err());
/// assert!("x".repeat(256).parse::<ResourceId>().is_err());
/// ```
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String")]
pub struct ResourceId(Box<str>);

impl ResourceId {
    /// The identifier as text, for a store.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ResourceId {
    type Err = InvalidResourceId;

    fn from_str(text: &str) -> Result<Self, InvalidResourceId> {
        if (1..=MAX_LENGTH).contains(&text.len()) && !text.contains('\0') {
            Ok(Self(text.into()))
        } else {
            Err(InvalidResourceId(()))
        }
    }
}

impl TryFrom<String> for ResourceId {
    type Error = InvalidResourceId;

    fn try_from(text: String) -> Result<Self, InvalidResourceId> {
        text.parse()
    }
}

impl fmt::Display for ResourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Error: a resource id is empty, longer than 255 bytes, or contains NUL.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a resource id is 1 to 255 bytes without NUL")]
pub struct InvalidResourceId(());

/// Position of a resource: a version, a sequence number or a time.
///
/// Use one of the three for all events of a resource.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Position(u64);

impl Position {
    /// The position as a number, for a store.
    #[must_use]
    pub fn as_u64(self) -> u64 {
        self.0
    }
}

impl From<u64> for Position {
    fn from(number: u64) -> Self {
        Self(number)
    }
}

impl From<SystemTime> for Position {
    /// Nanoseconds since 1970. Times out of range become the nearest limit.
    ///
    /// [`Envelope::created`](crate::event::Envelope::created) has whole seconds, so two changes
    /// within one second are [`Advance::Same`] and their order is undefined. Prefer a version if
    /// events have one.
    fn from(time: SystemTime) -> Self {
        let since_1970 = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self(u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX))
    }
}

/// Position of an event relative to the latest position of its resource.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Advance {
    /// The event is newer than all seen before, or the first. Process it.
    Newer,
    /// The event has the latest position. Process it again: the worker that got
    /// [`Newer`](Self::Newer) may have crashed before its work.
    Same,
    /// The event is older. Do not process it.
    Older,
}

impl Advance {
    /// Compares `position` with the stored position `latest`.
    #[must_use]
    pub fn compare(latest: Option<Position>, position: Position) -> Self {
        match latest {
            Some(latest) if position < latest => Self::Older,
            Some(latest) if position == latest => Self::Same,
            _ => Self::Newer,
        }
    }
}
