//! Metrics of a dispatcher: a hook that the host connects to its metrics library.
//!
//! ```
//! use std::sync::atomic::{AtomicU64, Ordering};
//! use webhook_core::sender::{DeliveryEvent, DeliveryMetrics};
//!
//! #[derive(Default)]
//! struct Counters {
//!     attempts: AtomicU64,
//!     quarantined: AtomicU64,
//! }
//!
//! impl DeliveryMetrics for Counters {
//!     fn record(&self, event: &DeliveryEvent<'_>) {
//!         let counter = match event {
//!             DeliveryEvent::Attempted { .. } => &self.attempts,
//!             DeliveryEvent::SetAside { .. } => &self.quarantined,
//!             _ => return,
//!         };
//!         counter.fetch_add(1, Ordering::Relaxed);
//!     }
//! }
//! ```

use std::{sync::Arc, time::Duration};

use super::{
    AttemptOutcome, ClockSkew, DeliveryId, Disposition, FailureReason, HealthEvent, InstanceId, Settled,
    TraceParent,
};

/// Receiver of the metrics of a dispatcher.
///
/// # Contract
///
/// [`record`](Self::record) runs inside the delivery loop: it must not block. A panic is
/// caught, and has no effect on deliveries.
pub trait DeliveryMetrics: Send + Sync {
    /// Records one event.
    fn record(&self, event: &DeliveryEvent<'_>);
}

impl<M: DeliveryMetrics + ?Sized> DeliveryMetrics for Arc<M> {
    fn record(&self, event: &DeliveryEvent<'_>) {
        (**self).record(event);
    }
}

/// Event in a dispatcher that operators count or measure.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum DeliveryEvent<'a> {
    /// A delivery was leased.
    Leased {
        /// Delivery that was leased.
        delivery: &'a DeliveryId,
        /// Time from the due time of the delivery to its lease.
        lag: Duration,
    },
    /// An exchange ended.
    Attempted {
        /// Delivery that was sent.
        delivery: &'a DeliveryId,
        /// Outcome of the exchange.
        outcome: AttemptOutcome,
        /// Duration of the exchange.
        duration: Duration,
        /// Position of the message in the trace of its event.
        trace: Option<TraceParent>,
    },
    /// An outcome was written.
    Settled {
        /// Delivery that was settled.
        delivery: &'a DeliveryId,
        /// Next step of the delivery; [`Disposition::Held`] counts the held ones.
        disposition: Disposition,
        /// Result of the write.
        settled: Settled,
        /// Change of the endpoint's health.
        health: Option<HealthEvent>,
    },
    /// A due delivery became a dead letter instead of being leased.
    SetAside {
        /// Delivery that became a dead letter.
        delivery: &'a DeliveryId,
        /// [`FailureReason::Quarantined`] or [`FailureReason::Unreadable`].
        reason: FailureReason,
    },
    /// A call of [`Outbox::turn`](super::Outbox::turn) ended.
    Turn {
        /// Number of outcomes that it wrote.
        settled: usize,
        /// Number of deliveries that it leased.
        leased: usize,
        /// Time from the call of the store to its result.
        duration: Duration,
        /// Age of the oldest due delivery that was not leased; zero if none is due. `None` if the
        /// turn leased as many deliveries as it may, because the store then may not report the next
        /// one.
        backlog_age: Option<Duration>,
    },
    /// Leases of a dead instance were freed.
    Freed {
        /// Instance that was silent.
        instance: InstanceId,
        /// Number of its leases.
        leases: u64,
    },
    /// A wrong local clock explains a 400 or 401 response (event name `clock.skewed`). Recorded
    /// with each such response.
    ClockSkewed {
        /// Error of the local clock.
        skew: ClockSkew,
        /// `true` if the delivery is held for this reason; see
        /// [`Dispatcher::with_skew_hold`](super::Dispatcher::with_skew_hold).
        held: bool,
    },
}
