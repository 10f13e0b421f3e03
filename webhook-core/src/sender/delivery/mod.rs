//! Deliveries: one event for one endpoint, its state table, and the changes that a store writes.
//!
//! [`DeliveryState::after`] is the state table. The changes of a delivery are pure functions:
//! [`Delivery::lease`], [`Delivery::settle`], [`Delivery::free`], [`Delivery::pull_forward`],
//! [`Delivery::replay`] and [`Delivery::resend`]. A store loads the row, calls one of them, and
//! writes the row back in the same transaction, so that no SQL query repeats a rule.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use webhook_core::sender::{Delivery, DeliveryId, DeliveryState, Lease, LeaseRequest};
//!
//! let now = SystemTime::UNIX_EPOCH;
//! let id = DeliveryId { event: "evt_1".parse()?, endpoint: "ep_1".parse()? };
//! let mut delivery = Delivery::new(id, now);
//! assert_eq!(delivery.state, DeliveryState::Ready);
//!
//! // no other dispatcher can lease it before the lease has ended
//! let until = now + Duration::from_secs(40);
//! let request = LeaseRequest {
//!     now,
//!     until,
//!     ..LeaseRequest::new(now, 1)
//! };
//! assert_eq!(delivery.lease(&request), Lease::Taken);
//! assert_eq!(delivery.lease(&request), Lease::Refused);
//! let request = LeaseRequest { now: until, until: until + Duration::from_secs(40), ..request };
//! assert_eq!(delivery.lease(&request), Lease::Taken);
//! assert_eq!((delivery.fence, delivery.crashes), (2, 1));
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

mod settlement;
mod state;

use std::{fmt, time::SystemTime};

pub use settlement::{Disposition, FailureReason, Receipt, Settled, Settlement};
pub use state::{DeliveryState, Step};

use super::{Departure, EndpointId, InstanceId, LeaseRequest};
use crate::event::EventId;

/// Identifier of a delivery. There is exactly one delivery per event and endpoint.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct DeliveryId {
    /// Event to deliver.
    pub event: EventId,
    /// Endpoint that receives it.
    pub endpoint: EndpointId,
}

impl fmt::Display for DeliveryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.event, self.endpoint)
    }
}

/// Row of the outbox: the progress of one event towards one endpoint.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Delivery {
    /// Primary key.
    pub id: DeliveryId,
    /// State of the delivery.
    pub state: DeliveryState,
    /// Earliest time of the next lease; for a leased delivery, the end of the lease.
    ///
    /// It has no meaning in a final state.
    pub due_at: SystemTime,
    /// Number of attempts since `started_at` that count against the schedule.
    pub attempts: u32,
    /// Fencing token: the number of the latest lease, 0 before the first.
    ///
    /// It grows by one with each lease and is never reset.
    pub fence: u64,
    /// Instance that holds the lease. `None` if the delivery is not leased, or if the lease has no
    /// owner and ends at `due_at`.
    pub owner: Option<InstanceId>,
    /// Time of acceptance or of the latest replay. The lifetime starts here.
    pub started_at: SystemTime,
    /// Reason of the failure, in the two failed states.
    pub reason: Option<FailureReason>,
    /// Number of consecutive leases that ended without a settlement, because the dispatcher crashed
    /// or could not write.
    pub crashes: u32,
}

/// Number of lost leases from which a delivery is a suspect.
///
/// With fewer, the crashes may be caused by another delivery of the same dispatcher.
const SUSPECT: u32 = 2;

/// Result of [`Delivery::lease`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Lease {
    /// The delivery is leased under the next fencing token.
    Taken,
    /// Too many consecutive leases were lost. The delivery is now a dead letter, so that it crashes
    /// no further dispatcher.
    Quarantined,
    /// The delivery is final or not due yet. Nothing changed.
    Refused,
}

impl Delivery {
    /// Creates a delivery that is due at `now`.
    #[must_use]
    pub const fn new(id: DeliveryId, now: SystemTime) -> Self {
        Self {
            id,
            state: DeliveryState::Ready,
            due_at: now,
            attempts: 0,
            fence: 0,
            owner: None,
            started_at: now,
            reason: None,
            crashes: 0,
        }
    }

    /// Leases the delivery to `request.owner` until `request.until`, under the next fencing token.
    ///
    /// - The delivery can be leased from the instant `due_at` on. A lease is over at the instant
    ///   `until`.
    /// - A lease with an owner has no end in time: its `until` is [`LeaseRequest::until_freed`].
    /// - A previous lease that was not settled counts as lost. The delivery is quarantined when
    ///   `request.quarantine_after` consecutive leases were lost.
    pub fn lease(&mut self, request: &LeaseRequest) -> Lease {
        let Some(state) = self
            .state
            .after(Step::Lease)
            .filter(|_| self.due_at <= request.now)
        else {
            return Lease::Refused;
        };
        if self.state == DeliveryState::Leased {
            self.crashes = self.crashes.saturating_add(1);
            if self.crashes >= request.quarantine_after {
                self.state = DeliveryState::DeadLetter;
                self.reason = Some(FailureReason::Quarantined);
                self.owner = None;
                return Lease::Quarantined;
            }
        }
        self.state = state;
        self.due_at = request.until;
        self.owner = request.owner;
        self.fence = self.fence.saturating_add(1);
        Lease::Taken
    }

