//! Queue port for the workers of a receiver.

use std::sync::Arc;

use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use bytes::Bytes;

use super::{Dedupe, EventKey};
use crate::ports::StoreError;

/// Queue of claimed events that workers process, and the dead letters among them.
///
/// A worker takes an event under a lease. If it crashes, its lease ends and the event can be taken
/// again. Effects outside the database of the queue may therefore run again; rows in it are written
/// once if the worker acknowledges the event in their transaction
/// ([`Worker::run_in_transaction`](super::Worker::run_in_transaction)). A
/// [`Worker`](super::Worker) calls these verbs:
///
/// | end of the work | verb |
/// |---|---|
/// | success | [`finish`](Self::finish), or a receipt of the work's transaction |
/// | temporary failure | [`retry_at`](Self::retry_at) |
/// | permanent failure, or too many attempts | [`bury`](Self::bury); an operator reads it with [`buried`](Self::buried), and [replays](Self::replay_buried) or [discards](Self::discard_buried) it |
/// | crash of the worker | none: [`Queued::attempt`] is checked before the work, so that an event that crashes its workers is buried |
///
/// [`WorkPolicy`](super::WorkPolicy) decides between a retry and burying.
///
/// # Contract
///
/// - [`take`](Self::take) is one atomic step: with any number of concurrent calls, at most one
///   worker holds an event.
/// - A lease that a call of `take` at time `t` gives is valid while `now < t + lease`. At
///   `now >= t + lease` the event can be taken again.
/// - Every lease has a different [`Ticket::lease`], so a worker whose lease ended cannot
///   finish an event that another worker holds.
/// - Events are returned in the order of arrival, including events whose lease ended.
/// - A dead letter is independent of its claim. While the claim lives, a retry of the sender is a
///   duplicate; after that the event is queued anew, beside its dead letter.
/// - Only the holder of the latest lease ends it: with another ticket, `finish`, `retry_at` and
///   `bury` change nothing.
///
/// The kits `inbox_store!` and `inbox_failures!` of `webhook-core-conformance` check these rules.
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

    /// Ends the lease of `ticket`: the event can be taken again at `at` or later. Its attempts are
    /// counted on.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails. The call may be retried.
    async fn retry_at(&self, ticket: &Ticket, at: SystemTime) -> Result<Finish, StoreError>;

    /// Moves an event from the queue to the dead letters, if the lease of `ticket` is its latest.
    ///
    /// Of `reason`, for people to read, the first 1,024 bytes are kept ([`Buried::reason`]).
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails. The call may be retried.
    async fn bury(&self, ticket: &Ticket, reason: &str, now: SystemTime) -> Result<Finish, StoreError>;

    /// Lists dead letters by ascending number.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store fails or a dead letter is unreadable.
    async fn buried(&self, query: &BuriedQuery) -> Result<Vec<Buried>, StoreError>;

    /// Moves a dead letter to the end of the queue, with no attempts; returns `false` if the number
    /// is unknown.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the result is unknown. A repeated call returns `false` if the first moved
    /// it.
    async fn replay_buried(&self, number: u64) -> Result<bool, StoreError>;

    /// Deletes a dead letter; returns `false` if the number is unknown.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the result is unknown. The call may be retried.
    async fn discard_buried(&self, number: u64) -> Result<bool, StoreError>;
}

#[async_trait]
impl<S: Inbox + ?Sized> Inbox for Arc<S> {
    async fn take(&self, limit: usize, now: SystemTime, lease: Duration) -> Result<Vec<Queued>, StoreError> {
        (**self).take(limit, now, lease).await
    }

    async fn finish(&self, ticket: &Ticket) -> Result<Finish, StoreError> {
        (**self).finish(ticket).await
    }

    async fn retry_at(&self, ticket: &Ticket, at: SystemTime) -> Result<Finish, StoreError> {
        (**self).retry_at(ticket, at).await
    }

    async fn bury(&self, ticket: &Ticket, reason: &str, now: SystemTime) -> Result<Finish, StoreError> {
        (**self).bury(ticket, reason, now).await
    }

    async fn buried(&self, query: &BuriedQuery) -> Result<Vec<Buried>, StoreError> {
        (**self).buried(query).await
    }

    async fn replay_buried(&self, number: u64) -> Result<bool, StoreError> {
        (**self).replay_buried(number).await
    }

    async fn discard_buried(&self, number: u64) -> Result<bool, StoreError> {
        (**self).discard_buried(number).await
    }
}

/// Selection and page of [`Inbox::buried`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BuriedQuery {
    /// [Source](EventKey::source) of the events; `None` for all sources.
    pub source: Option<String>,
    /// Number of the last dead letter of the previous page; `None` for the first page.
    pub after: Option<u64>,
    /// Maximum number of dead letters.
    pub limit: usize,
}

impl Default for BuriedQuery {
    /// Selects the first 100 dead letters of all sources.
    fn default() -> Self {
        Self {
            source: None,
            after: None,
            limit: 100,
        }
    }
}

/// Dead letter: an event whose work failed for good.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Buried {
    /// Number of the dead letter: of its arrival, unique in the inbox.
    pub number: u64,
    /// Key of the event.
    pub key: EventKey,
    /// Exact bytes that were verified.
    pub body: Bytes,
    /// Number of times the event was taken.
    pub attempts: u32,
    /// Reason of the failure, at most 1,024 bytes.
    pub reason: String,
    /// Time at which it was buried.
    pub buried_at: SystemTime,
}

impl Buried {
    /// Maximum length of a reason in bytes.
    pub const LONGEST_REASON: usize = 1_024;

    /// The part of a reason that a store keeps: its first 1,024 bytes, in whole characters.
    #[must_use]
    pub fn kept_reason(reason: &str) -> &str {
        let ends = (0..=reason.len().min(Self::LONGEST_REASON)).rev();
        let end = ends.into_iter().find(|end| reason.is_char_boundary(*end));
        end.and_then(|end| reason.get(..end)).unwrap_or_default()
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

/// Result of [`Inbox::finish`], [`Inbox::retry_at`] and [`Inbox::bury`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Finish {
    /// The lease of the ticket was the latest; the change was made.
    Done,
    /// Another worker has taken the event, or the event was finished already. Nothing changed.
    Stale,
}
