//! Re-encrypts the signing secrets of endpoints (W16).

use sqlx::PgPool;
use webhook_core::sender::{EndpointId, SignersAtRest};

use crate::column::term;
use crate::database::{Database, DatabaseError, begin};

/// Rows of one transaction: a secret rotation waits no longer than that.
const AT_ONCE: i64 = 64;

impl Database {
    /// Rewrites the signers of every endpoint with the present
    /// [`SignersAtRest`](Self::with_signers_at_rest); returns the number of endpoints.
    ///
    /// Plain text is sealed, and text that an older key sealed is sealed with the present key. The
    /// secrets do not change, and a concurrent secret rotation is not lost. Afterwards
    /// [`reject_plaintext`](SignersAtRest::reject_plaintext) can be enabled.
    ///
    /// # Security
    ///
    /// The old text remains in backups, in the write-ahead log, and in the table's file until the
    /// server has vacuumed and overwritten it. Rotate the secrets if these can be read by others.
    ///
    /// # Errors
    ///
    /// [`DatabaseError`]. A row that cannot be read ends the call. The rows before it are done,
    /// except for up to 63 rows of its own transaction. The call may be repeated.
    pub async fn seal_signers(&self) -> Result<u64, DatabaseError> {
        let signers = self.signers.clone();
        self.run(|pool| async move {
            let (mut count, mut after) = (0, String::new());
            while let Some((sealed, last)) = seal(&pool, &signers, &after).await? {
                count += sealed;
                after = last;
            }
            Ok(count)
        })
        .await
    }
}

/// Rewrites the rows after `after`; returns their number and the last of them, or `None` without
/// rows.
async fn seal(
    pool: &PgPool,
    signers: &SignersAtRest,
    after: &str,
) -> Result<Option<(u64, String)>, DatabaseError> {
    let mut transaction = begin(pool).await?;
    let rows: Vec<(String, String)> = sqlx::query_as(
        "SELECT id, signers FROM webhook_endpoint WHERE id > $1 ORDER BY id LIMIT $2 FOR UPDATE",
    )
    .bind(after)
    .bind(AT_ONCE)
    .fetch_all(&mut *transaction)
    .await?;
    let mut sealed = None;
    for (row, stored) in rows {
        let id: EndpointId = term(&row)?;
        let read = signers.read(&id, &stored)?;
        sqlx::query("UPDATE webhook_endpoint SET signers = $2 WHERE id = $1")
            .bind(&row)
            .bind(signers.write(&id, &read)?)
            .execute(&mut *transaction)
            .await?;
        let (count, _) = sealed.unwrap_or_default();
        sealed = Some((count + 1, row));
    }
    transaction.commit().await?;
    Ok(sealed)
}
