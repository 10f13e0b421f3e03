//! Order, which deliveries do not have: dropping what is older than what was seen of the same resource.
//!
//! A retry of yesterday's event may arrive after today's. Where an event carries the whole state of its resource, the worker
//! asks before it writes, by the version, the sequence number or the time that the event bears:
//!
//! ```
//! use webhook_core::{memory::MemoryLatestSeen, receiver::{Advance, LatestSeen, Position, ResourceKey}};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let seen = MemoryLatestSeen::default();
//! let charge = ResourceKey { source: "payments".into(), resource: "ch_1".parse()? };
//! assert_eq!(seen.advance(&charge, Position::from(2)).await?, Advance::Newer);
//! assert_eq!(seen.advance(&charge, Position::from(1)).await?, Advance::Older); // drop it: a newer state is known
//! assert_eq!(seen.advance(&charge, Position::from(2)).await?, Advance::Same); // after a crash: do the work again
//! # Ok(())
//! # }
//! ```

use std::{fmt, str::FromStr, sync::Arc, time::SystemTime};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::ports::StoreError;

const MAX_LENGTH: usize = 255;

/// Remembers how far each resource has come.
///
/// The step and the work that follows it are two writes. A worker that stands still in between can still write an old state
/// over a newer one; where that matters, do both in one transaction, as SQL stores of this port let you.
///
/// # What an implementation must guarantee
///
/// - [`advance`](Self::advance) is one atomic step, durable before it answers. Of any number of simultaneous calls for one
///   resource and one position, over all processes, at most one is [`Advance::Newer`].
/// - The position of a resource only grows. Only [`Advance::Newer`] writes anything.
/// - Keys are compared byte for byte, and positions as unsigned numbers of 64 bits.
#[async_trait]
pub trait LatestSeen: Send + Sync {
    /// Moves `resource` to `position` if it has not come as far.
    ///
    /// # Errors
    ///
    /// When the store cannot say what happened. May be repeated: it is then [`Advance::Same`] if it had happened.
    async fn advance(&self, resource: &ResourceKey, position: Position) -> Result<Advance, StoreError>;
}

#[async_trait]
impl<S: LatestSeen + ?Sized> LatestSeen for Arc<S> {
    async fn advance(&self, resource: &ResourceKey, position: Position) -> Result<Advance, StoreError> {
        (**self).advance(resource, position).await
    }
}

/// Identifies a resource among all senders: two of them may use one id.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct ResourceKey {
    /// The sender, by the name that the host gave to the [`Receiver`](super::Receiver).
    pub source: String,
    /// The resource.
    pub resource: ResourceId,
}

/// Identifies a resource of one sender by the name that the host gives it, such as `charge/ch_1`: 1 to 255 bytes of UTF-8
/// without NUL, which every database keeps. Compared byte for byte. A host with longer names passes a digest of them.
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
    /// The identifier as a text, for a store.
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

/// Not a resource id: empty, longer than 255 bytes, or with a NUL.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a resource id is 1 to 255 bytes without NUL")]
pub struct InvalidResourceId(());

/// How far a resource has come: a version, a sequence number or a time. All events of one resource must use the same.
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
    /// Nanoseconds since 1970; what is out of range becomes the nearest end.
    ///
    /// The `created` of an [`Envelope`](crate::event::Envelope) has whole seconds: two changes within one are
    /// [`Advance::Same`], and come in any order. Prefer a version where there is one.
    fn from(time: SystemTime) -> Self {
        let since_1970 = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self(u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX))
    }
}

/// Where an event stands to what was seen of its resource.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Advance {
    /// Further than anything seen, or the first: its work is to be done.
    Newer,
    /// As far as the furthest. Its work is to be done again: whoever was [`Newer`](Self::Newer) may have crashed before it.
    Same,
    /// Behind what was seen: its work must not be done.
    Older,
}

impl Advance {
    /// What moving from `latest`, if there is one, to `position` is.
    #[must_use]
    pub fn of(latest: Option<Position>, position: Position) -> Self {
        match latest {
            Some(latest) if position < latest => Self::Older,
            Some(latest) if position == latest => Self::Same,
            _ => Self::Newer,
        }
    }
}
