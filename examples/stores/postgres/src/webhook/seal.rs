//! Re-encrypts the signing secrets of endpoints (W16).

use sqlx::PgPool;
use webhook_core::sender::{EndpointId, SecretsAtRest};

use crate::column::term;
use crate::database::{Database, DatabaseError, begin};

/// Rows of one transaction: a secret rotation waits no longer than that.
const AT_ONCE: i64 = 64;

impl Database {
    /// Rewrites the signers and static headers of every endpoint with the present
    /// [`SecretsAtRest`](Self::with_secrets_at_rest); returns the number of endpoints.
    ///
    /// Plain text is sealed, and text that an older key sealed is sealed with the present key. The
    /// secrets do not change, and a concurrent secret rotation is not lost. Afterwards
    /// [`reject_plaintext`](SecretsAtRest::reject_plaintext) can be enabled.
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
    pub async fn seal_secrets(&self) -> Result<u64, DatabaseError> {
        let secrets = self.secrets.clone();
        self.run(|pool| async move {
            let (mut count, mut after) = (0, String::new());
            while let Some((sealed, last)) = seal(&pool, &secrets, &after).await? {
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
    secrets: &SecretsAtRest,
    after: &str,
) -> Result<Option<(u64, String)>, DatabaseError> {
    let mut transaction = begin(pool).await?;
    let rows: Vec<(String, String)> = sqlx::query_as(
        "SELECT id, secrets FROM webhook_endpoint WHERE id > $1 ORDER BY id LIMIT $2 FOR UPDATE",
    )
    .bind(after)
    .bind(AT_ONCE)
    .fetch_all(&mut *transaction)
    .await?;
    let mut sealed = None;
    for (row, stored) in rows {
        let id: EndpointId = term(&row)?;
        let (signers, headers) = secrets.read(&id, &stored)?;
        sqlx::query("UPDATE webhook_endpoint SET secrets = $2 WHERE id = $1")
            .bind(&row)
            .bind(secrets.write(&id, &signers, &headers)?)
            .execute(&mut *transaction)
            .await?;
        let (count, _) = sealed.unwrap_or_default();
        sealed = Some((count + 1, row));
    }
    transaction.commit().await?;
    Ok(sealed)
}
