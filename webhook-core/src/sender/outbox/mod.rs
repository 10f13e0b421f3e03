//! Outbox: the store of events until every endpoint has received them.
//!
//! [`Outbox`] is the store port. [`Enqueue::to`] creates the rows of one event; [`fan_out`] also
//! selects the endpoints. A SQL store writes the rows in the host's transaction, so that the event
//! is stored if and only if the business row is:
//!
//! ```text
//! insert_charge(&tx, …)?;
//! let event = StoredEvent::new(envelope, Audience::tenant(acme));
//! store::outbox::send_in(&tx, event, now)?;   // selects the subscribers and writes all rows
//! ```
//!
//! A host without a SQL store calls [`Dispatcher::send`](super::Dispatcher::send).

mod enqueue;
mod lease;
mod missing;
mod period;
mod retention;
mod select;
mod turn;

use std::sync::Arc;

use std::time::SystemTime;

use async_trait::async_trait;

pub use enqueue::{Enqueue, Enqueued, StoredEvent, fan_out};
pub(crate) use lease::QUARANTINE_AFTER;
pub use lease::{LeaseRequest, Leased, Leases, SetAside};
pub use missing::{EventPlace, Missing, MissingRequest};
pub use period::Period;
pub use retention::{PurgeRequest, Retention};
pub use select::{DeliveryFilter, Page, ReplayRequest, Replayed};
pub use turn::{Turn, TurnRequest};

use super::{
    Attempt, Delivery, DeliveryId, Departure, Endpoint, EndpointId, Heartbeat, InstanceId, Lane, Receipt,
    Settlement,
};
use crate::ports::StoreError;

/// Store of events and their deliveries, before and after they are delivered.
///
/// # Contract
///
/// - **Atomicity.** Each method is one atomic step. Concurrent calls see no intermediate state, and
///   a crash leaves all changes of a call or none.
/// - **Durability.** The results of [`enqueue`](Self::enqueue) and [`join`](Self::join) survive a
///   crash of the machine. So do those of [`settle`](Self::settle) and [`turn`](Self::turn), unless
///   the host chooses otherwise: losing them costs a repeated attempt.
/// - **Rules of a row.** [`Delivery`] and [`Lane`](super::Lane) contain the rules. In one
///   transaction load the row, call [`Delivery::lease`], [`Delivery::settle`], [`Delivery::free`],
///   [`Delivery::replay`] or [`Delivery::resend`], and write the row. The endpoint's row changes
///   likewise by [`Lane::settle`](super::Lane::settle).
/// - **Owners of leases.** A store either implements [`join`](Self::join), [`beat`](Self::beat) and
///   [`leave`](Self::leave), or none of them. Without them its leases end by time.
/// - **Time limit.** The dispatcher drops the future of a call after 20 seconds, of a heartbeat
///   after 3. The call then counts as failed with an unknown result. The store must free what the
///   dropped call held, such as a connection.
/// - **Unreadable rows.** If a lease finds an unreadable delivery or event, it writes
///   [`Delivery::unreadable`] and continues with the others. A row with an unreadable id is removed
///   from the live deliveries; only [`list`](Self::list) reports it, as an error.
/// - **Times.** Times have microsecond precision or better. A store with a lower precision than
///   `SystemTime` rounds up, so that no delivery is due too early.
/// - **Bytes.** A body is returned exactly as it was stored.
/// - **Retries.** Every method may be called again after an error.
///
/// The kit `outbox!` of `webhook-core-conformance` checks all rules.
#[async_trait]
pub trait Outbox: Send + Sync {
    /// Stores an event with its deliveries, unless the id is taken. Either all rows are written or
    /// none.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the result is unknown: the event may be stored. A retry returns
    /// [`Enqueued::Duplicate`] if it was.
    async fn enqueue(&self, enqueue: Enqueue) -> Result<Enqueued, StoreError>;

