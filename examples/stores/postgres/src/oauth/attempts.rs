//! Counted attempts at secrets and passwords (O27), in `oauth_attempt`.

use std::time::SystemTime;

use async_trait::async_trait;
use oauth_core::attempts::{Admission, AttemptDecision, AttemptKey, AttemptPolicy, Tally};
use oauth_core::ports::StoreError;
use oauth_core::store::AttemptStore;
use sqlx::{PgPool, Postgres, Transaction};

use crate::column::{limit, nanoseconds, number, time};
use crate::database::{Database, DatabaseError, begin};
use crate::purge;

/// Tallies that a purge keeps: some 200 megabytes.
pub(crate) const MOST_ATTEMPTS: u64 = 1_000_000;

/// Limit of tallies that one step of a purge deletes.
const AT_ONCE: usize = 20_000;

type Row = (i64, i64, i64);

#[async_trait]
impl AttemptStore for Database {
    async fn admit(
        &self,
        key: &AttemptKey,
        policy: &AttemptPolicy,
        now: SystemTime,
    ) -> Result<Admission, StoreError> {
        let (key, policy) = (*key, *policy);
        let admitted = self.run(move |pool| async move { admit(&pool, &key, &policy, now).await });
        Ok(admitted.await?)
    }

    async fn standing(&self, key: &AttemptKey, now: SystemTime) -> Result<Admission, StoreError> {
        let key = *key;
        let standing = self.run(move |pool| async move {
            let mut transaction = begin(&pool).await?;
            let tally = locked(&mut transaction, &key).await?;
            transaction.rollback().await?;
            Ok(Tally::standing(tally.as_ref(), now))
        });
        Ok(standing.await?)
    }

    async fn forgive(&self, key: &AttemptKey) -> Result<(), StoreError> {
        let key = *key;
        let forgiven = self.run(move |pool| async move {
            sqlx::query("DELETE FROM oauth_attempt WHERE key = $1")
                .bind(key.as_hash().as_bytes())
                .execute(&pool)
                .await?;
            Ok(())
        });
        Ok(forgiven.await?)
    }

    async fn purge_attempts(&self, now: SystemTime) -> Result<u64, StoreError> {
        let forgotten = self.purge_by(purge::OF_ATTEMPTS, now).await?;
        Ok(forgotten + self.trim_attempts(MOST_ATTEMPTS, now).await?)
    }
}

impl Database {
    /// Deletes counts of attempts until at most `most` names are left; returns the number of
    /// deleted names.
    ///
    /// - Names with the fewest attempts are deleted first. A name that is locked out at `now` is
    ///   never deleted, so more than `most` names may be left.
    /// - While another machine trims, the call deletes nothing.
    /// - [`purge`](Self::purge) calls it with 1,000,000, so that a flood of names is bounded.
    ///
    /// # Errors
    ///
    /// [`DatabaseError`]; calling again is safe.
    pub async fn trim_attempts(&self, most: u64, now: SystemTime) -> Result<u64, DatabaseError> {
        let mut gone = 0;
        loop {
            let step = self.run(move |pool| async move { trim(&pool, most, now).await });
            match step.await? {
                0 => return Ok(gone),
                step => gone += step,
            }
        }
    }
}

async fn admit(
    pool: &PgPool,
    key: &AttemptKey,
    policy: &AttemptPolicy,
    now: SystemTime,
) -> Result<Admission, DatabaseError> {
    let mut transaction = begin(pool).await?;
    let tally = match locked(&mut transaction, key).await? {
        Some(tally) => tally,
        None => made(&mut transaction, key, now).await?,
    };
    match policy.decide(Some(&tally), now) {
        AttemptDecision::Refuse { retry_after } => {
            transaction.rollback().await?;
            Ok(Admission::Refused { retry_after })
        }
        AttemptDecision::Admit(tally) => {
            write(&mut transaction, key, &tally).await?;
            transaction.commit().await?;
            Ok(Admission::Admitted)
        }
    }
}

/// Locks and returns a tally. Reading and counting take the same locks in the same order, so that
/// their times do not tell a closed name from an open one.
async fn locked(
    transaction: &mut Transaction<'_, Postgres>,
    key: &AttemptKey,
) -> Result<Option<Tally>, DatabaseError> {
    let found: Option<Row> = sqlx::query_as(
        "SELECT attempts, opens_at, forgotten_at FROM oauth_attempt WHERE key = $1 FOR UPDATE",
    )
    .bind(key.as_hash().as_bytes())
    .fetch_optional(&mut **transaction)
    .await?;
    found.map(tally).transpose()
}

/// Locks and returns a tally, inserted with no attempts unless another transaction was faster.
async fn made(
    transaction: &mut Transaction<'_, Postgres>,
    key: &AttemptKey,
    now: SystemTime,
) -> Result<Tally, DatabaseError> {
    let row: Row = sqlx::query_as(
        "INSERT INTO oauth_attempt (key, attempts, opens_at, forgotten_at) VALUES ($1, 0, $2, $2)
         ON CONFLICT (key) DO UPDATE SET attempts = oauth_attempt.attempts
         RETURNING attempts, opens_at, forgotten_at",
    )
    .bind(key.as_hash().as_bytes())
    .bind(nanoseconds(now))
    .fetch_one(&mut **transaction)
    .await?;
    tally(row)
}

async fn write(
    transaction: &mut Transaction<'_, Postgres>,
    key: &AttemptKey,
    tally: &Tally,
) -> Result<(), DatabaseError> {
    sqlx::query("UPDATE oauth_attempt SET attempts = $2, opens_at = $3, forgotten_at = $4 WHERE key = $1")
        .bind(key.as_hash().as_bytes())
        .bind(i64::from(tally.attempts))
        .bind(nanoseconds(tally.opens_at))
        .bind(nanoseconds(tally.forgotten_at))
        .execute(&mut **transaction)
        .await?;
    Ok(())
}

/// Trims on one machine at a time: two would both delete the excess, of different names.
async fn trim(pool: &PgPool, most: u64, now: SystemTime) -> Result<u64, DatabaseError> {
    let mut transaction = begin(pool).await?;
    let is_ours: bool =
        sqlx::query_scalar("SELECT pg_try_advisory_xact_lock('oauth_attempt'::regclass::oid::bigint)")
            .fetch_one(&mut *transaction)
            .await?;
    if !is_ours {
        transaction.rollback().await?;
        return Ok(0);
    }
    let trimmed = sqlx::query(
        "DELETE FROM oauth_attempt WHERE ctid = ANY(ARRAY(
         SELECT ctid FROM oauth_attempt WHERE opens_at <= $1 ORDER BY attempts, forgotten_at
         LIMIT LEAST($2, (SELECT GREATEST(0, count(*) - $3) FROM oauth_attempt)) FOR UPDATE SKIP LOCKED))",
    )
    .bind(nanoseconds(now))
    .bind(limit(AT_ONCE))
    .bind(i64::try_from(most).unwrap_or(i64::MAX))
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(trimmed.rows_affected())
}

fn tally((attempts, opens_at, forgotten_at): Row) -> Result<Tally, DatabaseError> {
    Ok(Tally::new(
        number(attempts)?,
        time(opens_at)?,
        time(forgotten_at)?,
    ))
}
