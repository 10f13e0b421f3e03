use std::{cell::Cell, time::Duration};

use super::*;
use crate::sender::Bulkheads;

const NOW: SystemTime = SystemTime::UNIX_EPOCH;

fn id(event: &str, endpoint: &str) -> DeliveryId {
    DeliveryId {
        event: event.parse().unwrap(),
        endpoint: endpoint.parse().unwrap(),
    }
}

fn request() -> LeaseRequest {
    LeaseRequest {
        now: NOW,
        until: NOW + Duration::from_secs(40),
        limit: 64,
        owner: None,
        bulkheads: Bulkheads::OPEN,
        per_endpoint: 4,
        suspects: 1,
        quarantine_after: 5,
    }
}

/// W17: a lease scans only rows that it can lease, and finds suspects only among leased rows.
#[test]
fn lease_does_not_scan_waiting_rows() {
    let mut queue = Queue::default();
    queue
        .waiting
        .extend((0..10_000).map(|n| (NOW, id(&format!("evt_{n}"), "ep_1"))));
    queue
        .leased
        .extend((0..3).map(|n| (NOW, id(&format!("old_{n}"), "ep_1"))));
    let looked_at = Cell::new(0);
    let becomes_suspect = |_: &DeliveryId| {
        looked_at.set(looked_at.get() + 1);
        false
    };
    assert_eq!(queue.due(&request(), true, becomes_suspect), []);
    assert_eq!(queue.due(&request(), false, becomes_suspect).len(), 4);
    assert!(looked_at.get() <= 2 * 3, "{} rows", looked_at.get());
}

/// W18: the deliveries of an event do not include those of events with a similar id.
#[test]
fn deliveries_of_similar_event_ids_are_separate() {
    let mut tables = Tables::default();
    for event in ["evt_", "evt_1", "evt_10", "evt_1!", "evt_2"] {
        for endpoint in ["!", "!!", "ep_1", "~~~"] {
            tables.write(Delivery::new(id(event, endpoint), NOW));
        }
    }
    let found: Vec<String> = tables
        .of_event(&"evt_1".parse().unwrap())
        .map(|delivery| delivery.id.to_string())
        .collect();
    assert_eq!(found, ["evt_1/!", "evt_1/!!", "evt_1/ep_1", "evt_1/~~~"]);
}
