//! The signing secrets of endpoints, written anew in the way that they are kept now (W16).

use sqlx::PgPool;
use webhook_core::sender::{EndpointId, SignersAtRest};

use crate::column::term;
use crate::database::{Database, DatabaseError, begin};

/// How many rows are one transaction: a rotation waits no longer than that.
const AT_ONCE: i64 = 64;

impl Database {
    /// Writes the signers of every endpoint anew, in the way of [`with_signers_at_rest`](Self::with_signers_at_rest): what stood in
    /// clear is sealed, and what an older key sealed is sealed with the present one. Answers how many endpoints there were.
    ///
    /// Secrets stay what they are, and a rotation beside it is not lost. When it is done,
    /// [`reject_plaintext`](SignersAtRest::reject_plaintext) may be said.
    ///
    /// # Security
    ///
    /// What was there before is in backups, in the log, and until the server has vacuumed and written over it in the table's file.
    /// Rotate what must be safe from those.
    ///
    /// # Errors
    ///
    /// A row that cannot be read ends it, and stays in the way until it can: those before it are done, but for up to 63 of its own step.
    /// May be repeated.
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

/// How many there were after `after`, and the last of them; `None` when there were none.
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