    /// Leases due deliveries, fairly among endpoints.
    ///
    /// - A delivery is due if it is not final, `due_at <= now`, and its endpoint is not held beyond
    ///   `now`.
    /// - An endpoint gets at most [`LeaseRequest::limit_of`] leases, minus its valid leases
    ///   (`Leased` and `due_at > now`).
    /// - All endpoints together get at most the leases of their
    ///   [bulkheads](LeaseRequest::bulkheads).
    /// - An owner that is not an instance, because it has left or was removed, gets no lease.
    /// - Endpoints take turns, one delivery per turn, until `limit` is reached. Endpoints that
    ///   never had a turn come first, then the endpoint with the oldest turn. Within an endpoint
    ///   the order is `due_at`, then the id.
    /// - [Suspects](Delivery::is_suspect) come first, also in the order of turns, up to `suspects`.
    ///   Further suspects are skipped, and the deliveries behind them are leased.
    /// - Deliveries that become dead letters instead of being leased use neither a turn nor a
    ///   place.
    /// - An endpoint that another call has locked may be skipped, so that a stalled process does
    ///   not block others. That call or a later one leases its deliveries.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the result is unknown. Deliveries that were leased are due again after the
    /// lease.
    async fn lease(&self, request: &LeaseRequest) -> Result<Leases, StoreError>;

    /// Writes a batch of outcomes in one step; returns one receipt per settlement, in the same
    /// order.
    ///
    /// - Every settlement, also a stale one, is applied to the endpoint by
    ///   [`Lane::settle`](super::Lane::settle).
    /// - The attempt is logged, unless the log has a row for this delivery and fencing token.
    /// - A settlement of an unknown delivery writes nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the result is unknown. A repeated call returns `Stale` for outcomes that
    /// the first call wrote. The dispatcher repeats a failed batch one settlement at a time, so a
    /// row that cannot be written must not make other settlements fail.
    async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<Receipt>, StoreError>;

    /// Settles outcomes, then leases due deliveries, in few round trips.
    ///
    /// The default implementation calls [`settle`](Self::settle), [`lease`](Self::lease) and
    /// [`next_due`](Self::next_due). A store that overrides it makes all changes in one atomic
    /// step.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the result is unknown, as for the three methods.
    async fn turn(&self, request: TurnRequest) -> Result<Turn, StoreError> {
        let receipts = match request.settlements {
            none if none.is_empty() => Vec::new(),
            settlements => self.settle(settlements).await?,
        };
        let Some(lease) = request.lease else {
            return Ok(Turn {
                receipts,
                ..Turn::default()
            });
        };
        let leases = self.lease(&lease).await?;
        let next_due = if leases.leased.len() < lease.limit {
            self.next_due().await?
        } else {
            None
        };
        Ok(Turn {
            receipts,
            leases,
            next_due,
        })
    }

    /// Registers a dispatcher as an owner of leases; the id survives a crash of the machine.
    ///
    /// Returns `None` if the store has no owners. This is the default: leases end by time.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the result is unknown. An instance that no dispatcher knows of never
    /// beats, so another instance removes it.
    async fn join(&self) -> Result<Option<InstanceId>, StoreError> {
        Ok(None)
    }

    /// Changes the heartbeat counter of `instance`; returns the counters of all instances.
    ///
    /// An instance that is missing in the result was removed, and must join again.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails.
    async fn beat(&self, instance: InstanceId) -> Result<Vec<Heartbeat>, StoreError> {
        let _ = instance;
        Ok(Vec::new())
    }

    /// Removes an instance and [frees](Delivery::free) its leases, which are due at once; returns
    /// their number.
    ///
    /// - If the departure is [`Departure::Silent`] with a counter that has changed, nothing is
    ///   removed.
    /// - A concurrent lease of the instance either is freed too or leases nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the result is unknown. A repeated call frees the leases that are left.
    async fn leave(
        &self,
        instance: InstanceId,
        departure: Departure,
        now: SystemTime,
    ) -> Result<u64, StoreError> {
        let _ = (instance, departure, now);
        Ok(0)
    }

    /// [Pulls](Delivery::pull_forward) each delivery that was never attempted forward to `now`;
    /// returns their number.
    ///
    /// A dispatcher calls it when it joins, and when its clock was set back. Otherwise events that
    /// were accepted before the step would wait until the clock shows that time again. The default
    /// does nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the result is unknown.
    async fn pull_forward(&self, now: SystemTime) -> Result<u64, StoreError> {
        let _ = now;
        Ok(0)
    }

