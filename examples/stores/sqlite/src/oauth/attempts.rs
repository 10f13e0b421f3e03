//! Attempts at secrets and passwords (O27), in `oauth_attempt`.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use oauth_core::attempts::{Admission, AttemptDecision, AttemptKey, AttemptPolicy, Tally};
use oauth_core::ports::StoreError;
use oauth_core::store::AttemptStore;
use rusqlite::{OptionalExtension, Transaction};

use crate::column::{Number, Time};
use crate::database::{Database, DatabaseError};
use crate::purge;

/// How many names a kind has at most unless said otherwise: some twenty megabytes.
const CAPACITY: NonZeroU64 = NonZeroU64::MIN.saturating_add(99_999);

/// How many names make room for a new one at once, at most: the writer is never held for long.
const AT_ONCE: u64 = 500;

/// Those that are forgotten: they are as good as absent, however often they were tried.
const FORGOTTEN: &str = "DELETE FROM oauth_attempt WHERE (kind, key) IN (
    SELECT kind, key FROM oauth_attempt WHERE kind = ?1 AND forgotten_at <= ?2 LIMIT ?3)";

/// Those with the fewest attempts that wait for nothing.
const OPEN: &str = "DELETE FROM oauth_attempt WHERE (kind, key) IN (
    SELECT kind, key FROM oauth_attempt WHERE kind = ?1 AND opens_at <= ?2 ORDER BY attempts, forgotten_at LIMIT ?3)";

/// Those with the fewest attempts of those that have to wait.
const CLOSED: &str = "DELETE FROM oauth_attempt WHERE (kind, key) IN (
    SELECT kind, key FROM oauth_attempt WHERE kind = ?1 AND opens_at > ?2 ORDER BY attempts, forgotten_at LIMIT ?3)";

/// Attempts of one kind, counted in a [`Database`]: [`Database::attempts_of`] makes it.
///
/// Whoever holds the file counts together, in one process or several, and a restart forgives nobody. A kind has 100,000 names at once, or
/// as many as it is told: when all are taken it lets go of those that are forgotten, then of those with the fewest attempts, an eighth
/// of them or 500 at a time, and of none that is closed while one is left that is open.
///
/// Every attempt is a commit, as is every question for how a name stands: behind a closed door neither is faster.
#[derive(Clone, Debug)]
pub struct Attempts {
    database: Database,
    kind: Arc<str>,
    capacity: NonZeroU64,
}

impl Database {
    /// Counts attempts of this kind, apart from those of every other: passwords, secrets of clients, letters. What costs an attacker
    /// little to try then makes no room among what costs much.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::time::SystemTime;
    /// use oauth_core::attempts::{AttemptKey, AttemptPolicy};
    /// use oauth_core::store::AttemptStore;
    /// use host_store_sqlite::Database;
    ///
    /// let passwords = Database::open_in_memory()?.attempts_of("passwords");
    /// let ada = AttemptKey::subject("ada@example.com");
    /// let admission = passwords.admit(&ada, &AttemptPolicy::PASSWORDS, SystemTime::now()).await?;
    /// assert!(admission.is_admitted());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn attempts_of(&self, kind: &str) -> Attempts {
        Attempts {
            database: self.clone(),
            kind: kind.into(),
            capacity: CAPACITY,
        }
    }
}

impl Attempts {
    /// Holds so many names at once. More that are there already go as new ones come.
    #[must_use]
    pub fn with_capacity(self, capacity: NonZeroU64) -> Self {
        Self { capacity, ..self }
    }
}

