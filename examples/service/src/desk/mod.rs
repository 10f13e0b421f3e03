//! The desk: what the business keeps, in SQLite, and the events that each change sends out.
//!
//! A change and its webhook event are one transaction, so neither is ever without the other. Subscribers of the graph are told
//! after the commit.

mod charges;
mod customers;
mod events;
mod host_secret;
mod password;
mod refunds;
mod rows;
mod users;

use std::fmt;
use std::sync::Arc;

use host_store_sqlite::{Database, DatabaseError, rusqlite};
use thiserror::Error;
use tokio::sync::{Notify, broadcast};
use webhook_core::ports::StoreError;

use crate::clock::DemoClock;
use crate::domain::{Charge, ChargeId, Fault};

pub use charges::ChargeFilter;
pub use password::{HashedPassword, HashingError, HashingPlace, InvalidPassword, PasswordText};
pub use users::{Authenticated, User};

/// Subscribers that fall this many updates behind miss the oldest ones.
const UPDATES_KEPT: usize = 256;

/// The desk's tables.
const STEPS: &[&str] = &[include_str!("schema.sql")];

/// Which rows of a list: at most `limit`, from `from` on (without it), in `order`.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// The position of the row before the first one wanted.
    pub from: Option<i64>,
    /// Which way to read.
    pub order: Order,
    /// How many rows.
    pub limit: usize,
}

impl Window {
    /// Where the rows lie, of which position, and in which order, in the words of SQL.
    fn bounds(&self) -> (&'static str, i64, &'static str) {
        match self.order {
            Order::NewestFirst => ("<", self.from.unwrap_or(i64::MAX), "DESC"),
            Order::OldestFirst => (">", self.from.unwrap_or(i64::MIN), "ASC"),
        }
    }

    /// How many rows, as SQL counts them.
    fn limit(&self) -> i64 {
        i64::try_from(self.limit).unwrap_or(i64::MAX)
    }
}

/// Which way a list is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The latest first: how every list of the desk is shown.
    NewestFirst,
    /// The earliest first: a page before another.
    OldestFirst,
}

/// A row with its place in the list.
#[derive(Clone, Debug)]
pub struct Placed<T> {
    /// Its place; later ones are larger.
    pub position: i64,
    /// The row.
    pub row: T,
}

/// Why the desk did not do what was asked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DeskError {
    /// The body is well-formed and wrong.
    #[error("the body is not acceptable")]
    Faulty(Vec<Fault>),
    /// A refund of more than the charge has left.
    #[error("the charge has {left} left to refund")]
    ExceedsCharge {
        /// What the charge has left, in the currency's smallest unit.
        left: u32,
    },
    /// Nothing by this identifier.
    #[error("no such resource")]
    NotFound,
    /// The resource changed since it was read.
    #[error("the resource has changed")]
    Changed,
    /// The database did not do it.
    #[error("the database failed")]
    Database(#[from] DatabaseError),
    /// The registered receivers, or what became of their events, could not be read or written.
    #[error("the store of webhooks failed")]
    Store(#[from] StoreError),
    /// A password could not be hashed.
    #[error("hashing a password failed")]
    Hashing(#[from] HashingError),
}

impl From<rusqlite::Error> for DeskError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error.into())
    }
}

/// The payments desk.
#[derive(Clone)]
pub struct Desk {
    database: Database,
    clock: DemoClock,
    updates: broadcast::Sender<Charge>,
    /// The updates that this process made.
    made_here: broadcast::Sender<ChargeId>,
    refunds_asked_for: Arc<Notify>,
    events_enqueued: Arc<Notify>,
    hashing: password::Hashing,
}

impl Desk {
    /// Opens the desk in `database`, making its tables where they are missing.
    ///
    /// # Errors
    ///
    /// A [`DatabaseError`] when the tables cannot be made.
    pub async fn open(database: Database, clock: DemoClock) -> Result<Self, DatabaseError> {
        database.migrate("desk", STEPS).await?;
        let (updates, _) = broadcast::channel(UPDATES_KEPT);
        let (made_here, _) = broadcast::channel(UPDATES_KEPT);
        Ok(Self {
            database,
            clock,
            updates,
            made_here,
            refunds_asked_for: Arc::default(),
            events_enqueued: Arc::default(),
            hashing: password::Hashing::default(),
        })
    }

    /// Every charge, each time it changes, from now on.
    #[must_use]
    pub fn charge_updates(&self) -> broadcast::Receiver<Charge> {
        self.updates.subscribe()
    }

    /// Which charge, each time this process changes one, from now on.
    #[must_use]
    pub fn changes_made_here(&self) -> broadcast::Receiver<ChargeId> {
        self.made_here.subscribe()
    }

    /// Where everything is kept, that of the crates too.
    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    /// Tells the subscribers of a charge that another process on the same database has changed.
    ///
    /// # Errors
    ///
    /// As [`charge`](Self::charge).
    pub async fn changed_elsewhere(&self, id: ChargeId) -> Result<(), DeskError> {
        if self.updates.receiver_count() > 0 {
            let charge = self.charge(id).await?;
            let _subscribers = self.updates.send(charge);
        }
        Ok(())
    }

    /// Wakes when a refund was asked for.
    #[must_use]
    pub fn refunds_asked_for(&self) -> &Notify {
        &self.refunds_asked_for
    }

    /// Wakes when there are events to deliver.
    #[must_use]
    pub fn events_enqueued(&self) -> &Notify {
        &self.events_enqueued
    }

    /// Tells what was committed.
    fn publish(&self, charge: &Charge) {
        // without a subscriber there is nobody to tell
        let _subscribers = self.updates.send(charge.clone());
        let _others = self.made_here.send(charge.id.clone());
        self.events_enqueued.notify_one();
    }
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").finish_non_exhaustive()
    }
}
