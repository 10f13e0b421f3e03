//! Re-encrypts the signing secrets of endpoints (W16).

use rusqlite::Transaction;
use webhook_core::sender::{EndpointId, SecretsAtRest};

use crate::column::Term;
use crate::database::{Database, DatabaseError};

/// Rows of one step: other writes wait no longer than that.
const AT_ONCE: u32 = 64;

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
    /// The old text remains in free pages of the file until a `VACUUM`, and in backups. Rotate the
    /// secrets if these can be read by others.
    ///
    /// # Errors
    ///
    /// A row that cannot be read ends the call. The rows before it are done, except for up to 63
    /// rows of its own step. The call may be repeated.
    pub async fn seal_secrets(&self) -> Result<u64, DatabaseError> {
        let (mut count, mut after) = (0, None);
        loop {
            let secrets = self.secrets.clone();
            let (sealed, last) = self
                .write(move |transaction| seal(transaction, &secrets, after.as_ref()))
                .await?;
            count += sealed;
            match last {
                Some(last) => after = Some(last),
                None => return Ok(count),
            }
        }
    }
}

/// Rewrites the rows after `after`; returns their number and the last of them.
fn seal(
    transaction: &Transaction<'_>,
    secrets: &SecretsAtRest,
    after: Option<&EndpointId>,
) -> Result<(u64, Option<EndpointId>), DatabaseError> {
    let after = after.map_or("", EndpointId::as_str);
    let rows: Vec<(EndpointId, String)> = transaction
        .prepare_cached("SELECT id, secrets FROM webhook_endpoint WHERE id > ?1 ORDER BY id LIMIT ?2")?
        .query_map((after, AT_ONCE), |row| {
            let Term(id) = row.get(0)?;
            Ok((id, row.get(1)?))
        })?
        .collect::<Result<_, _>>()?;
    let mut update = transaction.prepare_cached("UPDATE webhook_endpoint SET secrets = ?2 WHERE id = ?1")?;
    let mut count = 0;
    for (id, stored) in &rows {
        let (signers, headers) = secrets.read(id, stored)?;
        update.execute((id.as_str(), secrets.write(id, &signers, &headers)?))?;
        count += 1;
    }
    Ok((count, rows.into_iter().last().map(|(id, _)| id)))
}
