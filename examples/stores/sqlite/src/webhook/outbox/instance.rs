//! Dispatchers as owners of leases (W29), in `webhook_instance`.

use std::time::SystemTime;

use rusqlite::{OptionalExtension, Transaction};
use webhook_core::sender::{Delivery, Departure, Heartbeat, InstanceId};

use super::{InstanceLocks, delivery};
use crate::column::{Number, Time};
use crate::database::DatabaseError;

pub(super) fn join(transaction: &Transaction<'_>) -> Result<InstanceId, DatabaseError> {
    let mut statement =
        transaction.prepare_cached("INSERT INTO webhook_instance DEFAULT VALUES RETURNING id")?;
    let Number(id) = statement.query_row((), |row| row.get(0))?;
    Ok(InstanceId::new(id))
}

pub(super) fn beat(transaction: &Transaction<'_>, instance: InstanceId) -> Result<(), DatabaseError> {
    transaction
        .prepare_cached("UPDATE webhook_instance SET counter = counter + 1 WHERE id = ?1")?
        .execute([Number(instance.number())])?;
    Ok(())
}

/// Frees the leases of instances whose process is proven to have ended.
pub(super) fn free_ended(transaction: &Transaction<'_>, locks: &InstanceLocks) -> Result<(), DatabaseError> {
    for Heartbeat { instance, counter } in heartbeats(transaction)? {
        if locks.has_ended(instance) {
            // due at once, also if the clock of the ended process was ahead
            let now = SystemTime::UNIX_EPOCH;
            leave(transaction, instance, Departure::Silent { counter }, now)?;
            locks.remove(instance);
        }
    }
    Ok(())
}

pub(super) fn heartbeats(transaction: &Transaction<'_>) -> Result<Vec<Heartbeat>, DatabaseError> {
    let mut statement = transaction.prepare_cached("SELECT id, counter FROM webhook_instance ORDER BY id")?;
    let beats = statement.query_map((), |row| {
        let (Number(id), Number(counter)) = (row.get(0)?, row.get(1)?);
        let instance = InstanceId::new(id);
        Ok(Heartbeat { instance, counter })
    })?;
    Ok(beats.collect::<Result<_, _>>()?)
}

pub(super) fn exists(transaction: &Transaction<'_>, instance: InstanceId) -> Result<bool, DatabaseError> {
    Ok(counter(transaction, instance)?.is_some())
}

fn counter(transaction: &Transaction<'_>, instance: InstanceId) -> Result<Option<u64>, DatabaseError> {
    let mut statement = transaction.prepare_cached("SELECT counter FROM webhook_instance WHERE id = ?1")?;
    let counter = statement.query_row([Number(instance.number())], |row| row.get(0));
    Ok(counter.optional()?.map(|Number(counter)| counter))
}

/// Removes an instance and frees its leases.
pub(super) fn leave(
    transaction: &Transaction<'_>,
    instance: InstanceId,
    departure: Departure,
    now: SystemTime,
) -> Result<u64, DatabaseError> {
    let id = || Number(instance.number());
    if let Departure::Silent { counter: seen } = departure
        && counter(transaction, instance)?.is_some_and(|counter| counter != seen)
    {
        return Ok(0);
    }
    transaction
        .prepare_cached("DELETE FROM webhook_instance WHERE id = ?1")?
        .execute([id()])?;
    let mut statement = transaction.prepare_cached(
        "SELECT event, endpoint, state, due_at, attempts, fence, started_at, reason, crashes, owner
         FROM webhook_delivery INDEXED BY webhook_delivery_leased WHERE state = 'leased' AND owner = ?1",
    )?;
    let held = statement.query_map([id()], |row| Ok(delivery::from_row(row)))?;
    let held = held.collect::<Result<Vec<_>, _>>()?;
    // an unreadable row is freed below, so that the next lease sets it aside
    let mut freed = change(transaction, held.into_iter().flatten(), |delivery| {
        delivery.free(instance, departure, now)
    })?;
    let rest = transaction
        .prepare_cached(
            "UPDATE webhook_delivery SET owner = NULL, due_at = ?2 WHERE state = 'leased' AND owner = ?1",
        )?
        .execute((id(), Time(now)))?;
    freed += rest as u64;
    Ok(freed)
}

/// Makes deliveries due that were never attempted and are due later.
pub(super) fn pull_forward(transaction: &Transaction<'_>, now: SystemTime) -> Result<u64, DatabaseError> {
    let mut statement = transaction.prepare_cached(
        "SELECT event, endpoint, state, due_at, attempts, fence, started_at, reason, crashes, owner
         FROM webhook_delivery INDEXED BY webhook_delivery_live
         WHERE state IN ('ready', 'retry_scheduled', 'leased') AND state = 'ready' AND due_at > ?1",
    )?;
    let early = statement.query_map([Time(now)], |row| Ok(delivery::from_row(row)))?;
    let early = early.collect::<Result<Vec<_>, _>>()?;
    change(transaction, early.into_iter().flatten(), |delivery| {
        delivery.pull_forward(now)
    })
}

fn change(
    transaction: &Transaction<'_>,
    deliveries: impl Iterator<Item = Delivery>,
    change: impl Fn(&mut Delivery) -> bool,
) -> Result<u64, DatabaseError> {
    let mut changed = 0;
    for mut delivery in deliveries {
        if change(&mut delivery) {
            delivery::update(transaction, &delivery)?;
            changed += 1;
        }
    }
    Ok(changed)
}
