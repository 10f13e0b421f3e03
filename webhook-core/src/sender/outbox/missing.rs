//! Events that an endpoint never got a delivery of.

use std::time::SystemTime;

use super::Period;
use crate::event::EventId;

/// Which events to look at for what an endpoint lacks, and what to do then.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MissingRequest {
    /// Only events that say they were created in this.
    pub created: Period,
    /// Only what comes after this event; `None` from the beginning.
    pub after: Option<EventPlace>,
    /// How many events are looked at, wanted or not: no call takes longer than that. A zero looks at none.
    pub limit: usize,
    /// The present.
    pub now: SystemTime,
    /// Only count the deliveries that would be made.
    pub dry_run: bool,
}

/// What was missing among the events that were looked at.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Missing {
    /// How many deliveries were made, or would be.
    pub count: u64,
    /// The last event that was looked at: go on after it. `None` when there was none left to look at.
    pub next: Option<EventPlace>,
}

/// Where an event stands among all events: in the order of creation, then of the id (bytewise).
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct EventPlace {
    /// When it says it was created, as the store gives it back.
    pub created_at: SystemTime,
    /// Which it is.
    pub id: EventId,
}
