//! Queue port for the workers of a receiver.

use std::sync::Arc;

use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use bytes::Bytes;

use super::{Dedupe, EventKey};
use crate::ports::StoreError;

/// Queue of claimed events that workers process.
///
/// A worker takes an event under a lease and finishes it after its work. If a worker crashes, its
/// lease ends and the event can be taken again, so the work must be idempotent.
///
/// # Failed work
///
/// The queue has no method for failed work. Choose by the kind of failure:
///
/// - *Temporary failure*: do not finish the event. It can be taken again after its lease, so the
///   lease is also the backoff: choose the time of the work plus the pause. Meanwhile workers take
///   other events.
/// - *Permanent failure*: count with [`Queued::attempt`]. After a few attempts copy
///   [`Queued::body`] to a dead-letter store and [`finish`](Self::finish) the event. A crash
///   between the two copies it twice. If a body cannot be parsed, do this at the first attempt.
/// - *Crash of the worker*: check [`Queued::attempt`] before the work, so that an event that
///   crashes its workers also reaches the dead-letter store.
///
/// # Contract
///
/// - [`take`](Self::take) is one atomic step: with any number of concurrent calls, at most one
///   worker holds an event.
/// - A lease that a call of `take` at time `t` gives is valid while `now < t + lease`. At
///   `now >= t + lease` the event can be taken again.
/// - Every lease of the store has another [`Ticket::lease`], so a worker whose lease ended cannot
///   finish an event that another worker holds.
/// - Events are returned in the order of arrival, including events whose lease ended.
///
/// The kit `inbox_store!` of `webhook-core-conformance` checks these rules.
#[async_trait]
pub trait Inbox: Dedupe {
    /// Takes up to `limit` events without a valid lease, oldest first, and leases them for `lease`.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails. If it has leased events nevertheless, they can be taken
    /// again after the lease.
    async fn take(&self, limit: usize, now: SystemTime, lease: Duration) -> Result<Vec<Queued>, StoreError>;

    /// Removes an event from the queue, if the lease of `ticket` is its latest.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails. The call may be retried.
    async fn finish(&self, ticket: &Ticket) -> Result<Finish, StoreError>;
}

#[async_trait]
impl<S: Inbox + ?Sized> Inbox for Arc<S> {
    async fn take(&self, limit: usize, now: SystemTime, lease: Duration) -> Result<Vec<Queued>, StoreError> {
        (**self).take(limit, now, lease).await
    }

    async fn finish(&self, ticket: &Ticket) -> Result<Finish, StoreError> {
        (**self).finish(ticket).await
    }
}

/// Event taken from the queue.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Queued {
    /// Ticket to finish the event with.
    pub ticket: Ticket,
    /// Exact bytes that were verified.
    pub body: Bytes,
    /// Number of times the event was taken, including this one. A high number means that the event
    /// crashes its workers or keeps failing.
    pub attempt: u32,
}

/// Ticket to finish one event, valid until another worker takes the event.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Ticket {
    /// Key of the event.
    pub key: EventKey,
    /// Number of the lease; it works as a fencing token.
    pub lease: u64,
}

/// Result of [`Inbox::finish`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Finish {
    /// The event was removed from the queue.
    Done,
    /// Another worker has taken the event, or the event was finished already. Nothing changed.
    Stale,
}
