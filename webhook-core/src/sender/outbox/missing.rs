//! Deliveries of earlier events to an endpoint.

use std::time::SystemTime;

use super::Period;
use crate::event::EventId;

/// Arguments of [`Outbox::replay_missing`](super::Outbox::replay_missing).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MissingRequest {
    /// Period of the events' `created` times.
    pub created: Period,
    /// Last event of the previous call; `None` to start at the beginning.
    pub after: Option<EventPlace>,
    /// Maximum number of events to examine, which bounds the duration of the call. 0 examines none.
    pub limit: usize,
    /// Current time.
    pub now: SystemTime,
    /// If `true`, only count the missing deliveries.
    pub dry_run: bool,
}

/// Result of [`Outbox::replay_missing`](super::Outbox::replay_missing).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Missing {
    /// Number of deliveries that were created, or would be in a dry run.
    pub count: u64,
    /// Last event that was examined; pass it as `after` to continue. `None` at the end.
    pub next: Option<EventPlace>,
}

/// Position of an event in the order by creation time, then by id (bytewise).
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct EventPlace {
    /// `created` time of the event, as stored.
    pub created_at: SystemTime,
    /// Event id.
    pub id: EventId,
}
