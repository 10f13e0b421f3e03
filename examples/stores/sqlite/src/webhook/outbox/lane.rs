//! Rows of endpoints: their turns, pauses and health (W17).

use std::num::NonZeroU32;

use rusqlite::{Connection, OptionalExtension, Transaction};
use webhook_core::sender::{EndpointHealth, EndpointId, Lane};

use crate::column::{Term, Time};
use crate::database::DatabaseError;

/// Inserts the row of an unknown endpoint, unless it exists.
pub(super) fn open(transaction: &Transaction<'_>, endpoint: &EndpointId) -> Result<(), DatabaseError> {
    write(
        transaction,
        "INSERT INTO webhook_lane
             (endpoint, held_until, concurrency, successes, failures, failing_since, pauses, counts_from, standing,
              rate, paced_until)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT DO NOTHING",
        endpoint,
        &Lane::default(),
    )
}

pub(super) fn update(
    transaction: &Transaction<'_>,
    endpoint: &EndpointId,
    lane: &Lane,
) -> Result<(), DatabaseError> {
    write(
        transaction,
        "UPDATE webhook_lane
         SET held_until = ?2, concurrency = ?3, successes = ?4, failures = ?5, failing_since = ?6, pauses = ?7,
             counts_from = ?8, standing = ?9, rate = ?10, paced_until = ?11
         WHERE endpoint = ?1",
        endpoint,
        lane,
    )
}

fn write(
    transaction: &Transaction<'_>,
    statement: &str,
    endpoint: &EndpointId,
    lane: &Lane,
) -> Result<(), DatabaseError> {
    let health = lane.health;
    transaction.prepare_cached(statement)?.execute((
        endpoint.as_str(),
        lane.held_until.map(Time),
        health.limit,
        health.successes,
        health.failures,
        health.failing_since.map(Time),
        health.pauses,
        health.counts_from.map(Time),
        lane.standing.as_str(),
        lane.rate.map(NonZeroU32::get),
        lane.paced_until.map(Time),
    ))?;
    Ok(())
}

pub(super) fn load(connection: &Connection, endpoint: &EndpointId) -> Result<Option<Lane>, DatabaseError> {
    let mut statement = connection.prepare_cached(
        "SELECT held_until, concurrency, successes, failures, failing_since, pauses, counts_from, standing, rate,
                paced_until
         FROM webhook_lane WHERE endpoint = ?1",
    )?;
    let lane = statement.query_row([endpoint.as_str()], |row| {
        let time = |column| Ok::<_, rusqlite::Error>(row.get::<_, Option<Time>>(column)?.map(|Time(at)| at));
        Ok(Lane {
            held_until: time(0)?,
            health: EndpointHealth {
                limit: row.get(1)?,
                successes: row.get(2)?,
                failures: row.get(3)?,
                failing_since: time(4)?,
                pauses: row.get(5)?,
                counts_from: time(6)?,
            },
            standing: row.get::<_, Term<_>>(7)?.0,
            rate: row.get::<_, Option<u32>>(8)?.and_then(NonZeroU32::new),
            paced_until: time(9)?,
        })
    });
    Ok(lane.optional()?)
}
