//! Errors of the ports when rows or the server were changed behind their back.

use std::error::Error;
use std::time::Duration;

use host_store_postgres::{Database, DatabaseErrorKind, sqlx};
use sqlx::postgres::PgPoolOptions;
use webhook_core::address::AddressPolicy;
use webhook_core::ports::{StoreError, StoreErrorKind};
use webhook_core::receiver::{Dedupe, Inbox};
use webhook_core::secret::SigningSecret;
use webhook_core::sender::{
    DeliveryFilter, DeliveryState, Disposition, Endpoint, EndpointStore, FailureReason, Outbox, Owner, Page,
    Settled,
};
use webhook_core::signature::Signer;

use crate::server::{fresh, schema};
use crate::support::{LEASE, START, event, execute, incoming, lease, request, settle, settlement};

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
async fn unreadable_endpoint_attempt_and_arrival_are_corrupt() {
    let database = fresh!();
    let signer = Signer::standard_webhooks(&SigningSecret::from_bytes(&[7; 32]).unwrap());
    let url = "https://hooks.example.com/".parse().unwrap();
    let endpoint = Endpoint::register(
        "ep_1".parse().unwrap(),
        Owner::Tenant("acme".parse().unwrap()),
        &url,
        signer,
        &AddressPolicy::new(),
    )
    .unwrap();
    database.insert(endpoint).await.unwrap();
    for broken in [
        "secrets = '{\"signers\":[]}'",
        "secrets = 'x'",
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

/// W15, H31: an event whose stored trace is unreadable is sent without it.
#[tokio::test]
async fn unreadable_trace_costs_no_event() {
    let database = fresh!();
    let mut given = event(1, &["ep_1"]);
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    given.event.trace = Some(trace.parse().unwrap());
    database.enqueue(given.clone()).await.unwrap();
    execute(database.pool(), "UPDATE webhook_event SET trace = 'x'").await;
    let leases = database.lease(&request(START, 1)).await.unwrap();
    assert_eq!((leases.leased.len(), leases.set_aside), (1, Vec::new()));
    assert_eq!(leases.leased[0].event, given.event.in_trace(None));
}

/// W15: an unreadable row or event fails alone, keeps its fencing token, and takes no slot.
#[tokio::test]
async fn unreadable_row_stops_no_other() {
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
    let unreachable = PgPoolOptions::new().acquire_timeout(Duration::from_millis(50));
    let unreachable = unreachable
        .connect_lazy("postgres://postgres@127.0.0.1:1/postgres")
        .unwrap();
    let error = Database::with_pool(unreachable).await.unwrap_err();
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
        // waits until the process has ended
        let ended: bool = sqlx::query_scalar("SELECT pg_terminate_backend($1, 5000)")
            .bind(pid)
            .fetch_one(&killer)
            .await
            .unwrap();
        assert!(ended);
    }
    database.enqueue(event(1, &["ep_1"])).await.unwrap();
}

#[tokio::test]
async fn replica_and_lock_timeout_are_unavailable() {
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
    let replica = Database::with_pool(replica).await.unwrap();
    assert_eq!(list(&replica).await.unwrap(), 1);
    let error = replica.enqueue(event(2, &["ep_1"])).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    let without_tables = schema!();
    let replica = without_tables
        .pool(&[("default_transaction_read_only", "on")])
        .await;
    let error = Database::with_pool(replica).await.unwrap_err();
    assert_eq!(error.kind(), DatabaseErrorKind::Unavailable);
}

/// W15: of a batch, an unreadable row is not settled and the rest is; unreadable health starts
/// anew.
#[tokio::test]
async fn unreadable_row_is_not_settled_and_stops_no_other() {
    let database = fresh!();
    database.enqueue(event(1, &["ep_1", "ep_2"])).await.unwrap();
    let leased = lease(&database, 2).await;
    for broken in [
        "UPDATE webhook_ready SET attempts = -1 WHERE endpoint = 'ep_1'",
        "UPDATE webhook_lane SET failures = -1, pauses = 1::bigint << 40 WHERE endpoint = 'ep_2'",
    ] {
        execute(database.pool(), broken).await;
    }
    let batch = leased
        .iter()
        .map(|leased| settlement(leased, Disposition::Acked))
        .collect();
    assert_eq!(
        settle(&database, batch).await,
        [Settled::Unknown, Settled::Applied]
    );
    let later = database.lease(&request(START + LEASE, 2)).await.unwrap();
    assert_eq!((later.leased.len(), later.set_aside.len()), (0, 1));
}

/// W8: an unreadable arrival does not stop the others.
#[tokio::test]
async fn unreadable_arrival_stops_no_other() {
    let database = fresh!();
    for number in 1..=2 {
        database
            .claim_and_enqueue(incoming(number, START + LEASE), START)
            .await
            .unwrap();
    }
    execute(
        database.pool(),
        r"UPDATE webhook_received SET source = '\xff' WHERE event = 'evt_1'",
    )
    .await;
    let taken = database.take(2, START, LEASE).await.unwrap();
    assert_eq!(taken.len(), 1);
    assert_eq!(taken[0].ticket.key, incoming(2, START).key);
    let error = database.take(1, START + LEASE, LEASE).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
}

/// W15: a role that may only read finds up-to-date tables, and gets an error when it writes.
#[tokio::test]
async fn a_role_that_may_make_no_tables_can_start() {
    let schema = schema!();
    schema
        .database()
        .await
        .enqueue(event(1, &["ep_1"]))
        .await
        .unwrap();
    let reader = schema.pool(&[("role", "pg_read_all_data")]).await;
    let reader = Database::with_pool(reader).await.unwrap();
    assert_eq!(list(&reader).await.unwrap(), 1);
    let error = reader.enqueue(event(2, &["ep_1"])).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
}

/// X5: an error of the server or the client shows neither a secret of a row nor the password.
#[tokio::test]
async fn no_error_shows_a_secret() {
    let schema = schema!();
    let database = schema.database().await;
    execute(
        database.pool(),
        "ALTER TABLE webhook_endpoint ADD CHECK (url LIKE 'https://internal%')",
    )
    .await;
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let signer = Signer::standard_webhooks(&SigningSecret::from_whsec(secret).unwrap());
    let url = "https://hooks.example.com/".parse().unwrap();
    let endpoint = Endpoint::register(
        "ep_1".parse().unwrap(),
        Owner::Tenant("acme".parse().unwrap()),
        &url,
        signer,
        &AddressPolicy::new(),
    )
    .unwrap();
    let refused = database.insert(endpoint).await.unwrap_err();
    let said = told(&refused);
    assert!(
        !said.contains(secret) && said.contains("webhook_endpoint_url_check"),
        "{said}"
    );

    for url in [
        "postgres://desk:hunter2@127.0.0.1:1/postgres",
        "postgres://desk:hunter2@127.0.0.1:x/postgres",
        "postgress://desk:hunter2@127.0.0.1/postgres",
        "postgres://desk:hunter2@127.0.0.1/postgres?sslmode=hunter2",
    ] {
        let error = Database::connect(url).await.unwrap_err();
        let said = told(&error);
        assert!(!said.contains("hunter2@") && !said.contains(":hunter2"), "{said}");
    }
}

/// X5: an unreadable row may hold a secret or an address: the error shows its place and not its
/// value.
#[tokio::test]
async fn errors_show_no_stored_value() {
    let database = fresh!();
    let signer = Signer::standard_webhooks(&SigningSecret::from_bytes(&[7; 32]).unwrap());
    let url = "https://hooks.example.com/".parse().unwrap();
    let endpoint = Endpoint::register(
        "ep_1".parse().unwrap(),
        Owner::Tenant("acme".parse().unwrap()),
        &url,
        signer,
        &AddressPolicy::new(),
    )
    .unwrap();
    database.insert(endpoint).await.unwrap();
    let mut errors = Vec::new();
    for broken in [
        "UPDATE webhook_endpoint SET state = 'grace@example.com'",
        "UPDATE webhook_endpoint SET url = 'grace@example.com', state = 'enabled'",
        "UPDATE webhook_endpoint SET url = 'https://hooks.example.com/', secrets = 'grace@example.com'",
    ] {
        execute(database.pool(), broken).await;
        errors.push(database.load(&"ep_1".parse().unwrap()).await.unwrap_err());
    }

    let delivery = event(1, &["ep_1"]).deliveries[0].id.clone();
    for row in [
        r"0, NULL, NULL, 'tls', 'grace@example.com\377'::bytea",
        "0, NULL, NULL, 'grace@example.com', 'x'",
    ] {
        execute(database.pool(), "DELETE FROM webhook_attempt").await;
        let insert = format!("INSERT INTO webhook_attempt VALUES ('evt_1', 'ep_1', 1, 0, {row})");
        execute(database.pool(), &insert).await;
        errors.push(database.attempts(&delivery).await.unwrap_err());
    }

    let arrival = incoming(1, START + LEASE);
    database.claim_and_enqueue(arrival, START).await.unwrap();
    for (number, broken) in (0..).zip([
        r"source = 'grace@example.com\377'",
        "source = 'x', event = 'grace@example.com'",
    ]) {
        execute(database.pool(), &format!("UPDATE webhook_received SET {broken}")).await;
        let taken = database.take(1, START + number * LEASE, LEASE).await;
        errors.push(taken.unwrap_err());
    }
    for error in &errors {
        assert_eq!(error.kind(), StoreErrorKind::Corrupt);
        let error = told(error);
        for shown in ["grace", "example.com", "103, 114, 97"] {
            assert!(!error.contains(shown), "{error}");
        }
    }
}

/// Text of an error with all its causes, as a log would show it.
fn told(error: &dyn Error) -> String {
    let this = format!("{error} {error:?}\n");
    this + &error.source().map(told).unwrap_or_default()
}
