//! A turn: settling and leasing in one transaction (W15, W17).

use sqlx::{PgConnection, PgPool};
use webhook_core::sender::{Turn, TurnRequest};

use super::{lease, next_due, settle};
use crate::database::{DatabaseError, begin};

pub(super) async fn turn(pool: &PgPool, request: &TurnRequest) -> Result<Turn, DatabaseError> {
    let mut transaction = begin(pool).await?;
    let turn = turn_on(&mut transaction, request).await?;
    transaction.commit().await?;
    Ok(turn)
}

async fn turn_on(connection: &mut PgConnection, request: &TurnRequest) -> Result<Turn, DatabaseError> {
    let receipts = settle::settle(connection, &request.settlements).await?;
    let mut turn = Turn {
        receipts,
        ..Turn::default()
    };
    if let Some(request) = &request.lease {
        turn.leases = lease::lease(connection, request).await?;
        if turn.leases.leased.len() < request.limit {
            turn.next_due = next_due(connection).await?;
        }
    }
    Ok(turn)
}
