//! Back-channel logouts (O34), in `oauth_logout`.

use std::time::SystemTime;

use async_trait::async_trait;
use oauth_core::ports::StoreError;
use oauth_core::store::{LogoutRecord, LogoutStore, SessionId};
use sqlx::PgPool;

use crate::column::{limit, nanoseconds, number, term, time};
use crate::database::{Database, DatabaseError, begin};

/// Columns of `oauth_logout`: session, client, subject, attempts, fencing token, due and expiry.
type Row = (Vec<u8>, String, String, i64, i64, i64, i64);

#[async_trait]
impl LogoutStore for Database {
    async fn lease_logouts(&self, most: usize, now: SystemTime) -> Result<Vec<LogoutRecord>, StoreError> {
        let leased = self.run(move |pool| async move { lease(&pool, most, now).await });
        Ok(leased.await?)
    }

    async fn settle_logout(
        &self,
        logout: &LogoutRecord,
        retry_at: Option<SystemTime>,
    ) -> Result<bool, StoreError> {
        let logout = logout.clone();
        let settled = self.run(move |pool| async move { settle(&pool, &logout, retry_at).await });
        Ok(settled.await?)
    }
}

/// Leases due logouts. Rows that another process leases at this moment are skipped.
async fn lease(pool: &PgPool, most: usize, now: SystemTime) -> Result<Vec<LogoutRecord>, DatabaseError> {
    let mut transaction = begin(pool).await?;
    let due: Vec<Row> = sqlx::query_as(
        "SELECT session, client_id, subject, attempts, fencing_token, due_at, expires_at FROM oauth_logout
         WHERE due_at <= $1 AND expires_at > $1 ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED",
    )
    .bind(nanoseconds(now))
    .bind(limit(most))
    .fetch_all(&mut *transaction)
    .await?;
    let due = due.into_iter().map(record).collect::<Result<Vec<_>, _>>()?;
    let leased: Vec<_> = due.into_iter().filter_map(|logout| logout.lease(now)).collect();
    for logout in &leased {
        sqlx::query(
            "UPDATE oauth_logout SET attempts = $3, fencing_token = $4, due_at = $5
             WHERE session = $1 AND client_id = $2",
        )
        .bind(logout.session.as_bytes())
        .bind(logout.client_id.as_str())
        .bind(i64::from(logout.attempts))
        .bind(i64::from(logout.fencing_token))
        .bind(nanoseconds(logout.due_at))
        .execute(&mut *transaction)
        .await?;
    }
    transaction.commit().await?;
    Ok(leased)
}

async fn settle(
    pool: &PgPool,
    logout: &LogoutRecord,
    retry_at: Option<SystemTime>,
) -> Result<bool, DatabaseError> {
    let settle = match retry_at {
        Some(_) => {
            "UPDATE oauth_logout SET due_at = $5
             WHERE session = $1 AND client_id = $2 AND fencing_token = $3 AND expires_at = $4"
        }
        None => {
            "DELETE FROM oauth_logout
             WHERE session = $1 AND client_id = $2 AND fencing_token = $3 AND expires_at = $4"
        }
    };
    let settle = sqlx::query(settle)
        .bind(logout.session.as_bytes())
        .bind(logout.client_id.as_str())
        .bind(i64::from(logout.fencing_token))
        .bind(nanoseconds(logout.expires_at));
    let settle = match retry_at {
        Some(retry_at) => settle.bind(nanoseconds(retry_at)),
        None => settle,
    };
    let settled = settle.execute(pool).await?;
    Ok(settled.rows_affected() > 0)
}

fn record(row: Row) -> Result<LogoutRecord, DatabaseError> {
    let (session, client_id, subject, attempts, fencing_token, due_at, expires_at) = row;
    let session = session.try_into();
    let session = session.map_err(|_| DatabaseError::corrupt("a session of another length"))?;
    Ok(LogoutRecord {
        session: SessionId::from_bytes(session),
        client_id: term(&client_id)?,
        subject: term(&subject)?,
        attempts: number(attempts)?,
        fencing_token: number(fencing_token)?,
        due_at: time(due_at)?,
        expires_at: time(expires_at)?,
    })
}
