//! Active and ended sessions in `oauth_session`. `active_until` is the instant until which the row
//! is kept.

use std::time::SystemTime;

use oauth_core::secret::TokenHash;
use oauth_core::session::SessionState;
use oauth_core::store::{
    Insertion, RevocationReason, SessionChange, SessionId, SessionOutcome, SessionRecord,
};
use oauth_core::vocabulary::Subject;
use rusqlite::{Connection, OptionalExtension, Params, Transaction};

use crate::column::Time;
use crate::database::DatabaseError;
use crate::json::{Document, Json};
use crate::oauth::insertion;

pub(super) fn insert(
    transaction: &Transaction<'_>,
    session: &Document<SessionRecord>,
) -> Result<Insertion, DatabaseError> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO oauth_session (id, hash, subject, active_until, record) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT DO NOTHING",
    )?;
    let record = &session.record;
    let rows = statement.execute((
        record.id.as_bytes(),
        record.hash.as_bytes(),
        record.subject.as_str(),
        Time(record.kept_until()),
        &session.text,
    ))?;
    Ok(insertion(rows))
}

pub(super) fn by_hash(
    connection: &Connection,
    hash: &TokenHash,
) -> Result<Option<SessionRecord>, DatabaseError> {
    one(
        connection,
        "SELECT record FROM oauth_session WHERE hash = ?1",
        [hash.as_bytes()],
    )
}

/// Returns the session of this id.
pub(in crate::oauth) fn by_id(
    connection: &Connection,
    id: &SessionId,
) -> Result<Option<SessionRecord>, DatabaseError> {
    one(
        connection,
        "SELECT record FROM oauth_session WHERE id = ?1",
        [id.as_bytes()],
    )
}

/// Returns the session of this secret, which may have been renewed since.
pub(super) fn meant_by(
    connection: &Connection,
    hash: &TokenHash,
) -> Result<Option<SessionRecord>, DatabaseError> {
    one(
        connection,
        "SELECT record FROM oauth_session WHERE hash = ?1 OR renewed_from = ?2",
        (hash.as_bytes(), hash.to_string()),
    )
}

/// Returns all sessions of `subject`.
pub(super) fn of_subject(
    connection: &Connection,
    subject: &Subject,
) -> Result<Vec<SessionRecord>, DatabaseError> {
    let mut statement = connection.prepare_cached("SELECT record FROM oauth_session WHERE subject = ?1")?;
    let records = statement.query_map([subject.as_str()], |row| row.get(0).map(|Json(record)| record))?;
    Ok(records.collect::<Result<_, _>>()?)
}

/// Returns the sessions that are active at `now`, newest first.
pub(super) fn active_of(
    connection: &Connection,
    subject: &Subject,
    now: SystemTime,
) -> Result<Vec<SessionRecord>, DatabaseError> {
    let mut sessions = of_subject(connection, subject)?;
    sessions.retain(|session| session.state(now) == SessionState::Active);
    sessions.sort_by(|a, b| b.created_at.cmp(&a.created_at).then(a.id.cmp(&b.id)));
    Ok(sessions)
}

/// Updates the session of `hash`, unless it has ended.
pub(super) fn change(
    transaction: &Transaction<'_>,
    hash: &TokenHash,
    change: SessionChange,
    now: SystemTime,
) -> Result<SessionOutcome, DatabaseError> {
    let session = by_hash(transaction, hash)?;
    match change.decide(session.as_ref(), now) {
        Ok(changed) => {
            write(transaction, changed)?;
            Ok(SessionOutcome::Done)
        }
        Err(refused) => Ok(refused),
    }
}

/// Ends the session, unless it has ended; returns the number of ended sessions.
pub(super) fn end(
    transaction: &Transaction<'_>,
    session: &SessionRecord,
    reason: RevocationReason,
    now: SystemTime,
) -> Result<u64, DatabaseError> {
    let Some(ended) = session.revoke(reason, now) else {
        return Ok(0);
    };
    write(transaction, ended)?;
    Ok(1)
}

fn write(transaction: &Transaction<'_>, session: SessionRecord) -> Result<(), DatabaseError> {
    let session = Document::new(session)?;
    let record = &session.record;
    transaction
        .prepare_cached("UPDATE oauth_session SET hash = ?2, active_until = ?3, record = ?4 WHERE id = ?1")?
        .execute((
            record.id.as_bytes(),
            record.hash.as_bytes(),
            Time(record.kept_until()),
            &session.text,
        ))?;
    Ok(())
}

fn one(
    connection: &Connection,
    statement: &str,
    key: impl Params,
) -> Result<Option<SessionRecord>, DatabaseError> {
    let record = connection
        .prepare_cached(statement)?
        .query_row(key, |row| row.get(0))
        .optional()?;
    Ok(record.map(|Json(session)| session))
}
