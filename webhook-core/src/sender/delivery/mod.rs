//! One delivery: an event on its way to one endpoint, and the only table of what may become of it.
//!
//! [`DeliveryState::after`] is the total table; [`Delivery::lease`], [`Delivery::settle`] and [`Delivery::replay`] are the three
//! writes that a store performs, as pure functions over the row. A store loads the row, calls one of them, and writes the row
//! back in the same transaction, so no rule is repeated in a query.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use webhook_core::sender::{Delivery, DeliveryId, DeliveryState};
//!
//! let now = SystemTime::UNIX_EPOCH;
//! let id = DeliveryId { event: "evt_1".parse()?, endpoint: "ep_1".parse()? };
//! let mut delivery = Delivery::new(id, now);
//! assert_eq!(delivery.state, DeliveryState::Ready);
//!
//! // leased once: nobody else gets it before the lease is over
//! let until = now + Duration::from_secs(40);
//! assert!(delivery.lease(now, until));
//! assert!(!delivery.lease(now, until));
//! assert!(delivery.lease(until, until + Duration::from_secs(40)));
//! assert_eq!(delivery.fence, 2);
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

mod settlement;
mod state;

use std::{fmt, time::SystemTime};

pub use settlement::{Disposition, FailureReason, Settled, Settlement};
pub use state::{DeliveryState, Step};

use super::EndpointId;
use crate::event::EventId;

/// Which delivery: there is exactly one per event and endpoint.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct DeliveryId {
    /// What is delivered.
    pub event: EventId,
    /// To whom.
    pub endpoint: EndpointId,
}

impl fmt::Display for DeliveryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.event, self.endpoint)
    }
}

/// One row: how far an event has come on its way to one endpoint.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Delivery {
    /// The key.
    pub id: DeliveryId,
    /// Where it stands.
    pub state: DeliveryState,
    /// From when it may be leased. While it is leased this is the end of the lease; once it is over it means nothing.
    pub due_at: SystemTime,
    /// How many attempts of the schedule are spent since `started_at`.
    pub attempts: u32,
    /// The number of the latest lease. Grows by one with each and is never reset; zero before the first.
    pub fence: u64,
    /// When it was accepted or last replayed: the message's lifetime counts from here.
    pub started_at: SystemTime,
    /// Why it failed, in the two failed states.
    pub reason: Option<FailureReason>,
}

impl Delivery {
    /// A delivery that is due at once.
    #[must_use]
    pub const fn new(id: DeliveryId, now: SystemTime) -> Self {
        Self {
            id,
            state: DeliveryState::Ready,
            due_at: now,
            attempts: 0,
            fence: 0,
            started_at: now,
            reason: None,
        }
    }

    /// Takes the lease until `until`, under the next fence. `false`, and no change, when it is over or not due yet.
    ///
    /// A delivery is due at the very instant `due_at`, and a lease is over at the very instant it ends.
    pub fn lease(&mut self, now: SystemTime, until: SystemTime) -> bool {
        match self.state.after(Step::Lease) {
            Some(state) if self.due_at <= now => {
                self.state = state;
                self.due_at = until;
                self.fence = self.fence.saturating_add(1);
                true
            }
            _ => false,
        }
    }

    /// Writes the outcome of a lease, if its fence is still the latest; a 2xx counts as long as the delivery is live.
    pub fn settle(&mut self, settlement: &Settlement) -> Settled {
        if settlement.delivery != self.id {
            return Settled::Unknown;
        }
        let current = self.state == DeliveryState::Leased && settlement.fence == self.fence;
        // a fence that was never handed out proves nothing
        let issued = (1..=self.fence).contains(&settlement.fence);
        let acknowledged = settlement.disposition == Disposition::Acked;
        let counts = current || (issued && acknowledged);
        let Some(state) = self.state.after(settlement.disposition.step()).filter(|_| counts) else {
            return Settled::Stale;
        };
        self.state = state;
        self.attempts = self.attempts.saturating_add(u32::from(settlement.spent));
        match settlement.disposition {
            Disposition::Acked => {}
            Disposition::Retry { due_at } | Disposition::Held { due_at } => self.due_at = due_at,
            Disposition::Failed(reason) => self.reason = Some(reason),
        }
        if current { Settled::Applied } else { Settled::Late }
    }

    /// Starts a failed delivery anew with its whole schedule, due at once. `false`, and no change, in every other state.
    ///
    /// The event's id stays the same: a receiver that processed it and remembers will answer 2xx without processing it again.
    pub fn replay(&mut self, now: SystemTime) -> bool {
        let Some(state) = self.state.after(Step::Replay) else {
            return false;
        };
        self.state = state;
        self.due_at = now;
        self.attempts = 0;
        self.started_at = now;
        self.reason = None;
        true
    }
}

#[cfg(test)]
mod tests;
