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

use std::{fmt, time::SystemTime};

use super::{Attempt, EndpointId, term::terms};
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

/// Where a delivery stands.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum DeliveryState {
    /// Accepted or replayed, not attempted yet.
    Ready,
    /// Waits for the next attempt.
    RetryScheduled,
    /// Being attempted by the holder of the latest fence, until the lease is over.
    Leased,
    /// The receiver answered 2xx. Final.
    Acked,
    /// The receiver refused it in a way that another attempt cannot change. Kept for inspection and replay.
    PermanentFailure,
    /// Attempts or time ran out. Kept for inspection and replay.
    DeadLetter,
}

terms!(DeliveryState {
    Ready => "ready",
    RetryScheduled => "retry_scheduled",
    Leased => "leased",
    Acked => "acked",
    PermanentFailure => "permanent_failure",
    DeadLetter => "dead_letter",
});

/// What can happen to a delivery: the columns of the state table.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Step {
    /// A dispatcher takes it; also when the lease before is over.
    Lease,
    /// The receiver answered 2xx, perhaps after the lease was lost.
    Acknowledge,
    /// An attempt failed and is tried again later.
    Retry,
    /// It could not be tried now, and waits without having spent an attempt.
    Hold,
    /// It was refused for good.
    Refuse,
    /// Its attempts or its time are used up.
    Exhaust,
    /// An operator sends it again.
    Replay,
}

terms!(Step {
    Lease => "lease",
    Acknowledge => "acknowledge",
    Retry => "retry",
    Hold => "hold",
    Refuse => "refuse",
    Exhaust => "exhaust",
    Replay => "replay",
});

impl DeliveryState {
    /// The state table: what a step makes of a state, or `None` where the step is not allowed.
    ///
    /// An acknowledgement is the one thing that also counts without a lease: the receiver has the event, whoever asked.
    #[must_use]
    pub const fn after(self, step: Step) -> Option<Self> {
        match (self, step) {
            (Self::Ready | Self::RetryScheduled | Self::Leased, Step::Lease) => Some(Self::Leased),
            (Self::Ready | Self::RetryScheduled | Self::Leased, Step::Acknowledge) => Some(Self::Acked),
            (Self::Leased, Step::Retry | Step::Hold) => Some(Self::RetryScheduled),
            (Self::Leased, Step::Refuse) => Some(Self::PermanentFailure),
            (Self::Leased, Step::Exhaust) => Some(Self::DeadLetter),
            (Self::PermanentFailure | Self::DeadLetter, Step::Replay) => Some(Self::Ready),
            (Self::Ready | Self::RetryScheduled, Step::Retry | Step::Hold | Step::Refuse | Step::Exhaust)
            | (Self::Ready | Self::RetryScheduled | Self::Leased | Self::Acked, Step::Replay)
            | (Self::Acked | Self::PermanentFailure | Self::DeadLetter, _) => None,
        }
    }

    /// Whether the delivery still goes on by itself.
    #[must_use]
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Ready | Self::RetryScheduled | Self::Leased)
    }

    /// Whether the delivery ended without the receiver's 2xx, and may be replayed.
    #[must_use]
    pub const fn is_failed(self) -> bool {
        matches!(self, Self::PermanentFailure | Self::DeadLetter)
    }
}

/// Why a delivery failed.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum FailureReason {
    /// Every attempt of the schedule failed.
    AttemptsExhausted,
    /// The message would be, or is, older than its lifetime.
    LifetimeExpired,
    /// The receiver answered with a status that no repetition can change.
    Rejected,
    /// The receiver answered 410: it wants nothing more, and the endpoint is disabled.
    EndpointGone,
    /// The endpoint was disabled when the delivery came up.
    EndpointDisabled,
    /// No such endpoint is registered any more.
    EndpointUnknown,
    /// The endpoint's address is one that must not be called.
    AddressRefused,
}

terms!(FailureReason {
    AttemptsExhausted => "attempts_exhausted",
    LifetimeExpired => "lifetime_expired",
    Rejected => "rejected",
    EndpointGone => "endpoint_gone",
    EndpointDisabled => "endpoint_disabled",
    EndpointUnknown => "endpoint_unknown",
    AddressRefused => "address_refused",
});

/// What one lease came to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Disposition {
    /// Delivered.
    Acked,
    /// Failed, and tried again from this moment on.
    Retry {
        /// Never before this.
        due_at: SystemTime,
    },
    /// Not tried, or turned away with 429; comes up again from this moment on.
    Held {
        /// Never before this.
        due_at: SystemTime,
    },
    /// Over, for this reason.
    Failed(FailureReason),
}

impl Disposition {
    /// The step of the state table that this disposition is.
    #[must_use]
    pub const fn step(self) -> Step {
        match self {
            Self::Acked => Step::Acknowledge,
            Self::Retry { .. } => Step::Retry,
            Self::Held { .. } => Step::Hold,
            Self::Failed(FailureReason::AttemptsExhausted | FailureReason::LifetimeExpired) => Step::Exhaust,
            Self::Failed(_) => Step::Refuse,
        }
    }
}

/// The outcome of one lease, ready to be written by its fence.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Settlement {
    /// Which delivery.
    pub delivery: DeliveryId,
    /// The number of the lease this is the outcome of.
    pub fence: u64,
    /// What becomes of the delivery.
    pub disposition: Disposition,
    /// Whether one attempt of the schedule is used up.
    pub spent: bool,
    /// Until when no delivery of this endpoint is leased: what the receiver asked for.
    pub hold_endpoint_until: Option<SystemTime>,
    /// The row for the attempt log; `None` when nothing was sent.
    pub attempt: Option<Attempt>,
}

/// What came of a settlement.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Settled {
    /// The fence was the latest, and the delivery moved.
    Applied,
    /// The lease was lost meanwhile, but the receiver's 2xx settled the live delivery all the same.
    Late,
    /// Somebody else holds the delivery or has finished it; nothing was changed.
    Stale,
    /// There is no such delivery.
    Unknown,
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
        if !current && !(issued && acknowledged) {
            return Settled::Stale;
        }
        let Some(state) = self.state.after(settlement.disposition.step()) else {
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
