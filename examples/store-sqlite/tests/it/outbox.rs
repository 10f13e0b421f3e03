//! The event in the caller's own transaction.

use store_sqlite::Database;
use webhook_core::sender::{DeliveryFilter, Enqueued, Outbox, Page};

use crate::support::{event, note_and_enqueue, notes, with_notes};

async fn deliveries(database: &Database) -> Vec<String> {
    let all = database
        .list(&DeliveryFilter::default(), &Page::default())
        .await
        .unwrap();
    all.into_iter().map(|delivery| delivery.id.to_string()).collect()
}

/// W15: the event is there exactly when the caller's row is.
#[tokio::test]
async fn an_event_stands_and_falls_with_the_row_it_is_about() {
    let database = with_notes(Database::open_in_memory().unwrap()).await;
    assert_eq!(
        note_and_enqueue(&database, 1, event(1)).await.unwrap(),
        Enqueued::Enqueued
    );
    note_and_enqueue(&database, 1, event(2)).await.unwrap_err();

    assert_eq!(notes(&database).await, [1]);
    assert_eq!(deliveries(&database).await, ["evt_1/ep_1"]);
    // the id is free: what failed left nothing behind
    assert_eq!(
        note_and_enqueue(&database, 2, event(2)).await.unwrap(),
        Enqueued::Enqueued
    );
    assert_eq!(database.enqueue(event(2)).await.unwrap(), Enqueued::Duplicate);
}
