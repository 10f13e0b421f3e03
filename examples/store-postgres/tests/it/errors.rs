//! What the ports say when the database is not as they left it.

use std::time::Duration;

use sqlx::postgres::PgPoolOptions;
use store_postgres::{Database, DatabaseErrorKind, sqlx};
use webhook_core::address::AddressPolicy;
use webhook_core::ports::{StoreError, StoreErrorKind};
use webhook_core::receiver::{Dedupe, Inbox};
use webhook_core::secret::SigningSecret;
use webhook_core::sender::{
    DeliveryFilter, DeliveryState, Disposition, Endpoint, EndpointStore, FailureReason, Outbox, Page,
};
use webhook_core::signature::Signer;

use crate::server::{fresh, schema};
use crate::support::{LEASE, START, event, execute, incoming, lease, request, settlement};

async fn list(database: &Database) -> Result<usize, StoreError> {
    Ok(database
        .list(&DeliveryFilter::default(), &Page::default())
        .await?
        .len())
}

#[tokio::test]
async fn a_delivery_that_cannot_be_read_is_reported_as_corrupt() {
    let database = fresh!();
    database.enqueue(event(1, &["ep_1"])).await.unwrap();
    for (broken, mended) in [
        ("state = 'other'", "state = 'ready'"),
        ("attempts = -1", "attempts = 0"),
        ("attempts = 1::bigint << 40", "attempts = 0"),
        ("fence = -1", "fence = 0"),
        ("endpoint = 'ep 1'", "endpoint = 'ep_1'"),
        ("reason = 'other'", "reason = NULL"),
    ] {
        execute(database.pool(), &format!("UPDATE webhook_ready SET {broken}")).await;
        let error = list(&database).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{broken}");
        execute(database.pool(), &format!("UPDATE webhook_ready SET {mended}")).await;
    }
    assert_eq!(list(&database).await.unwrap(), 1);
}

#[tokio::test]
async fn an_endpoint_an_attempt_and_an_arrival_that_cannot_be_read_are_reported_as_corrupt() {
    let database = fresh!();
    let signer = Signer::standard_webhooks(&SigningSecret::from_bytes(&[7; 32]).unwrap());
    let url = "https://hooks.example.com/".parse().unwrap();
    let endpoint = Endpoint::register("ep_1".parse().unwrap(), &url, signer, &AddressPolicy::new()).unwrap();
    database.insert(endpoint).await.unwrap();
    for broken in [
        "signers = '[]'",
        "signers = 'x'",
        "state = 'other'",
        "url = 'x'",
        "events = ARRAY['']",
    ] {
        let mut transaction = database.pool().begin().await.unwrap();
        let statement = sqlx::AssertSqlSafe(format!("UPDATE webhook_endpoint SET {broken}"));
        sqlx::raw_sql(statement).execute(&mut *transaction).await.unwrap();
        transaction.commit().await.unwrap();
        let error = database.load(&"ep_1".parse().unwrap()).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{broken}");
    }

    let id = event(1, &["ep_1"]).deliveries[0].id.clone();
    execute(
        database.pool(),
        "INSERT INTO webhook_attempt VALUES ('evt_1', 'ep_1', 1, 0, 0, 200, NULL, 'tls', NULL)",
    )
    .await;
    assert_eq!(
        database.attempts(&id).await.unwrap_err().kind(),
        StoreErrorKind::Corrupt
    );

    database
        .claim_and_enqueue(incoming(1, START + LEASE), START)
        .await
        .unwrap();
    execute(database.pool(), "UPDATE webhook_claim SET digest = 'short'").await;
    let error = database
        .claim_and_enqueue(incoming(1, START + LEASE), START)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    execute(database.pool(), r"UPDATE webhook_received SET source = '\xff'").await;
    assert_eq!(
        database.take(1, START, LEASE).await.unwrap_err().kind(),
        StoreErrorKind::Corrupt
    );
}

