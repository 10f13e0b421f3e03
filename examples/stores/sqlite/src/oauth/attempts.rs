//! Counted attempts at secrets and passwords (O27), in `oauth_attempt`.

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

/// Default limit of names of a kind: some 20 megabytes.
const CAPACITY: NonZeroU64 = NonZeroU64::MIN.saturating_add(99_999);

/// Limit of names that one step evicts, so that the writer is free soon.
const AT_ONCE: u64 = 500;

/// Forgotten names: they count as absent, for any number of attempts.
const FORGOTTEN: &str = "DELETE FROM oauth_attempt WHERE (kind, key) IN (
    SELECT kind, key FROM oauth_attempt WHERE kind = ?1 AND forgotten_at <= ?2 LIMIT ?3)";

/// Open names with the fewest attempts.
const OPEN: &str = "DELETE FROM oauth_attempt WHERE (kind, key) IN (
    SELECT kind, key FROM oauth_attempt WHERE kind = ?1 AND opens_at <= ?2 ORDER BY attempts, forgotten_at LIMIT ?3)";

/// Closed names with the fewest attempts.
const CLOSED: &str = "DELETE FROM oauth_attempt WHERE (kind, key) IN (
    SELECT kind, key FROM oauth_attempt WHERE kind = ?1 AND opens_at > ?2 ORDER BY attempts, forgotten_at LIMIT ?3)";

/// Attempt counter of one kind in a [`Database`], made by [`Database::attempts_of`].
///
/// - All processes that open the file share the counts, and the counts survive a restart.
/// - A kind has at most 100,000 names by default; see [`with_capacity`](Self::with_capacity). A
///   new name above the limit evicts an eighth of the capacity, at most 500 names: expired counts
///   first, then the names with the fewest attempts. A name that is locked out is evicted only if
///   no other is left.
///
/// # Performance
///
/// Each call of `admit` or `standing` waits for one commit, so that locked and open names take
/// the same time.
#[derive(Clone, Debug)]
pub struct Attempts {
    database: Database,
    kind: Arc<str>,
    capacity: NonZeroU64,
}

impl Database {
    /// Creates a counter for one kind of attempt, for example passwords, client secrets or e-mails.
    /// Each kind has its own capacity, so attempts of one kind evict no names of another.
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
    /// Sets the maximum number of names. Default: 100,000. If the file has more names already, new
    /// names evict them.
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
        // queued behind the writes: a reader would overtake them
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

    /// Purges every kind.
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

/// Evicts names for one more.
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