    /// Earliest time at which a delivery is due; `None` if no delivery is live.
    ///
    /// This is the minimum over all live deliveries of the later of `due_at` and the endpoint's
    /// hold.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails.
    async fn next_due(&self) -> Result<Option<SystemTime>, StoreError>;

    /// Lists matching deliveries by ascending id (bytewise: event, then endpoint).
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails or a matching row has an unreadable id.
    async fn list(&self, filter: &DeliveryFilter, page: &Page) -> Result<Vec<Delivery>, StoreError>;

    /// State of an endpoint in the outbox: its health, its standing and its hold. `None` if the
    /// endpoint never got a delivery, or the store shows no states, which is the default.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails. An unreadable row is `None`.
    async fn lane(&self, endpoint: &EndpointId) -> Result<Option<Lane>, StoreError> {
        let _ = endpoint;
        Ok(None)
    }

    /// Attempt log of a delivery, by ascending fencing token.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails.
    async fn attempts(&self, delivery: &DeliveryId) -> Result<Vec<Attempt>, StoreError>;

    /// Replays failed deliveries that match, and acknowledged ones if the request asks for them, in
    /// one step.
    ///
    /// - The call replays the first `limit` of them by id behind [`ReplayRequest::after`], whatever
    ///   concurrent calls replay: [`Replayed::count`] is lower only if no others match.
    /// - A delivery whose event has no body any more ([`Retention::expunge`]) is left out.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the result is unknown. A repeated call replays the deliveries that are
    /// still failed.
    async fn replay(&self, request: &ReplayRequest) -> Result<Replayed, StoreError>;

    /// Creates the missing deliveries of earlier events to an endpoint that subscribes to them now.
    ///
    /// Deliveries are missing if the endpoint was registered later, was disabled, or had a narrower
    /// filter.
    ///
    /// - The call examines the next `limit` events created in the period, in the order of
    ///   [`EventPlace`].
    /// - An event without a delivery to the endpoint, in any state, gets the delivery of
    ///   [`Endpoint::delivery_of`], if that returns one.
    /// - The delivery is due at `now` with its whole schedule and lifetime, whatever the age of the
    ///   event, as after a [`replay`](Self::replay).
    /// - Either all deliveries of the call are written or none. Concurrent calls create a delivery
    ///   once.
    /// - Continue with [`Missing::next`] until it is `None`. Events that are stored meanwhile get
    ///   their deliveries from [`enqueue`](Self::enqueue).
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails, or an event in the period has an unreadable id or type. A
    /// repeated call creates the deliveries that are still missing. To skip an unreadable event,
    /// choose periods around it.
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

    async fn turn(&self, request: TurnRequest) -> Result<Turn, StoreError> {
        (**self).turn(request).await
    }

    async fn join(&self) -> Result<Option<InstanceId>, StoreError> {
        (**self).join().await
    }

    async fn beat(&self, instance: InstanceId) -> Result<Vec<Heartbeat>, StoreError> {
        (**self).beat(instance).await
    }

    async fn leave(
        &self,
        instance: InstanceId,
        departure: Departure,
        now: SystemTime,
    ) -> Result<u64, StoreError> {
        (**self).leave(instance, departure, now).await
    }

    async fn pull_forward(&self, now: SystemTime) -> Result<u64, StoreError> {
        (**self).pull_forward(now).await
    }

    async fn next_due(&self) -> Result<Option<SystemTime>, StoreError> {
        (**self).next_due().await
    }

    async fn list(&self, filter: &DeliveryFilter, page: &Page) -> Result<Vec<Delivery>, StoreError> {
        (**self).list(filter, page).await
    }

    async fn lane(&self, endpoint: &EndpointId) -> Result<Option<Lane>, StoreError> {
        (**self).lane(endpoint).await
    }

    async fn attempts(&self, delivery: &DeliveryId) -> Result<Vec<Attempt>, StoreError> {
        (**self).attempts(delivery).await
    }

    async fn replay(&self, request: &ReplayRequest) -> Result<Replayed, StoreError> {
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
