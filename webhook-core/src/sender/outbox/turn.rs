//! A turn: settling finished deliveries and leasing due ones in one round trip.

use std::time::SystemTime;

use super::{LeaseRequest, Leases};
use crate::sender::{Receipt, Settlement};

/// Arguments of [`Outbox::turn`](super::Outbox::turn).
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TurnRequest {
    /// Outcomes to write, as by [`Outbox::settle`](super::Outbox::settle).
    pub settlements: Vec<Settlement>,
    /// Lease after the outcomes are written, as by [`Outbox::lease`](super::Outbox::lease); `None`
    /// to lease nothing.
    pub lease: Option<LeaseRequest>,
}

/// Result of [`Outbox::turn`](super::Outbox::turn).
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Turn {
    /// One receipt for each settlement, in the same order.
    pub receipts: Vec<Receipt>,
    /// Deliveries that were leased, or became dead letters instead.
    pub leases: Leases,
    /// Earliest time at which a delivery is due after the turn, as by
    /// [`Outbox::next_due`](super::Outbox::next_due). `None` if no delivery is live; it may also be
    /// `None` if the turn leased `limit` deliveries or requested no lease.
    pub next_due: Option<SystemTime>,
}
