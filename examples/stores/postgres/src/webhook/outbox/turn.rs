//! A turn: settling and leasing in one transaction (W15, W17).

use sqlx::{Connection, PgConnection};
use webhook_core::sender::{Turn, TurnRequest};

use super::{lease, next_due, settle};
use crate::database::DatabaseError;

/// Settings of a turn: a process that stalls, or that a network has cut, holds its lanes for a few
/// seconds only.
macro_rules! begin {
    ($setting:literal) => {
        concat!(
            "BEGIN ISOLATION LEVEL READ COMMITTED; ",
            "SET LOCAL idle_in_transaction_session_timeout = '8s'; SET LOCAL lock_timeout = '2s'",
            $setting
        )
    };
}

/// Runs a turn. A soft one is not flushed to the disk before its result is reported.
pub(super) async fn turn(
    connection: &mut PgConnection,
    request: &TurnRequest,
    is_soft: bool,
) -> Result<Turn, DatabaseError> {
    let begin = if is_soft {
        begin!("; SET LOCAL synchronous_commit = off")
    } else {
        begin!("")
    };
    let mut transaction = connection.begin_with(begin).await?;
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
