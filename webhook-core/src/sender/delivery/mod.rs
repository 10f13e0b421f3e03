//! One delivery: an event on its way to one endpoint, and the only table of what may become of it.
//!
//! [`DeliveryState::after`] is the total table; [`Delivery::lease`], [`Delivery::settle`] and [`Delivery::replay`] are the three
//! writes that a store performs, as pure functions over the row. A store loads the row, calls one of them, and writes the row
//! back in the same transaction, so no rule is repeated in a query.
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
//! // leased once: nobody else gets it before the lease is over
//! let until = now + Duration::from_secs(40);
//! let request = LeaseRequest { now, until, limit: 1, per_endpoint: 1, suspects: 1, quarantine_after: 5 };
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

use super::{EndpointId, LeaseRequest};
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
    /// How many leases in a row ended without a settlement: whoever held them crashed, or could not write.
    pub crashes: u32,
}

/// A delivery under its third lease in a row, or a later one, is a suspect: two lost leases may be somebody else's crashes.
const SUSPECT: u32 = 2;

/// What came of asking for the lease of a delivery.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Lease {
    /// It is leased, under the next fence.
    Taken,
    /// Too many leases before ended without a settlement: it has failed now, before it stops another dispatcher.
    Quarantined,
    /// It is over or not due yet; nothing has changed.
    Refused,
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
            crashes: 0,
        }
    }

    /// Takes the lease until `request.until`, under the next fence.
    ///
    /// A delivery is due at the very instant `due_at`, and a lease is over at the very instant it ends.
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
                return Lease::Quarantined;
            }
        }
        self.state = state;
        self.due_at = request.until;
        self.fence = self.fence.saturating_add(1);
        Lease::Taken
    }

    /// The delivery as a store sets it aside that cannot read the rest of its row, or its event: failed, so that it stops nobody.
    #[must_use]
    pub fn unreadable(self) -> Self {
        Self {
            state: DeliveryState::DeadLetter,
            reason: Some(FailureReason::Unreadable),
            ..self
        }
    }

    /// Whether at least two leases before the present one ended without a settlement.
    ///
    /// A crash counts against everything that was under way, the guilty and the bystanders. So a dispatcher takes one suspect at
    /// a time, beside deliveries that are none: from the third on, each crash counts against one suspect alone, and whoever
    /// has nothing to do with it gets an outcome when it is its turn, which clears it.
    #[must_use]
    pub const fn is_suspect(&self) -> bool {
        self.crashes >= SUSPECT
    }

    /// Whether the next lease of a delivery that is due is that of a [suspect](Self::is_suspect): it is `Leased`, with one crash
    /// or more before.
    #[must_use]
    pub fn becomes_suspect(&self) -> bool {
        self.state == DeliveryState::Leased && self.crashes.saturating_add(1) >= SUSPECT
    }

    /// Whether it was leased and the lease has ended: at that very instant another dispatcher may take it.
    #[must_use]
    pub fn lease_is_over(&self, now: SystemTime) -> bool {
        self.state == DeliveryState::Leased && self.due_at <= now
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
        self.crashes = 0;
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
        self.crashes = 0;
        true
    }
}

#[cfg(test)]
mod tests;
