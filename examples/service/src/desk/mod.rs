//! The desk, which stores the data of the payments service: charges, refunds, customers and users,
//! and the webhook events about charges.
//!
//! A change, its event and the response to a keyed request are written in one transaction. GraphQL
//! subscribers are notified after the commit, or interrupted if they may have missed a change. The
//! database is a `DeskStore`: SQLite or PostgreSQL.

mod argon2id;
mod charges;
mod customers;
mod demo;
mod endpoints;
mod events;
mod figures;
mod host_secret;
mod partial;
mod password;
mod postgres;
mod refunds;
mod signing_keys;
mod sqlite;
mod store;
mod updates;
mod users;

use std::fmt;
use std::sync::Arc;

use http_conventions::idempotency::Fenced;
use thiserror::Error;
use tokio::sync::Notify;
use webhook_core::ports::StoreError;
use webhook_core::sender::TraceParent;

use self::updates::Updates;
use crate::clock::DemoClock;
use crate::domain::{Charge, Fault};
use crate::stores::Stores;

pub use charges::ChargeFilter;
pub(crate) use events::shop;
pub use figures::{EventSeen, FamilySeen, HourOfAttempts, HourOfCharges, RefreshTokenSeen};
pub(crate) use partial::{ChargeColumn, PartialCharge, PartialCustomer};
pub use password::{HashedPassword, HashingError, HashingPlace, InvalidPassword, PasswordText};
pub use refunds::{RefundFilter, RefundSeen};
pub(crate) use signing_keys::StoredKey;
pub(crate) use store::DeskStore;
pub use updates::Announcement;
pub use users::{Authenticated, User};

/// Part of a list: at most `limit` rows after `from`, in `order`.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Position of the row before the window; `None` starts at the first row.
    pub from: Option<i64>,
    /// Reading direction.
    pub order: Order,
    /// Maximum number of rows.
    pub limit: usize,
}

impl Window {
    /// SQL operator, position and sort order of the window.
    fn bounds(&self) -> (&'static str, i64, &'static str) {
        match self.order {
            Order::NewestFirst => ("<", self.from.unwrap_or(i64::MAX), "DESC"),
            Order::OldestFirst => (">", self.from.unwrap_or(i64::MIN), "ASC"),
        }
    }

    /// The limit as an SQL integer.
    fn limit(&self) -> i64 {
        i64::try_from(self.limit).unwrap_or(i64::MAX)
    }
}

/// Reading direction of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Newest first, the order of every list in a response.
    NewestFirst,
    /// Oldest first, used to read the page before a cursor.
    OldestFirst,
}

/// A row and its position in its list.
#[derive(Clone, Debug)]
pub struct Placed<T> {
    /// Position; newer rows have larger ones.
    pub position: i64,
    /// The row.
    pub row: T,
}

/// Failure of an operation of the desk.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DeskError {
    /// The body is well-formed JSON with invalid values.
    #[error("the body has invalid values")]
    Faulty(Vec<Fault>),
    /// A refund exceeds the amount of the charge that is not yet refunded.
    #[error("the refund exceeds the charge: {left} left to refund")]
    ExceedsCharge {
        /// Amount that can still be refunded, in the currency's smallest unit.
        left: u32,
    },
    /// No resource has this identifier.
    #[error("no such resource")]
    NotFound,
    /// The resource has changed since it was read.
    #[error("the resource has changed")]
    Changed,
    /// Another request has taken over the idempotency key of this one; nothing was written.
    #[error("another request has taken over the idempotency key")]
    TakenOver(#[from] Fenced),
    /// The database failed.
    #[error("the database failed")]
    Store(#[from] StoreError),
    /// The password could not be hashed.
    #[error("the password could not be hashed")]
    Hashing(#[from] HashingError),
}

/// Data of the payments service. Clones share the database and the subscribers.
#[derive(Clone)]
pub struct Desk {
    store: Arc<dyn DeskStore>,
    clock: DemoClock,
    updates: Updates,
    refund_notify: Arc<Notify>,
    event_notify: Arc<Notify>,
    hashing: password::Hashing,
    trace: Option<TraceParent>,
}

impl Desk {
    /// Opens the desk in the database of `stores` and creates missing tables.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Store`] if the tables cannot be created.
    pub async fn open(stores: impl Into<Stores>, clock: DemoClock) -> Result<Self, DeskError> {
        let store = stores.into().desk;
        store.create_tables().await?;
        Ok(Self {
            store,
            clock,
            updates: Updates::default(),
            refund_notify: Arc::default(),
            event_notify: Arc::default(),
            hashing: password::Hashing::default(),
            trace: None,
        })
    }

    /// The desk for one request: the webhooks of its writes continue the request's trace.
    #[must_use]
    pub fn in_trace(&self, trace: Option<TraceParent>) -> Self {
        Self {
            trace,
            ..self.clone()
        }
    }

    /// Deletes the expired rows of all stores in the database.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Store`] if the database fails.
    pub async fn delete_expired(&self) -> Result<(), DeskError> {
        self.store.delete_expired(self.clock.now()).await
    }

    /// Notification that wakes the background work after a refund was queued.
    #[must_use]
    pub fn refund_notify(&self) -> &Notify {
        &self.refund_notify
    }

    /// Notification that wakes the background work after webhook events were enqueued.
    #[must_use]
    pub fn event_notify(&self) -> &Notify {
        &self.event_notify
    }

    /// Notifies subscribers of a committed change.
    fn publish(&self, charge: &Charge) {
        self.updates.publish(charge);
        self.event_notify.notify_one();
    }
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").finish_non_exhaustive()
    }
}
