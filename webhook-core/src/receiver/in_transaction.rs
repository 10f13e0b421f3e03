//! Acknowledgement of an event in the transaction of the host.

use std::fmt;

use thiserror::Error;

use super::{Finish, Ticket};

/// Proof that a transaction contains the acknowledgement of an event.
///
/// Stores create it with [`Ticket::receipt`]; `inbox::complete_in` of `host-store-sqlite` and
/// `host-store-postgres` are examples. The worker returns it after the commit to
/// [`Worker::run_in_transaction`](super::Worker::run_in_transaction).
#[must_use = "the worker acknowledges the event with it, after the commit"]
pub struct Receipt {
    lease: u64,
}

impl Receipt {
    pub(super) fn belongs_to(&self, ticket: &Ticket) -> bool {
        self.lease == ticket.lease
    }
}

impl fmt::Debug for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Receipt")
    }
}

/// Error of a worker that no longer holds its event, for example because its lease ended and
/// another worker has taken the event. The worker must roll back its transaction.
#[derive(Clone, Copy, Debug, Error, Eq, PartialEq)]
#[error("another worker has taken the event, or the event has left the queue")]
#[expect(clippy::exhaustive_structs, reason = "a marker without data")]
pub struct Fenced;

impl Ticket {
    /// Converts the result of a removal inside a transaction of the host to a receipt. For
    /// implementations of stores.
    ///
    /// # Contract
    ///
    /// A store that removes an event in a transaction of the host guarantees:
    ///
    /// - The event is removed only if the lease of this ticket is its latest, as by
    ///   [`Inbox::finish`](super::Inbox::finish).
    /// - Between that check and the end of the transaction, no other transaction changes the event:
    ///   a concurrent call skips the event or waits, or one of the two transactions fails.
    /// - The removal takes effect if and only if the transaction commits.
    ///
    /// The kit `inbox_in_transaction!` of `webhook-core-conformance` checks these rules.
    ///
    /// # Errors
    ///
    /// [`Fenced`] if nothing was removed.
    pub fn receipt(&self, finish: Finish) -> Result<Receipt, Fenced> {
        match finish {
            Finish::Done => Ok(Receipt { lease: self.lease }),
            Finish::Stale => Err(Fenced),
        }
    }
}
