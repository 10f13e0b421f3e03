//! Outcomes of leases (W11), a batch in one transaction.

use std::collections::HashMap;

use sqlx::PgPool;
use webhook_core::sender::{Delivery, DeliveryId, Settled, Settlement};

use super::{attempt, delivery, lane};
use crate::database::{DatabaseError, begin};

pub(super) async fn settle(pool: &PgPool, settlements: &[Settlement]) -> Result<Vec<Settled>, DatabaseError> {
    if settlements.is_empty() {
        return Ok(Vec::new());
    }
    let mut transaction = begin(pool).await?;
    let endpoints = settlements
        .iter()
        .map(|settlement| settlement.delivery.endpoint.as_str());
    lane::lock(&mut transaction, &endpoints.collect::<Vec<_>>()).await?;
    let ids = settlements.iter().map(|settlement| &settlement.delivery);
    let mut deliveries = delivery::load(&mut transaction, ids).await?;

    let settled: Vec<Settled> = settlements
        .iter()
        .map(|settlement| apply(&mut deliveries, settlement))
        .collect();

    let outcomes = || settlements.iter().zip(&settled);
    let known = || {
        outcomes()
            .filter(|(_, settled)| **settled != Settled::Unknown)
            .map(|(given, _)| given)
    };
    let moved = outcomes()
        .filter(|(_, settled)| matches!(settled, Settled::Applied | Settled::Late))
        .map(|(given, _)| &given.delivery);
    delivery::update(&mut transaction, &once(moved, &deliveries)).await?;
    lane::hold(&mut transaction, known()).await?;
    attempt::log(
        &mut transaction,
        known().filter_map(|settlement| settlement.attempt.as_ref()),
    )
    .await?;
    transaction.commit().await?;
    Ok(settled)
}

fn apply(deliveries: &mut HashMap<DeliveryId, Delivery>, settlement: &Settlement) -> Settled {
    deliveries
        .get_mut(&settlement.delivery)
        .map_or(Settled::Unknown, |delivery| delivery.settle(settlement))
}

/// Each of these rows once, as it is in the end.
fn once<'a>(
    ids: impl Iterator<Item = &'a DeliveryId>,
    deliveries: &'a HashMap<DeliveryId, Delivery>,
) -> Vec<&'a Delivery> {
    let moved: HashMap<&DeliveryId, &Delivery> = ids.filter_map(|id| deliveries.get_key_value(id)).collect();
    moved.into_values().collect()
}
