//! The worker's side of the queue.

use std::sync::Arc;

use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use bytes::Bytes;

use super::{Dedupe, EventKey};
use crate::ports::StoreError;

/// A queue of claimed events that workers take from.
///
/// An event is taken under a lease and finished when its work is done. A worker that crashes simply lets the lease pass, and
/// the event is taken again: the work must be idempotent.
///
/// # Work that fails
///
/// There is no verb for it; what a host does depends on why it failed.
///
/// - *It may succeed later*: leave the event alone. It comes again when its lease ends, so the lease is the pause as well: take
///   for as long as the work may last and the pause should be. Meanwhile those behind it are taken.
/// - *It never will*: [`Queued::attempt`] counts. After a few, write [`Queued::body`] where a person looks, and then
///   [`finish`](Self::finish) it; a crash in between writes it twice. A body that cannot be read as what its type promises need
///   not be tried again at all.
/// - *It takes its worker with it*: look at [`Queued::attempt`] before the work begins, not after.
///
/// # What an implementation must guarantee
///
/// - [`take`](Self::take) is one atomic step: under any number of simultaneous calls an event goes to one worker at a time.
/// - A lease lives while `now < now_of_the_take + lease`; at the instant of its end the event may be taken again.
/// - [`Ticket::lease`] is unlike that of every other take from this store, so that a worker which lost its lease cannot finish
///   what another one is working on.
/// - Events come in the order of their arrival, except those whose lease passed, which come by their arrival too.
#[async_trait]
pub trait Inbox: Dedupe {
    /// Takes at most `limit` events that nobody works on, oldest first, for the time of `lease`.
    ///
    /// # Errors
    ///
    /// When the store cannot be used; an event that it took nevertheless comes again after its lease.
    async fn take(&self, limit: usize, now: SystemTime, lease: Duration) -> Result<Vec<Queued>, StoreError>;

    /// Removes an event from the queue, if it is still under the lease of `ticket`.
    ///
    /// # Errors
    ///
    /// When the store cannot be used. May be repeated.
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

/// An event taken from the queue.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Queued {
    /// The right to finish it.
    pub ticket: Ticket,
    /// The exact bytes that were verified.
    pub body: Bytes,
    /// How often it has been taken, this time included. One that is taken again and again crashes its workers.
    pub attempt: u32,
}

/// The right to finish one event, for as long as no other worker has taken it.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Ticket {
    /// Which event.
    pub key: EventKey,
    /// Which take of it.
    pub lease: u64,
}

/// What became of an event that was to be finished.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Finish {
    /// It is out of the queue.
    Done,
    /// The lease had passed and another worker has taken it, or it was finished before. Nothing changed.
    Stale,
}
