//! The signing secrets of endpoints, written anew in the way that they are kept now (W16).

use rusqlite::Transaction;
use webhook_core::sender::{EndpointId, SignersAtRest};

use crate::column::Term;
use crate::database::{Database, DatabaseError};

/// How many rows are one step: what else is written waits no longer than that.
const AT_ONCE: u32 = 64;

impl Database {
    /// Writes the signers of every endpoint anew, in the way of [`with_signers_at_rest`](Self::with_signers_at_rest): what stood in
    /// clear is sealed, and what an older key sealed is sealed with the present one. Answers how many endpoints there were.
    ///
    /// Secrets stay what they are, and a rotation beside it is not lost. When it is done,
    /// [`reject_plaintext`](SignersAtRest::reject_plaintext) may be said.
    ///
    /// # Security
    ///
    /// The file still holds what was there, in places that are free now, until a `VACUUM`; backups hold it for good. Rotate what must
    /// be safe from those.
    ///
    /// # Errors
    ///
    /// A row that cannot be read ends it, and stays in the way until it can: those before it are done, but for up to 63 of its own step.
    /// May be repeated.
    pub async fn seal_signers(&self) -> Result<u64, DatabaseError> {
        let (mut count, mut after) = (0, None);
        loop {
            let signers = self.signers.clone();
            let (sealed, last) = self
                .write(move |transaction| seal(transaction, &signers, after.as_ref()))
                .await?;
            count += sealed;
            match last {
                Some(last) => after = Some(last),
                None => return Ok(count),
            }
        }
    }
}

/// How many there were after `after`, and the last of them.
fn seal(
    transaction: &Transaction<'_>,
    signers: &SignersAtRest,
    after: Option<&EndpointId>,
) -> Result<(u64, Option<EndpointId>), DatabaseError> {
    let after = after.map_or("", EndpointId::as_str);
    let rows: Vec<(EndpointId, String)> = transaction
        .prepare_cached("SELECT id, signers FROM webhook_endpoint WHERE id > ?1 ORDER BY id LIMIT ?2")?
        .query_map((after, AT_ONCE), |row| {
            let Term(id) = row.get(0)?;
            Ok((id, row.get(1)?))
        })?
        .collect::<Result<_, _>>()?;
    let mut update = transaction.prepare_cached("UPDATE webhook_endpoint SET signers = ?2 WHERE id = ?1")?;
    let mut count = 0;
    for (id, stored) in &rows {
        let read = signers.read(id, stored)?;
        update.execute((id.as_str(), signers.write(id, &read)?))?;
        count += 1;
    }
    Ok((count, rows.into_iter().last().map(|(id, _)| id)))
}
