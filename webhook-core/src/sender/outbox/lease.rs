//! Arguments and result of a lease.

use std::time::{Duration, SystemTime};

use super::StoredEvent;
use crate::sender::{Bulkheads, Delivery, DeliveryId, FailureReason, InstanceId, Lane, Standing};

/// Length of a lease by time: the default deadline of an exchange and 30 seconds.
const LEASE: Duration = Duration::from_secs(40);

/// Default number of consecutive lost leases at which a delivery is quarantined.
pub(crate) const QUARANTINE_AFTER: u32 = 5;

/// Time since 1970 that stands for the end of a lease without an end: the year 2200.
const UNTIL_FREED: Duration = Duration::from_secs(7_258_118_400);

/// Arguments of [`Outbox::lease`](super::Outbox::lease).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LeaseRequest {
    /// Current time.
    pub now: SystemTime,
    /// End of the leases; [`until_freed`](Self::until_freed) for those of an owner.
    pub until: SystemTime,
    /// Instance that gets the leases; `None` for leases that only end by time.
    pub owner: Option<InstanceId>,
    /// Maximum number of deliveries.
    pub limit: usize,
    /// Limits by the standing of the endpoints.
    pub bulkheads: Bulkheads,
    /// Maximum number of leased deliveries of one endpoint, existing leases included.
    pub per_endpoint: usize,
    /// Maximum number of [suspects](Delivery::is_suspect) to lease; 0 while the dispatcher holds
    /// one.
    pub suspects: usize,
    /// Number of consecutive lost leases at which a delivery is quarantined instead of leased.
    pub quarantine_after: u32,
}

impl LeaseRequest {
    /// Creates a request for at most `limit` deliveries without further limits: leases of 40
    /// seconds without an owner, quarantine after 5 lost leases.
    #[must_use]
    pub fn new(now: SystemTime, limit: usize) -> Self {
        Self {
            now,
            until: now.checked_add(LEASE).unwrap_or(now),
            owner: None,
            limit,
            bulkheads: Bulkheads::OPEN,
            per_endpoint: usize::MAX,
            suspects: usize::MAX,
            quarantine_after: QUARANTINE_AFTER,
        }
    }

    /// End of a lease that lasts until its owner leaves: the year 2200. It is later than the time
    /// of any clock, and fits in 64 bits of nanoseconds since 1970.
    #[must_use]
    pub fn until_freed() -> SystemTime {
        SystemTime::UNIX_EPOCH + UNTIL_FREED
    }

    /// Maximum number of leased deliveries of an endpoint: the least of
    /// [`per_endpoint`](Self::per_endpoint), its bulkhead, the limit of its
    /// [health](crate::sender::EndpointHealth::limit), and its [rate](Lane::rate).
    #[must_use]
    pub fn limit_of(&self, lane: &Lane) -> usize {
        let size = |limit: u32| usize::try_from(limit).unwrap_or(usize::MAX);
        self.per_endpoint
            .min(self.bulkheads.per_endpoint(lane.standing))
            .min(size(lane.health.limit))
            .min(lane.rate.map_or(usize::MAX, |rate| size(rate.get())))
    }
}

/// Result of [`Outbox::lease`](super::Outbox::lease).
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Leases {
    /// Deliveries that were leased.
    pub leased: Vec<Leased>,
    /// Deliveries that were due and became dead letters instead.
    pub set_aside: Vec<SetAside>,
}

/// Due delivery that became a dead letter instead of being leased.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SetAside {
    /// Identifier of the delivery.
    pub delivery: DeliveryId,
    /// [`FailureReason::Quarantined`] or [`FailureReason::Unreadable`].
    pub reason: FailureReason,
}

/// Leased delivery with its event.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Leased {
    /// Delivery after the lease; settle it with its `fence`.
    pub delivery: Delivery,
    /// Event to send.
    pub event: StoredEvent,
    /// Time at which the delivery was due before the lease.
    pub due_at: SystemTime,
    /// Standing of the endpoint: the bulkhead whose place the delivery uses.
    pub standing: Standing,
}
