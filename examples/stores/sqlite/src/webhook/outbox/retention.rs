//! Purges old events with their deliveries and log, or their bodies alone (W18).

use rusqlite::Transaction;
use webhook_core::sender::PurgeRequest;

use crate::column::{Time, limit};
use crate::database::DatabaseError;

/// Limit of events that one step deletes, so that the writer is free soon.
pub(super) const AT_ONCE: usize = 100;

/// Deletes as many events as the request allows, in one step.
pub(super) fn purge(transaction: &Transaction<'_>, request: &PurgeRequest) -> Result<u64, DatabaseError> {
    let old = over(transaction, request, EVERY)?;
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

/// Deletes as many bodies as the request allows, in one step.
pub(super) fn expunge(transaction: &Transaction<'_>, request: &PurgeRequest) -> Result<u64, DatabaseError> {
    let old = over(transaction, request, WITH_BODY)?;
    let mut expunge = transaction.prepare_cached("UPDATE webhook_event SET body = NULL WHERE id = ?1")?;
    for event in &old {
        expunge.execute([event])?;
    }
    Ok(old.len() as u64)
}

/// The statement of [`over`] by a condition on the events.
macro_rules! old {
    ($condition:literal) => {
        concat!(
            "SELECT id FROM webhook_event AS event INDEXED BY webhook_event_created
             WHERE created_at < ?1 AND ",
            $condition,
            " AND NOT EXISTS (
                 SELECT 1 FROM webhook_delivery
                 WHERE webhook_delivery.event = event.id
                   AND (started_at >= ?1 OR NOT (
                       state = 'acked' OR (?2 AND state IN ('permanent_failure', 'dead_letter')))))
             ORDER BY created_at LIMIT ?3"
        )
    };
}

const EVERY: &str = old!("TRUE");
const WITH_BODY: &str = old!("body IS NOT NULL");

fn over(
    transaction: &Transaction<'_>,
    request: &PurgeRequest,
    old: &str,
) -> Result<Vec<String>, DatabaseError> {
    let mut statement = transaction.prepare_cached(old)?;
    let values = (Time(request.before), request.failed, limit(request.limit));
    let old = statement.query_map(values, |row| row.get(0))?;
    Ok(old.collect::<Result<_, _>>()?)
}
