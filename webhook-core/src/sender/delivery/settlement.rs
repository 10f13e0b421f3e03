//! What a lease came to, and what was made of it.

use std::time::SystemTime;

use super::{DeliveryId, Step};
use crate::sender::{Attempt, HealthEvent, term::terms};

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
            Self::Failed(
                FailureReason::AttemptsExhausted
                | FailureReason::LifetimeExpired
                | FailureReason::Quarantined
                | FailureReason::Unreadable,
            ) => Step::Exhaust,
            Self::Failed(_) => Step::Refuse,
        }
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
    /// Its leases ended again and again without an outcome: perhaps it crashes who delivers it.
    Quarantined,
    /// The store could not read it, or its event, and set it aside.
    Unreadable,
}

terms!(FailureReason {
    AttemptsExhausted => "attempts_exhausted",
    LifetimeExpired => "lifetime_expired",
    Rejected => "rejected",
    EndpointGone => "endpoint_gone",
    EndpointDisabled => "endpoint_disabled",
    EndpointUnknown => "endpoint_unknown",
    AddressRefused => "address_refused",
    Quarantined => "quarantined",
    Unreadable => "unreadable",
});

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

/// The answer to a settlement.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Receipt {
    /// What came of it.
    pub settled: Settled,
    /// What it changed in the endpoint's health.
    pub health: Option<HealthEvent>,
}