#[async_trait]
impl AttemptStore for Attempts {
    async fn admit(
        &self,
        key: &AttemptKey,
        policy: &AttemptPolicy,
        now: SystemTime,
    ) -> Result<Admission, StoreError> {
        let (kind, capacity) = (Arc::clone(&self.kind), self.capacity.get());
        let (key, policy) = (*key, *policy);
        let admit = self
            .database
            .write(move |transaction| -> Result<_, DatabaseError> {
                let before = load(transaction, &kind, &key)?;
                match policy.decide(before.as_ref(), now) {
                    AttemptDecision::Refuse { retry_after } => Ok(Admission::Refused { retry_after }),
                    AttemptDecision::Admit(tally) => {
                        if before.is_none() {
                            make_room(transaction, &kind, capacity, now)?;
                        }
                        put(transaction, &kind, &key, &tally)?;
                        Ok(Admission::Admitted)
                    }
                }
            });
        Ok(admit.await?)
    }

    async fn standing(&self, key: &AttemptKey, now: SystemTime) -> Result<Admission, StoreError> {
        let (kind, key) = (Arc::clone(&self.kind), *key);
        // in line with those who count: a reader would overtake them
        let tally = self
            .database
            .write(move |transaction| load(transaction, &kind, &key));
        Ok(Tally::standing(tally.await?.as_ref(), now))
    }

    async fn forgive(&self, key: &AttemptKey) -> Result<(), StoreError> {
        let (kind, key) = (Arc::clone(&self.kind), *key);
        let forgive = self
            .database
            .write(move |transaction| -> Result<_, DatabaseError> {
                let mut statement =
                    transaction.prepare_cached("DELETE FROM oauth_attempt WHERE kind = ?1 AND key = ?2")?;
                statement.execute((&*kind, key.as_hash().as_bytes()))?;
                Ok(())
            });
        Ok(forgive.await?)
    }

    /// Of every kind.
    async fn purge_attempts(&self, now: SystemTime) -> Result<u64, StoreError> {
        Ok(self.database.purge_by(purge::OF_ATTEMPTS, now).await?)
    }
}

fn load(transaction: &Transaction<'_>, kind: &str, key: &AttemptKey) -> Result<Option<Tally>, DatabaseError> {
    let mut statement = transaction.prepare_cached(
        "SELECT attempts, opens_at, forgotten_at FROM oauth_attempt WHERE kind = ?1 AND key = ?2",
    )?;
    let tally = statement.query_row((kind, key.as_hash().as_bytes()), |row| {
        let (Time(opens_at), Time(forgotten_at)) = (row.get(1)?, row.get(2)?);
        Ok(Tally::new(row.get(0)?, opens_at, forgotten_at))
    });
    Ok(tally.optional()?)
}

fn put(
    transaction: &Transaction<'_>,
    kind: &str,
    key: &AttemptKey,
    tally: &Tally,
) -> Result<(), DatabaseError> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO oauth_attempt (kind, key, attempts, opens_at, forgotten_at) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (kind, key) DO UPDATE SET attempts = excluded.attempts, opens_at = excluded.opens_at,
         forgotten_at = excluded.forgotten_at",
    )?;
    let key = key.as_hash();
    statement.execute((
        kind,
        key.as_bytes(),
        tally.attempts,
        Time(tally.opens_at),
        Time(tally.forgotten_at),
    ))?;
    Ok(())
}

/// For one more name.
fn make_room(
    transaction: &Transaction<'_>,
    kind: &str,
    capacity: u64,
    now: SystemTime,
) -> Result<(), DatabaseError> {
    let mut statement = transaction.prepare_cached("SELECT names FROM oauth_attempt_kind WHERE kind = ?1")?;
    let names = statement.query_row([kind], |row| row.get(0).map(|Number(names)| names));
    if names.optional()?.unwrap_or_default() < capacity {
        return Ok(());
    }
    let mut room = (capacity / 8).clamp(1, AT_ONCE);
    for statement in [FORGOTTEN, OPEN, CLOSED] {
        let gone = transaction
            .prepare_cached(statement)?
            .execute((kind, Time(now), Number(room)))?;
        room = room.saturating_sub(gone as u64);
        if room == 0 {
            break;
        }
    }
    Ok(())
}
