//! Active and ended sessions in `oauth_session`. `active_until` is the instant until which the row
//! is kept.

use std::time::SystemTime;

use oauth_core::secret::TokenHash;
use oauth_core::session::SessionState;
use oauth_core::store::{Insertion, SessionChange, SessionId, SessionOutcome, SessionRecord};
use oauth_core::vocabulary::Subject;
use sqlx::{PgConnection, PgPool};

use crate::column::nanoseconds;
use crate::database::{DatabaseError, begin};
use crate::json::{self, Document};
use crate::oauth::{insertion, subject};

pub(super) async fn insert(
    pool: &PgPool,
    session: &Document<SessionRecord>,
) -> Result<Insertion, DatabaseError> {
    let record = &session.record;
    let mut transaction = subject::begin_sharing(pool, Some(&record.subject)).await?;
    let inserted = sqlx::query(
        "INSERT INTO oauth_session (id, hash, subject, active_until, record, renewed_from)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
    )
    .bind(record.id.as_bytes())
    .bind(record.hash.as_bytes())
    .bind(record.subject.as_str())
    .bind(nanoseconds(record.kept_until()))
    .bind(&session.text)
    .bind(record.renewed_from.as_ref().map(|hash| &hash.as_bytes()[..]))
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(insertion(&inserted))
}

pub(super) async fn load(pool: &PgPool, hash: &TokenHash) -> Result<Option<SessionRecord>, DatabaseError> {
    let found: Option<String> = sqlx::query_scalar("SELECT record FROM oauth_session WHERE hash = $1")
        .bind(hash.as_bytes())
        .fetch_optional(pool)
        .await?;
    found.map(|text| json::record(&text)).transpose()
}

/// Returns the session of this id with a shared lock.
pub(in crate::oauth) async fn lock_shared(
    connection: &mut PgConnection,
    id: &SessionId,
) -> Result<Option<SessionRecord>, DatabaseError> {
    let found: Option<String> =
        sqlx::query_scalar("SELECT record FROM oauth_session WHERE id = $1 FOR SHARE")
            .bind(id.as_bytes())
            .fetch_optional(connection)
            .await?;
    found.map(|text| json::record(&text)).transpose()
}

/// Returns the session of this id with an exclusive lock.
pub(super) async fn lock(
    connection: &mut PgConnection,
    id: &SessionId,
) -> Result<Option<SessionRecord>, DatabaseError> {
    let found: Option<String> =
        sqlx::query_scalar("SELECT record FROM oauth_session WHERE id = $1 FOR UPDATE")
            .bind(id.as_bytes())
            .fetch_optional(connection)
            .await?;
    found.map(|text| json::record(&text)).transpose()
}

/// Returns the session of this secret with an exclusive lock. It waits for a pending renewal, and
/// then finds the renewed secret.
pub(super) async fn lock_meant_by(
    connection: &mut PgConnection,
    hash: &TokenHash,
) -> Result<Option<SessionRecord>, DatabaseError> {
    let found: Option<String> = sqlx::query_scalar(
        "SELECT record FROM oauth_session WHERE hash = $1 OR renewed_from = $1 FOR UPDATE",
    )
    .bind(hash.as_bytes())
    .fetch_optional(connection)
    .await?;
    found.map(|text| json::record(&text)).transpose()
}

/// Returns the sessions of `subject` that may be active at `now`, with exclusive locks.
pub(super) async fn lock_active_of(
    connection: &mut PgConnection,
    subject: &Subject,
    now: SystemTime,
) -> Result<Vec<SessionRecord>, DatabaseError> {
    let found: Vec<String> = sqlx::query_scalar(
        "SELECT record FROM oauth_session WHERE subject = $1 AND active_until > $2 ORDER BY id FOR UPDATE",
    )
    .bind(subject.as_str())
    .bind(nanoseconds(now))
    .fetch_all(connection)
    .await?;
    found.iter().map(|text| json::record(text)).collect()
}

/// Returns the sessions that are active at `now`, newest first.
pub(super) async fn active_of(
    pool: &PgPool,
    subject: &Subject,
    now: SystemTime,
) -> Result<Vec<SessionRecord>, DatabaseError> {
    let found: Vec<String> =
        sqlx::query_scalar("SELECT record FROM oauth_session WHERE subject = $1 AND active_until > $2")
            .bind(subject.as_str())
            .bind(nanoseconds(now))
            .fetch_all(pool)
            .await?;
    let records = found.iter().map(|text| json::record(text));
    let mut sessions = records.collect::<Result<Vec<SessionRecord>, _>>()?;
    sessions.retain(|session| session.state(now) == SessionState::Active);
    sessions.sort_by(|a, b| b.created_at.cmp(&a.created_at).then(a.id.cmp(&b.id)));
    Ok(sessions)
}

/// Updates the session of `hash`, unless it has ended.
pub(super) async fn change(
    pool: &PgPool,
    hash: &TokenHash,
    change: SessionChange,
    now: SystemTime,
) -> Result<SessionOutcome, DatabaseError> {
    let mut transaction = begin(pool).await?;
    let found: Option<String> =
        sqlx::query_scalar("SELECT record FROM oauth_session WHERE hash = $1 FOR UPDATE")
            .bind(hash.as_bytes())
            .fetch_optional(&mut *transaction)
            .await?;
    let session: Option<SessionRecord> = found.map(|text| json::record(&text)).transpose()?;
    match change.decide(session.as_ref(), now) {
        Ok(changed) => {
            write(&mut transaction, vec![changed]).await?;
            transaction.commit().await?;
            Ok(SessionOutcome::Done)
        }
        Err(refused) => Ok(refused),
    }
}

pub(super) async fn write(
    connection: &mut PgConnection,
    sessions: Vec<SessionRecord>,
) -> Result<(), DatabaseError> {
    let sessions = sessions.into_iter().map(Document::new);
    let sessions = sessions.collect::<Result<Vec<_>, _>>()?;
    let records = || sessions.iter().map(|session| &session.record);
    sqlx::query(
        "UPDATE oauth_session AS session
         SET hash = changed.hash, active_until = changed.active_until, record = changed.record,
             renewed_from = changed.renewed_from
         FROM unnest($1::bytea[], $2::bytea[], $3::bigint[], $4::text[], $5::bytea[])
             AS changed (id, hash, active_until, record, renewed_from)
         WHERE session.id = changed.id",
    )
    .bind(
        records()
            .map(|record| &record.id.as_bytes()[..])
            .collect::<Vec<_>>(),
    )
    .bind(
        records()
            .map(|record| &record.hash.as_bytes()[..])
            .collect::<Vec<_>>(),
    )
    .bind(
        records()
            .map(|record| nanoseconds(record.kept_until()))
            .collect::<Vec<_>>(),
    )
    .bind(
        sessions
            .iter()
            .map(|session| session.text.as_str())
            .collect::<Vec<_>>(),
    )
    .bind(
        records()
            .map(|record| record.renewed_from.as_ref().map(|hash| &hash.as_bytes()[..]))
            .collect::<Vec<_>>(),
    )
    .execute(connection)
    .await?;
    Ok(())
}
