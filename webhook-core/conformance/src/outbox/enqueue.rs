//! Test cases of [`Outbox`](webhook_core::sender::Outbox) for storing events.

/// Test cases.
#[host_ports_conformance::kit(outbox_enqueue)]
mod cases {
    use std::sync::Arc;
    use std::time::SystemTime;

    use crate::outbox::{
        at, delivery_id, enqueue, enqueue_of, ids, lease_due, lease_one, list, load, settle, settlement,
    };
    use host_ports_conformance::race;
    use webhook_core::sender::{Delivery, DeliveryFilter, Disposition, Enqueue, Enqueued, Outbox, Page};

    async fn try_enqueue(store: &dyn Outbox, enqueue: Enqueue) -> Enqueued {
        store.enqueue(enqueue).await.expect("the store works")
    }

    /// W15: an event and its deliveries are returned as they were stored.
    pub async fn an_event_is_stored_with_all_its_deliveries(store: &Arc<dyn Outbox>) {
        let mut given = enqueue_of("evt_1", r#"{"a": 1}"#, &["ep_1", "ep_2"]);
        given.event.created_at = SystemTime::UNIX_EPOCH;
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse();
        given.event.trace = Some(trace.expect("a valid traceparent"));
        assert_eq!(try_enqueue(store, given.clone()).await, Enqueued::Enqueued);
        assert_eq!(
            list(store, &DeliveryFilter::default(), &Page::default()).await,
            given.deliveries
        );
        let leased = lease_due(store, at(0)).await;
        assert_eq!(ids(&leased), ["evt_1/ep_1", "evt_1/ep_2"]);
        assert!(leased.iter().all(|leased| leased.event == given.event));
    }

    /// W15: an event without subscribers is stored, and its id is taken.
    pub async fn event_without_subscribers_is_stored(store: &Arc<dyn Outbox>) {
        enqueue(store, "evt_1", &[]).await;
        assert!(lease_due(store, at(0)).await.is_empty());
        assert_eq!(
            try_enqueue(store, enqueue_of("evt_1", "{}", &["ep_1"])).await,
            Enqueued::Duplicate
        );
        assert!(lease_due(store, at(0)).await.is_empty());
    }

    /// W15: an event that a producer stores again is a duplicate and leaves the deliveries
    /// unchanged.
    pub async fn the_same_event_again_is_a_duplicate(store: &Arc<dyn Outbox>) {
        enqueue(store, "evt_1", &["ep_1"]).await;
        let leased = lease_one(store, at(0)).await;
        let mut again = enqueue_of("evt_1", "{}", &["ep_1", "ep_2"]);
        // each try of a producer may have a trace of its own
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse();
        again.event.trace = Some(trace.expect("a valid traceparent"));
        assert_eq!(try_enqueue(store, again).await, Enqueued::Duplicate);
        let stored = list(store, &DeliveryFilter::default(), &Page::default()).await;
        assert_eq!(stored, [leased.delivery]);
    }

    /// W15: one id with two bodies, or two types, is a conflict and changes nothing.
    pub async fn another_event_under_the_same_id_is_a_conflict(store: &Arc<dyn Outbox>) {
        enqueue(store, "evt_1", &["ep_1"]).await;
        let other_body = enqueue_of("evt_1", "{ }", &["ep_2"]);
        assert_eq!(try_enqueue(store, other_body).await, Enqueued::Conflict);
        let mut other_type = enqueue_of("evt_1", "{}", &["ep_2"]);
        other_type.event.event_type = "charge.updated".parse().expect("a valid type");
        assert_eq!(try_enqueue(store, other_type).await, Enqueued::Conflict);
        assert_eq!(ids(&lease_due(store, at(0)).await), ["evt_1/ep_1"]);
    }

    /// W15: of 32 concurrent enqueues of one event exactly one is stored, with its deliveries once.
    pub async fn of_32_simultaneous_enqueues_one_is_stored(store: &Arc<dyn Outbox>) {
        let enqueued = race(store, async |store, _| {
            try_enqueue(&*store, enqueue_of("evt_1", "{}", &["ep_1", "ep_2"])).await
        })
        .await;
        assert_eq!(
            enqueued
                .iter()
                .filter(|answer| **answer == Enqueued::Enqueued)
                .count(),
            1
        );
        assert_eq!(
            enqueued
                .iter()
                .filter(|answer| **answer == Enqueued::Duplicate)
                .count(),
            31
        );
        assert_eq!(lease_due(store, at(0)).await.len(), 2);
    }

    /// W1: the stored body equals the envelope byte for byte: white space, repeated keys, escapes,
    /// non-ASCII text, 512 KiB.
    pub async fn bodies_are_kept_byte_for_byte(store: &Arc<dyn Outbox>) {
        let large = format!(r#"{{"a":"{}"}}"#, "x'".repeat(256 * 1024));
        let bodies = [
            "{}",
            "{ \"b\" : 1,\t\"a\":1.0,\"a\":2.00,\r\n\"c\":1e2}",
            r#"{"a":"\u0000\ud83d\ude00\/","b":null}"#,
            "{\"e\u{301}\":\"\u{e9}\u{1f600}\u{7f}\u{feff}\"}",
            &large,
        ];
        for (n, body) in bodies.iter().enumerate() {
            let event = enqueue_of(&format!("evt_{n}"), body, &[&format!("ep_{n}")]);
            let body = event.event.body.clone();
            assert_eq!(try_enqueue(store, event).await, Enqueued::Enqueued);
            let leased = lease_one(store, at(0)).await;
            assert_eq!(leased.event.body.len(), body.len(), "body {n}");
            assert!(leased.event.body == body, "body {n}");
        }
    }

    /// W15: ids are compared byte for byte, with any content.
    pub async fn hostile_ids_are_kept_apart(store: &Arc<dyn Outbox>) {
        let longest = "~".repeat(256);
        let ids = [
            "e",
            "E",
            "%",
            "_",
            "'",
            "\"",
            "\\",
            "/",
            "//",
            "';--",
            "null",
            "0",
            "00",
            longest.as_str(),
        ];
        for event in ids {
            enqueue(store, event, &ids).await;
        }
        for event in ids {
            for endpoint in ids {
                let id = delivery_id(event, endpoint);
                let stored = load(store, &id).await;
                assert_eq!(
                    stored,
                    Some(Delivery::new(id, at(0))),
                    "event {event:.20?}, endpoint {endpoint:.20?}"
                );
            }
        }
        let page = Page {
            after: None,
            limit: 1_000,
        };
        let listed = list(store, &DeliveryFilter::default(), &page).await;
        let listed: Vec<_> = listed.into_iter().map(|delivery| delivery.id).collect();
        assert!(listed.is_sorted(), "byte by byte");
        assert_eq!(listed.len(), ids.len() * ids.len());
        let mut leased = 0;
        loop {
            let due = lease_due(store, at(0)).await;
            if due.is_empty() {
                break;
            }
            leased += due.len();
            for due in &due {
                settle(store, settlement(due, Disposition::Acked)).await;
            }
        }
        assert_eq!(leased, ids.len() * ids.len());
    }
}

pub use cases::*;
