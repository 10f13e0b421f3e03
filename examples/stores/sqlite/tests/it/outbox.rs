//! The event in the caller's transaction.

use std::time::SystemTime;

use host_store_sqlite::{Database, outbox};
use webhook_core::address::AddressPolicy;
use webhook_core::secret::SigningSecret;
use webhook_core::sender::{DeliveryFilter, Endpoint, EndpointStore, Enqueued, Outbox, Owner, Page};
use webhook_core::signature::Signer;

use crate::support::{event, note_and_enqueue, notes, with_notes};

async fn deliveries(database: &Database) -> Vec<String> {
    let all = database
        .list(&DeliveryFilter::default(), &Page::default())
        .await
        .unwrap();
    all.into_iter().map(|delivery| delivery.id.to_string()).collect()
}

/// W15: the event is stored if and only if the caller's row is.
#[tokio::test]
async fn event_and_row_commit_together() {
    let database = with_notes(Database::open_in_memory().unwrap()).await;
    assert_eq!(
        note_and_enqueue(&database, 1, event(1)).await.unwrap(),
        Enqueued::Enqueued
    );
    note_and_enqueue(&database, 1, event(2)).await.unwrap_err();

    assert_eq!(notes(&database).await, [1]);
    assert_eq!(deliveries(&database).await, ["evt_1/ep_1"]);
    // the id is free: the failed transaction left nothing
    assert_eq!(
        note_and_enqueue(&database, 2, event(2)).await.unwrap(),
        Enqueued::Enqueued
    );
    assert_eq!(database.enqueue(event(2)).await.unwrap(), Enqueued::Duplicate);
}

fn endpoint(id: &str) -> Endpoint {
    let signer = Signer::standard_webhooks(&SigningSecret::from_bytes(&[1; 32]).unwrap());
    let url = "https://example.com/".parse().unwrap();
    Endpoint::register(
        id.parse().unwrap(),
        Owner::Tenant("acme".parse().unwrap()),
        &url,
        signer,
        &AddressPolicy::new(),
    )
    .unwrap()
}

/// W15, W16: subscriptions are read in the transaction that stores the event, new ones included.
#[tokio::test]
async fn event_goes_to_endpoints_registered_before_it() {
    let database = Database::open_in_memory().unwrap();
    let sent =
        database.write(|transaction| outbox::send_in(transaction, event(1).event, SystemTime::UNIX_EPOCH));
    // the writer runs verbs in their order of arrival
    let (inserted, sent) = tokio::join!(database.insert(endpoint("ep_9")), sent);
    inserted.unwrap();
    assert_eq!(sent.unwrap(), Enqueued::Enqueued);
    assert_eq!(deliveries(&database).await, ["evt_1/ep_9"]);
}
