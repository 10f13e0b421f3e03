//! Events and outcomes, and reads of the tables.

use std::time::{Duration, SystemTime};

use host_store_postgres::{Database, DatabaseError, outbox, sqlx};
use sqlx::{AssertSqlSafe, PgPool};
use webhook_core::address::AddressPolicy;
use webhook_core::event::Envelope;
use webhook_core::receiver::{BodyDigest, EventKey, Incoming};
use webhook_core::secret::SigningSecret;
use webhook_core::sender::{
    Audience, Bulkheads, Delivery, DeliveryFilter, DeliveryId, Disposition, Endpoint, Enqueue, Enqueued,
    LeaseRequest, Leased, Outbox, Owner, Page, Settled, Settlement, StoredEvent,
};
use webhook_core::signature::Signer;

pub(crate) const START: SystemTime = SystemTime::UNIX_EPOCH;
pub(crate) const LEASE: Duration = Duration::from_secs(40);

/// An outgoing event for these endpoints.
pub(crate) fn event(number: usize, endpoints: &[&str]) -> Enqueue {
    let (id, kind) = (
        format!("evt_{number}").parse().unwrap(),
        "note.created".parse().unwrap(),
    );
    let event = StoredEvent::new(
        Envelope::new(id, kind, "1".parse().unwrap(), START, b"{}").unwrap(),
        Audience::tenant("acme".parse().unwrap()),
    );
    let deliveries = endpoints.iter().map(|endpoint| {
        let id = DeliveryId {
            event: event.id.clone(),
            endpoint: endpoint.parse().unwrap(),
        };
        Delivery::new(id, START)
    });
    Enqueue {
        deliveries: deliveries.collect(),
        event,
    }
}

pub(crate) fn signer(secret: u8) -> Signer {
    Signer::standard_webhooks(&SigningSecret::from_bytes(&[secret; 32]).unwrap())
}

pub(crate) fn endpoint(id: &str) -> Endpoint {
    let url = "https://hooks.example.com/".parse().unwrap();
    Endpoint::register(
        id.parse().unwrap(),
        Owner::Tenant("acme".parse().unwrap()),
        &url,
        signer(7),
        &AddressPolicy::new(),
    )
    .unwrap()
}

/// The same event as an incoming one.
pub(crate) fn incoming(number: usize, expires_at: SystemTime) -> Incoming {
    let StoredEvent { id, body, .. } = event(number, &[]).event;
    let key = EventKey {
        source: "peer".to_owned(),
        id,
    };
    Incoming {
        key,
        digest: BodyDigest::compute(&body),
        body,
        expires_at,
    }
}

/// A request for all due deliveries at this time, within the endpoints' limits.
pub(crate) fn request(now: SystemTime, limit: usize) -> LeaseRequest {
    LeaseRequest {
        now,
        until: now + LEASE,
        limit,
        owner: None,
        bulkheads: Bulkheads::OPEN,
        per_endpoint: 1_000,
        suspects: limit,
        quarantine_after: 5,
    }
}

pub(crate) async fn lease(database: &Database, limit: usize) -> Vec<Leased> {
    database.lease(&request(START, limit)).await.unwrap().leased
}

pub(crate) async fn settle(database: &Database, settlements: Vec<Settlement>) -> Vec<Settled> {
    let receipts = database.settle(settlements).await.unwrap();
    receipts.into_iter().map(|receipt| receipt.settled).collect()
}

pub(crate) fn settlement(leased: &Leased, disposition: Disposition) -> Settlement {
    Settlement {
        delivery: leased.delivery.id.clone(),
        fence: leased.delivery.fence,
        owner: leased.delivery.owner,
        disposition,
        spent: true,
        hold_endpoint_until: None,
        rate: None,
        attempt: None,
    }
}

pub(crate) async fn deliveries(database: &Database) -> Vec<Delivery> {
    let page = Page {
        after: None,
        limit: 10_000,
    };
    database.list(&DeliveryFilter::default(), &page).await.unwrap()
}

/// Makes a table of the host.
pub(crate) async fn with_notes(database: Database) -> Database {
    database
        .migrate("notes", &["CREATE TABLE note (id BIGINT PRIMARY KEY)"])
        .await
        .unwrap();
    database
}

/// Stores a note and the event about it in one transaction.
pub(crate) async fn note_and_enqueue(
    database: &Database,
    id: i64,
    enqueue: Enqueue,
) -> Result<Enqueued, DatabaseError> {
    let mut transaction = database.pool().begin().await?;
    let enqueued = outbox::enqueue_in(&mut transaction, &enqueue).await?;
    sqlx::query("INSERT INTO note (id) VALUES ($1)")
        .bind(id)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(enqueued)
}

pub(crate) async fn execute(pool: &PgPool, statement: &str) {
    sqlx::raw_sql(AssertSqlSafe(statement.to_owned()))
        .execute(pool)
        .await
        .unwrap();
}

pub(crate) async fn count(database: &Database, table: &str) -> i64 {
    let query = AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
    sqlx::query_scalar(query)
        .fetch_one(database.pool())
        .await
        .unwrap()
}