/// W15: a row or an event that cannot be read fails alone, keeps its fence, and takes nobody's place.
#[tokio::test]
async fn what_cannot_be_read_stops_nobody() {
    let database = fresh!();
    for number in 1..=6 {
        database.enqueue(event(number, &["ep_1"])).await.unwrap();
    }
    lease(&database, 1).await;
    for broken in [
        "UPDATE webhook_ready SET state = 'other', due_at = 0 WHERE event = 'evt_1'",
        "UPDATE webhook_ready SET event = 'evt.2' WHERE event = 'evt_2'",
        "DELETE FROM webhook_event WHERE id = 'evt_3'",
        "UPDATE webhook_event SET event_type = ' ' WHERE id = 'evt_4'",
    ] {
        execute(database.pool(), broken).await;
    }
    let leases = database.lease(&request(START, 1)).await.unwrap();
    assert_eq!(leases.leased[0].delivery.id.to_string(), "evt_5/ep_1");
    let set_aside = leases
        .set_aside
        .iter()
        .map(|aside| (aside.delivery.to_string(), aside.reason));
    let unreadable = |id: &str| (format!("{id}/ep_1"), FailureReason::Unreadable);
    assert_eq!(
        set_aside.collect::<Vec<_>>(),
        ["evt_1", "evt_3", "evt_4"].map(unreadable)
    );

    assert_eq!(
        list(&database).await.unwrap_err().kind(),
        StoreErrorKind::Corrupt,
        "of the one without an id"
    );
    execute(
        database.pool(),
        "DELETE FROM webhook_finished WHERE event = 'evt.2'",
    )
    .await;
    assert_eq!(list(&database).await.unwrap(), 5);
    let first = DeliveryFilter::one(&leases.set_aside[0].delivery);
    let first = database.list(&first, &Page::default()).await.unwrap();
    assert_eq!((first[0].state, first[0].fence), (DeliveryState::DeadLetter, 1));
    assert_eq!(lease(&database, 10).await.len(), 1);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_reported_as_unavailable() {
    let nobody = PgPoolOptions::new().acquire_timeout(Duration::from_millis(50));
    let nobody = nobody
        .connect_lazy("postgres://postgres@127.0.0.1:1/postgres")
        .unwrap();
    let error = Database::with_pool(nobody).await.unwrap_err();
    assert_eq!(error.kind(), DatabaseErrorKind::Unavailable);
    let error = Database::connect("https://127.0.0.1").await.unwrap_err();
    assert_eq!(error.kind(), DatabaseErrorKind::Failed);

    let database = fresh!();
    database.pool().close().await;
    let error = database.enqueue(event(1, &["ep_1"])).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unavailable);
}

#[tokio::test]
async fn a_connection_that_the_server_closed_is_replaced() {
    let schema = schema!();
    let database = schema.database().await;
    let killer = schema.pool(&[]).await;
    let pids: Vec<i32> = sqlx::query_scalar("SELECT pg_backend_pid()")
        .fetch_all(database.pool())
        .await
        .unwrap();
    for pid in pids {
        sqlx::query("SELECT pg_terminate_backend($1)")
            .bind(pid)
            .execute(&killer)
            .await
            .unwrap();
    }
    database.enqueue(event(1, &["ep_1"])).await.unwrap();
}

#[tokio::test]
async fn a_replica_and_a_lock_that_is_held_too_long_are_reported_as_unavailable() {
    let schema = schema!();
    let database = schema.database().await;
    database.enqueue(event(1, &["ep_1"])).await.unwrap();
    let leased = lease(&database, 1).await;

    let hasty = Database::with_pool(schema.pool(&[("lock_timeout", "20ms")]).await)
        .await
        .unwrap();
    let mut other = database.pool().begin().await.unwrap();
    sqlx::query("SELECT FROM webhook_lane FOR UPDATE")
        .execute(&mut *other)
        .await
        .unwrap();
    let error = hasty
        .settle(vec![settlement(&leased[0], Disposition::Acked)])
        .await
        .unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    other.rollback().await.unwrap();

    let replica = schema.pool(&[("default_transaction_read_only", "on")]).await;
    let error = Database::with_pool(replica).await.unwrap_err();
    assert_eq!(error.kind(), DatabaseErrorKind::Unavailable);
}
