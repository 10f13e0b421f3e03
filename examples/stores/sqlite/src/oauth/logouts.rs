//! Back-channel logouts (O34), in `oauth_logout`.

use std::time::SystemTime;

use async_trait::async_trait;
use oauth_core::ports::StoreError;
use oauth_core::store::{LogoutRecord, LogoutStore};
use rusqlite::{Row, Transaction};

use crate::column::{Term, Time, limit};
use crate::database::{Database, DatabaseError};

#[async_trait]
impl LogoutStore for Database {
    async fn lease_logouts(&self, most: usize, now: SystemTime) -> Result<Vec<LogoutRecord>, StoreError> {
        Ok(self
            .write(move |transaction| lease(transaction, most, now))
            .await?)
    }

    async fn settle_logout(
        &self,
        logout: &LogoutRecord,
        retry_at: Option<SystemTime>,
    ) -> Result<bool, StoreError> {
        let logout = logout.clone();
        Ok(self
            .write(move |transaction| settle(transaction, &logout, retry_at))
            .await?)
    }
}

fn lease(
    transaction: &Transaction<'_>,
    most: usize,
    now: SystemTime,
) -> Result<Vec<LogoutRecord>, DatabaseError> {
    let mut due = transaction.prepare_cached(
        "SELECT session, client_id, subject, attempts, fencing_token, due_at, expires_at FROM oauth_logout
         WHERE due_at <= ?1 AND expires_at > ?1 ORDER BY due_at LIMIT ?2",
    )?;
    let due = due.query_map((Time(now), limit(most)), record)?;
    let due = due.collect::<Result<Vec<_>, _>>()?;
    let leased: Vec<_> = due.into_iter().filter_map(|logout| logout.lease(now)).collect();
    let mut update = transaction.prepare_cached(
        "UPDATE oauth_logout SET attempts = ?3, fencing_token = ?4, due_at = ?5
         WHERE session = ?1 AND client_id = ?2",
    )?;
    for logout in &leased {
        let session = logout.session.to_string();
        update.execute((
            session,
            logout.client_id.as_str(),
            logout.attempts,
            logout.fencing_token,
            Time(logout.due_at),
        ))?;
    }
    Ok(leased)
}

fn settle(
    transaction: &Transaction<'_>,
    logout: &LogoutRecord,
    retry_at: Option<SystemTime>,
) -> Result<bool, DatabaseError> {
    let (session, client_id) = (logout.session.to_string(), logout.client_id.as_str());
    let lease = (logout.fencing_token, Time(logout.expires_at));
    let rows = match retry_at {
        Some(retry_at) => transaction
            .prepare_cached(
                "UPDATE oauth_logout SET due_at = ?5
                 WHERE session = ?1 AND client_id = ?2 AND fencing_token = ?3 AND expires_at = ?4",
            )?
            .execute((session, client_id, lease.0, lease.1, Time(retry_at)))?,
        None => transaction
            .prepare_cached(
                "DELETE FROM oauth_logout
                 WHERE session = ?1 AND client_id = ?2 AND fencing_token = ?3 AND expires_at = ?4",
            )?
            .execute((session, client_id, lease.0, lease.1))?,
    };
    Ok(rows > 0)
}

fn record(row: &Row<'_>) -> rusqlite::Result<LogoutRecord> {
    Ok(LogoutRecord {
        session: row.get::<_, Term<_>>(0)?.0,
        client_id: row.get::<_, Term<_>>(1)?.0,
        subject: row.get::<_, Term<_>>(2)?.0,
        attempts: row.get(3)?,
        fencing_token: row.get(4)?,
        due_at: row.get::<_, Time>(5)?.0,
        expires_at: row.get::<_, Time>(6)?.0,
    })
}
