//! Outcome of a lease, and the result of writing it.

use std::{num::NonZeroU32, time::SystemTime};

use super::{DeliveryId, Step};
use crate::sender::{Attempt, HealthEvent, InstanceId, term::terms};

/// Outcome of a lease: the next step of the delivery.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Disposition {
    /// The receiver responded with 2xx.
    Acked,
    /// The attempt failed and is retried.
    Retry {
        /// Earliest time of the retry.
        due_at: SystemTime,
    },
    /// The delivery waits and no attempt is counted, for example because it was not sent, or
    /// because the receiver responded with 429.
    Held {
        /// Earliest time of the next lease.
        due_at: SystemTime,
    },
    /// Failed without a further retry.
    Failed(FailureReason),
}

impl Disposition {
    /// Step of the state table for this disposition.
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

/// Reason of a failed delivery.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum FailureReason {
    /// All attempts of the schedule failed.
    AttemptsExhausted,
    /// The lifetime has ended, or would end before the next attempt.
    LifetimeExpired,
    /// The receiver responded with a status that is not retried.
    Rejected,
    /// The receiver responded with 410: the endpoint is disabled.
    EndpointGone,
    /// The endpoint was disabled when the delivery was leased.
    EndpointDisabled,
    /// The endpoint is not registered any more.
    EndpointUnknown,
    /// The event's audience does not include the owner of the endpoint. Nothing was sent.
    OutsideAudience,
    /// The address rules do not allow the endpoint's address.
    AddressRefused,
    /// Too many consecutive leases were lost: the delivery may crash its dispatchers.
    Quarantined,
    /// The store could not read the delivery or its event.
    Unreadable,
}

terms!(FailureReason {
    AttemptsExhausted => "attempts_exhausted",
    LifetimeExpired => "lifetime_expired",
    Rejected => "rejected",
    EndpointGone => "endpoint_gone",
    EndpointDisabled => "endpoint_disabled",
    EndpointUnknown => "endpoint_unknown",
    OutsideAudience => "outside_audience",
    AddressRefused => "address_refused",
    Quarantined => "quarantined",
    Unreadable => "unreadable",
});

/// Outcome of one lease, to be written under its fencing token.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Settlement {
    /// Delivery that was leased.
    pub delivery: DeliveryId,
    /// Fencing token of the lease.
    pub fence: u64,
    /// Owner of the lease.
    pub owner: Option<InstanceId>,
    /// Next step of the delivery.
    pub disposition: Disposition,
    /// `true` if the lease counts as an attempt of the schedule.
    pub spent: bool,
    /// Time until which no delivery of this endpoint is leased, for example because of
    /// `Retry-After`. `None` for no hold.
    pub hold_endpoint_until: Option<SystemTime>,
    /// [Rate](crate::sender::Endpoint::rate) of the endpoint in deliveries a second.
    pub rate: Option<NonZeroU32>,
    /// Row for the attempt log; `None` if no request was sent.
    pub attempt: Option<Attempt>,
}

/// Result of a settlement.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Settled {
    /// The fencing token was the latest; the delivery was changed.
    Applied,
    /// The lease had ended, but the receiver's 2xx settled the delivery.
    Late,
    /// Another dispatcher holds the delivery, or it is final. Nothing changed.
    Stale,
    /// The delivery does not exist.
    Unknown,
}

/// Result of one settlement of a batch.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Receipt {
    /// Result for the delivery.
    pub settled: Settled,
    /// Change of the endpoint's health.
    pub health: Option<HealthEvent>,
}