    /// Frees the lease of `owner`, an instance that has left the outbox. The delivery is then due
    /// at once: its `due_at` is `started_at`, or `now` if that is earlier.
    ///
    /// - After [`Departure::Stopped`] the state is `RetryScheduled`, and the lease does not count
    ///   as lost.
    /// - After [`Departure::Silent`] the state stays `Leased`, so that the next lease counts this
    ///   one as lost.
    ///
    /// Returns `false` and changes nothing if `owner` does not hold the delivery.
    pub fn free(&mut self, owner: InstanceId, departure: Departure, now: SystemTime) -> bool {
        if self.state != DeliveryState::Leased || self.owner != Some(owner) {
            return false;
        }
        if let Some(state) = self
            .state
            .after(Step::Hold)
            .filter(|_| departure == Departure::Stopped)
        {
            self.state = state;
        }
        self.owner = None;
        // not `now` alone: the caller's clock may be ahead of the clock of the next dispatcher
        self.due_at = now.min(self.started_at);
        true
    }

    /// Makes a delivery that was never attempted due at `now`, if it is due later.
    ///
    /// Such a delivery was accepted by a host whose clock was ahead, or before the clock was set
    /// back. Returns `false` and changes nothing for any other delivery.
    pub fn pull_forward(&mut self, now: SystemTime) -> bool {
        if self.state != DeliveryState::Ready || self.due_at <= now {
            return false;
        }
        self.due_at = now;
        true
    }

    /// Marks a delivery as a dead letter because the store cannot read the rest of its row, or its
    /// event.
    #[must_use]
    pub fn unreadable(self) -> Self {
        Self {
            state: DeliveryState::DeadLetter,
            reason: Some(FailureReason::Unreadable),
            owner: None,
            ..self
        }
    }

    /// Returns `true` if at least two consecutive leases before the present one were lost.
    ///
    /// When a dispatcher crashes, all deliveries that it holds lose their leases, not only the one
    /// that caused the crash. So a dispatcher holds one suspect at a time, beside deliveries that
    /// are not suspects. From the third lost lease on, each crash counts against a single suspect.
    /// A delivery that did not cause the crashes is settled at its next lease, which resets its
    /// count.
    #[must_use]
    pub const fn is_suspect(&self) -> bool {
        self.crashes >= SUSPECT
    }

    /// Returns `true` if the next lease of this delivery makes it a [suspect](Self::is_suspect): it
    /// is `Leased` and has lost at least one lease before.
    #[must_use]
    pub fn becomes_suspect(&self) -> bool {
        self.state == DeliveryState::Leased && self.crashes.saturating_add(1) >= SUSPECT
    }

    /// Returns `true` if the delivery is leased and its lease has ended at `now`.
    ///
    /// From this instant on another dispatcher can lease it.
    #[must_use]
    pub fn lease_is_over(&self, now: SystemTime) -> bool {
        self.state == DeliveryState::Leased && self.due_at <= now
    }

    /// Applies the outcome of a lease, and resets the count of lost leases.
    ///
    /// - The settlement must have the latest fencing token and the present owner. Otherwise the
    ///   result is [`Settled::Stale`] and nothing changes.
    /// - Exception: an acknowledgement (2xx) counts under every token that was issued, while the
    ///   delivery is not final. The result is then [`Settled::Late`].
    pub fn settle(&mut self, settlement: &Settlement) -> Settled {
        if settlement.delivery != self.id {
            return Settled::Unknown;
        }
        let holds = settlement.fence == self.fence && settlement.owner == self.owner;
        let current = self.state == DeliveryState::Leased && holds;
        // a token that was never issued proves nothing
        let issued = (1..=self.fence).contains(&settlement.fence);
        let acknowledged = settlement.disposition == Disposition::Acked;
        let counts = current || (issued && acknowledged);
        let Some(state) = self.state.after(settlement.disposition.step()).filter(|_| counts) else {
            return Settled::Stale;
        };
        self.state = state;
        self.owner = None;
        self.crashes = 0;
        self.attempts = self.attempts.saturating_add(u32::from(settlement.spent));
        match settlement.disposition {
            Disposition::Acked => {}
            Disposition::Retry { due_at } | Disposition::Held { due_at } => self.due_at = due_at,
            Disposition::Failed(reason) => self.reason = Some(reason),
        }
        if current { Settled::Applied } else { Settled::Late }
    }

    /// Restarts a failed delivery with its whole schedule, due at `now`.
    ///
    /// Returns `false` and changes nothing in every other state. The event id stays the same: a
    /// receiver that still remembers the id responds with 2xx without processing the event again.
    pub fn replay(&mut self, now: SystemTime) -> bool {
        self.restart(Step::Replay, now)
    }

    /// Restarts a final delivery with its whole schedule, due at `now`, also if it was
    /// acknowledged: the receiver has lost the event, or wants it again.
    ///
    /// Returns `false` and changes nothing in every other state. The event id stays the same, as
    /// for [`replay`](Self::replay).
    pub fn resend(&mut self, now: SystemTime) -> bool {
        self.restart(Step::Resend, now)
    }

    fn restart(&mut self, step: Step, now: SystemTime) -> bool {
        let Some(state) = self.state.after(step) else {
            return false;
        };
        self.state = state;
        self.due_at = now;
        self.attempts = 0;
        self.started_at = now;
        self.reason = None;
        self.crashes = 0;
        true
    }
}

#[cfg(test)]
mod tests;
