//! The outbox: where events wait until every endpoint has them.
//!
//! [`Outbox`] is the port; [`Enqueue::to`] makes the rows of one event, and [`fan_out`] those for endpoints that are at hand. A SQL
//! store does that inside the host's own transaction, so that the event is there exactly when the business row is, for all who
//! are registered by then:
//!
//! ```text
//! insert_charge(&tx, …)?;
//! store::outbox::send_in(&tx, event, now)?;   // reads who subscribes, makes the rows, writes them
//! ```
//!
//! A host without one calls [`Dispatcher::send`](super::Dispatcher::send).

mod enqueue;
mod missing;
mod period;
mod retention;
mod select;

use std::sync::Arc;

use std::time::SystemTime;

use async_trait::async_trait;

pub use enqueue::{Enqueue, Enqueued, StoredEvent, fan_out};
pub use missing::{EventPlace, Missing, MissingRequest};
pub use period::Period;
pub use retention::{PurgeRequest, Retention};
pub use select::{DeliveryFilter, Page, ReplayRequest};

use super::{Attempt, Delivery, DeliveryId, Endpoint, FailureReason, Receipt, Settlement};
use crate::ports::StoreError;

/// How much to lease, and for how long.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LeaseRequest {
    /// The present.
    pub now: SystemTime,
    /// When the leases end unless they are settled before.
    pub until: SystemTime,
    /// How many deliveries at most.
    pub limit: usize,
    /// How many deliveries of one endpoint may be under lease at a time, those leased before included.
    pub per_endpoint: usize,
    /// How many [suspects](Delivery::is_suspect) may be among them; zero while the dispatcher has one under way.
    pub suspects: usize,
    /// The lease of a delivery that ends without a settlement for this many times in a row is the last: it is quarantined.
    pub quarantine_after: u32,
}

/// What a lease brought.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Leases {
    /// What is to be delivered.
    pub leased: Vec<Leased>,
    /// What was due and failed instead.
    pub set_aside: Vec<SetAside>,
}

/// A delivery that was due and failed instead of being leased.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SetAside {
    /// Which.
    pub delivery: DeliveryId,
    /// [`FailureReason::Quarantined`] or [`FailureReason::Unreadable`].
    pub reason: FailureReason,
}

/// A delivery under lease, with what is to be sent.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Leased {
    /// The delivery as it is after the lease: its `fence` is the one to settle with.
    pub delivery: Delivery,
    /// The event.
    pub event: StoredEvent,
}

/// Keeps events and their deliveries until they are delivered, and afterwards for inspection.
///
/// # What an implementation must guarantee
///
/// - **Each verb is one atomic step.** Two calls never see each other's middle, and a crash leaves all of a verb or nothing.
/// - **Durable before it answers.** What [`enqueue`](Self::enqueue) and [`settle`](Self::settle) have answered survives a crash
///   of the machine.
/// - **The rules of a row are those of [`Delivery`] and [`Lane`](super::Lane).** Load the row, call [`Delivery::lease`],
///   [`Delivery::settle`] or [`Delivery::replay`], write the row, in one transaction; the same for the endpoint's row with
///   [`Lane::settle`](super::Lane::settle).
/// - **One row that cannot be read stops nobody.** A lease that meets it, or whose event is not readable, writes
///   [`Delivery::unreadable`] in its place, and goes on. If its very id is not readable, it is taken out of what is live, and
///   only [`list`](Self::list) tells, by its error.
/// - **Times are kept to the microsecond at least.** One that is kept shorter than it was given is rounded up: nothing is ever
///   due too early.
/// - **Bytes stay bytes.** A body comes back exactly as it was given.
/// - Every verb may be repeated after an error.
///
/// The kit `outbox!` of `webhook-core-conformance` checks all of this.
#[async_trait]
pub trait Outbox: Send + Sync {
    /// Stores an event with its deliveries, all or nothing, unless the id is taken.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; the event may or may not be stored then, and repeating the call settles it.
    async fn enqueue(&self, enqueue: Enqueue) -> Result<Enqueued, StoreError>;

