//! Purges old events with their deliveries and log (W18).

use rusqlite::Transaction;
use webhook_core::sender::PurgeRequest;

use crate::column::{Time, limit};
use crate::database::DatabaseError;

/// Limit of events that one step deletes, so that the writer is free soon.
pub(super) const AT_ONCE: usize = 100;

/// Deletes as many events as the request allows, in one step.
pub(super) fn purge(transaction: &Transaction<'_>, request: &PurgeRequest) -> Result<u64, DatabaseError> {
    let old = over(transaction, request)?;
    for statement in [
        "DELETE FROM webhook_attempt WHERE event = ?1",
        "DELETE FROM webhook_delivery WHERE event = ?1",
        "DELETE FROM webhook_event WHERE id = ?1",
    ] {
        let mut delete = transaction.prepare_cached(statement)?;
        for event in &old {
            delete.execute([event])?;
        }
    }
    Ok(old.len() as u64)
}

fn over(transaction: &Transaction<'_>, request: &PurgeRequest) -> Result<Vec<String>, DatabaseError> {
    let mut statement = transaction.prepare_cached(
        "SELECT id FROM webhook_event AS event INDEXED BY webhook_event_created
         WHERE created_at < ?1 AND NOT EXISTS (
             SELECT 1 FROM webhook_delivery
             WHERE webhook_delivery.event = event.id
               AND (started_at >= ?1 OR NOT (
                   state = 'acked' OR (?2 AND state IN ('permanent_failure', 'dead_letter')))))
         ORDER BY created_at LIMIT ?3",
    )?;
    let values = (Time(request.before), request.failed, limit(request.limit));
    let old = statement.query_map(values, |row| row.get(0))?;
    Ok(old.collect::<Result<_, _>>()?)
}
