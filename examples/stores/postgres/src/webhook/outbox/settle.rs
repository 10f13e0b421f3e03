//! Settles leases with their outcomes (W11), a batch in one transaction.

use std::collections::HashMap;
use std::hash::Hash;

use sqlx::PgConnection;
use webhook_core::sender::{Attempt, Delivery, DeliveryId, EndpointId, Lane, Receipt, Settled, Settlement};

use super::attempt::{self, log_attempts};
use super::delivery::{self, live_batch, write_batch};
use super::lane::{self, write_lanes};
use crate::database::DatabaseError;

pub(super) async fn settle(
    connection: &mut PgConnection,
    settlements: &[Settlement],
) -> Result<Vec<Receipt>, DatabaseError> {
    if settlements.is_empty() {
        return Ok(Vec::new());
    }
    let mut rows = Rows::lock(connection, settlements).await?;
    let receipts: Vec<Receipt> = settlements
        .iter()
        .map(|settlement| rows.settle(settlement))
        .collect();
    let known = settlements
        .iter()
        .zip(&receipts)
        .filter(|(_, receipt)| receipt.settled != Settled::Unknown);
    let attempts: Vec<&Attempt> = known.filter_map(|(given, _)| given.attempt.as_ref()).collect();
    rows.write(connection, &attempts).await?;
    Ok(receipts)
}

/// The rows of a batch, as stored and as updated.
struct Rows {
    lanes: HashMap<EndpointId, Change<Lane>>,
    deliveries: HashMap<DeliveryId, Change<Delivery>>,
}

struct Change<T> {
    stored: T,
    new: T,
}

impl Rows {
    async fn lock(connection: &mut PgConnection, settlements: &[Settlement]) -> Result<Self, DatabaseError> {
        let ids = || settlements.iter().map(|settlement| &settlement.delivery);
        let endpoints: Vec<&str> = ids().map(|id| id.endpoint.as_str()).collect();
        // the rows of a lane are stable only after its lock is held
        let lanes = lane::lock(connection, &endpoints).await?;
        let deliveries = delivery::load(connection, ids()).await?;
        Ok(Self {
            lanes: unchanged(lanes),
            deliveries: unchanged(deliveries),
        })
    }

    fn settle(&mut self, settlement: &Settlement) -> Receipt {
        let mut receipt = Receipt {
            settled: Settled::Unknown,
            health: None,
        };
        if let Some(delivery) = self.deliveries.get_mut(&settlement.delivery) {
            receipt.settled = delivery.new.settle(settlement);
        }
        if let Some(lane) = self.lanes.get_mut(&settlement.delivery.endpoint) {
            receipt.health = lane.new.settle(settlement, receipt.settled);
        }
        receipt
    }

    /// Writes what has changed, and the log, in one statement.
    async fn write(&self, connection: &mut PgConnection, attempts: &[&Attempt]) -> Result<(), DatabaseError> {
        let deliveries: Vec<_> = changed(&self.deliveries).map(|(_, delivery)| delivery).collect();
        let lanes: Vec<_> = changed(&self.lanes).collect();
        if deliveries.is_empty() && lanes.is_empty() && attempts.is_empty() {
            return Ok(());
        }
        let write = concat!(
            "WITH ",
            live_batch!(),
            ", ",
            write_batch!(),
            ", ",
            write_lanes!(),
            ", ",
            log_attempts!(),
            " SELECT"
        );
        let write = delivery::bind_live(sqlx::query(write), &deliveries);
        let write = attempt::bind(lane::bind(write, &lanes), attempts);
        write.execute(connection).await?;
        Ok(())
    }
}

fn unchanged<K: Eq + Hash, T: Clone>(rows: HashMap<K, T>) -> HashMap<K, Change<T>> {
    let change = |(key, stored): (K, T)| {
        let new = stored.clone();
        (key, Change { stored, new })
    };
    rows.into_iter().map(change).collect()
}

fn changed<K, T: PartialEq>(rows: &HashMap<K, Change<T>>) -> impl Iterator<Item = (&K, &T)> {
    let changed = rows.iter().filter(|(_, change)| change.new != change.stored);
    changed.map(|(key, change)| (key, &change.new))
}