    /// Leases deliveries that are due, fairly between endpoints.
    ///
    /// - Due is a live delivery with `due_at <= now` whose endpoint is not held beyond `now`.
    /// - An endpoint gets at most `per_endpoint` leases, or as many as its [health](super::EndpointHealth::limit) allows, minus
    ///   those it has that are not over (`Leased` and `due_at > now`).
    /// - Endpoints take turns, one delivery a turn, until `limit`: first those that never had a turn, then the one whose last
    ///   turn is longest ago. Within an endpoint the order is `due_at`, then the id.
    /// - [Suspects](Delivery::is_suspect) come first, in the order of the turns too, but never more than `suspects`; those beyond
    ///   are passed over, and what is due behind them is leased.
    /// - What is set aside takes neither a turn nor a place.
    /// - Endpoints on which another verb is at work may be passed over: what is due to them is leased by that one, or by a later
    ///   call. So nobody waits behind a process that stands still.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; what may have been leased becomes due again when its lease is over.
    async fn lease(&self, request: &LeaseRequest) -> Result<Leases, StoreError>;

    /// Writes a batch of outcomes in one step and says what came of each, in the same order.
    ///
    /// Every settlement, stale ones included, is told to the endpoint's [`Lane`](super::Lane) too, which extends its hold and
    /// learns how the endpoint does, and the attempt is logged unless the log has that delivery and fence already. An unknown
    /// delivery leaves no trace.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; a repeated call answers `Stale` for what the first had written. A dispatcher repeats it with one settlement
    /// at a time: a row that cannot be written may fail the batch it is in, and must not fail another one.
    async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<Receipt>, StoreError>;

    /// The earliest moment at which something is due: over all live deliveries, the later of `due_at` and the endpoint's hold.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    async fn next_due(&self) -> Result<Option<SystemTime>, StoreError>;

    /// The deliveries that match, by ascending id (bytewise: event, then endpoint).
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    async fn list(&self, filter: &DeliveryFilter, page: &Page) -> Result<Vec<Delivery>, StoreError>;

    /// The log of a delivery's attempts, by ascending fence.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    async fn attempts(&self, delivery: &DeliveryId) -> Result<Vec<Attempt>, StoreError>;

    /// Replays every failed delivery that matches, all or nothing, and answers how many these are.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; repeating the call replays what is still failed.
    async fn replay(&self, request: &ReplayRequest) -> Result<u64, StoreError>;

    /// Makes the deliveries of events that an endpoint gets by now and has none of: it was registered after them, or was
    /// disabled, or wanted less then.
    ///
    /// Looks at the next `limit` events created in the period, in the order of [`EventPlace`]. Each without a delivery to the
    /// endpoint, in whatever state, gets the one that [`Endpoint::delivery_of`] decides on, as [`fan_out`] would: due at once,
    /// with its whole schedule and lifetime before it, however old the event is, as after a [`replay`](Self::replay). All or
    /// nothing, and of simultaneous calls one makes a delivery.
    ///
    /// Go on after [`Missing::next`] until it is `None`. What is stored meanwhile is decided by who stores it.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; repeating the call makes what is still missing. An event whose id or type cannot be read is one too: a
    /// period beside it leaves it out.
    async fn replay_missing(
        &self,
        endpoint: &Endpoint,
        request: &MissingRequest,
    ) -> Result<Missing, StoreError>;
}

#[async_trait]
impl<S: Outbox + ?Sized> Outbox for Arc<S> {
    async fn enqueue(&self, enqueue: Enqueue) -> Result<Enqueued, StoreError> {
        (**self).enqueue(enqueue).await
    }

    async fn lease(&self, request: &LeaseRequest) -> Result<Leases, StoreError> {
        (**self).lease(request).await
    }

    async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<Receipt>, StoreError> {
        (**self).settle(settlements).await
    }

    async fn next_due(&self) -> Result<Option<SystemTime>, StoreError> {
        (**self).next_due().await
    }

    async fn list(&self, filter: &DeliveryFilter, page: &Page) -> Result<Vec<Delivery>, StoreError> {
        (**self).list(filter, page).await
    }

    async fn attempts(&self, delivery: &DeliveryId) -> Result<Vec<Attempt>, StoreError> {
        (**self).attempts(delivery).await
    }

    async fn replay(&self, request: &ReplayRequest) -> Result<u64, StoreError> {
        (**self).replay(request).await
    }

    async fn replay_missing(
        &self,
        endpoint: &Endpoint,
        request: &MissingRequest,
    ) -> Result<Missing, StoreError> {
        (**self).replay_missing(endpoint, request).await
    }
}
