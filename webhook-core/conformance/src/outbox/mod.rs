//! Test cases for implementations of [`Outbox`], one module per subject.
#![expect(clippy::expect_used, clippy::panic, reason = "a case fails by panicking")]

pub mod bulkhead;
pub mod enqueue;
pub mod health;
pub mod inspect;
pub mod instance;
pub mod lease;
pub mod missing;
pub mod settle;
pub mod tenants;

use std::time::{Duration, SystemTime};

use bytes::Bytes;

pub use {
    bulkhead::*, enqueue::*, health::*, inspect::*, instance::*, lease::*, missing::*, settle::*, tenants::*,
};

use webhook_core::event::Envelope;
use webhook_core::sender::{
    Attempt, AttemptResult, Audience, Delivery, DeliveryFilter, DeliveryId, Disposition, Enqueue, Enqueued,
    LeaseRequest, Leased, Leases, Outbox, Page, Settled, Settlement, StoredEvent,
};

pub(crate) const LEASE: Duration = Duration::from_secs(40);
pub(crate) const TICK: Duration = Duration::from_millis(1);

/// Time `seconds` after the beginning of the case.
pub(crate) fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + seconds)
}

pub(crate) fn delivery_id(event: &str, endpoint: &str) -> DeliveryId {
    DeliveryId {
        event: event.parse().expect("the case has a valid event id"),
        endpoint: endpoint.parse().expect("the case has a valid endpoint id"),
    }
}

/// An event for these endpoints, accepted at the beginning of the case.
pub(crate) fn enqueue_of(event: &str, object: &str, endpoints: &[&str]) -> Enqueue {
    let deliveries = endpoints
        .iter()
        .map(|endpoint| Delivery::new(delivery_id(event, endpoint), at(0)));
    let id = event.parse().expect("the case has a valid event id");
    let event_type = "charge.refunded".parse().expect("a valid type");
    let version = "1".parse().expect("a valid version");
    let envelope = Envelope::new(id, event_type, version, at(0), object.as_bytes());
    let envelope = envelope.expect("the case has a JSON object");
    Enqueue {
        event: StoredEvent {
            id: envelope.id().clone(),
            event_type: envelope.event_type().clone(),
            audience: Audience::tenant("acme".parse().expect("a valid tenant")),
            created_at: at(0),
            body: envelope.bytes().clone(),
            trace: None,
        },
        deliveries: deliveries.collect(),
    }
}

pub(crate) async fn enqueue(store: &dyn Outbox, event: &str, endpoints: &[&str]) {
    let enqueued = store.enqueue(enqueue_of(event, "{}", endpoints)).await;
    assert_eq!(enqueued.expect("the store works"), Enqueued::Enqueued);
}

/// Stores an event with this `created` time, accepted at the beginning of the case.
pub(crate) async fn enqueue_created(
    store: &dyn Outbox,
    event: &str,
    created_at: SystemTime,
    endpoints: &[&str],
) {
    let mut enqueue = enqueue_of(event, "{}", endpoints);
    enqueue.event.created_at = created_at;
    let enqueued = store.enqueue(enqueue).await;
    assert_eq!(enqueued.expect("the store works"), Enqueued::Enqueued);
}

pub(crate) fn names(deliveries: &[Delivery]) -> Vec<String> {
    let ids = deliveries.iter().map(|delivery| delivery.id.to_string());
    ids.collect()
}

pub(crate) fn lease_request(now: SystemTime, limit: usize, per_endpoint: usize) -> LeaseRequest {
    LeaseRequest {
        until: now + LEASE,
        per_endpoint,
        suspects: limit,
        ..LeaseRequest::new(now, limit)
    }
}

pub(crate) async fn lease(store: &dyn Outbox, request: LeaseRequest) -> Vec<Leased> {
    let Leases { leased, set_aside } = store.lease(&request).await.expect("the store works");
    assert_eq!(set_aside, [], "nothing is set aside");
    leased
}

/// Leases all due deliveries.
pub(crate) async fn lease_due(store: &dyn Outbox, now: SystemTime) -> Vec<Leased> {
    lease(store, lease_request(now, 1_000, 1_000)).await
}

/// Leases the only due delivery.
pub(crate) async fn lease_one(store: &dyn Outbox, now: SystemTime) -> Leased {
    let mut leased = lease_due(store, now).await;
    assert_eq!(leased.len(), 1, "one delivery is due");
    leased.remove(0)
}

pub(crate) fn ids(leased: &[Leased]) -> Vec<String> {
    leased
        .iter()
        .map(|leased| leased.delivery.id.to_string())
        .collect()
}

pub(crate) fn settlement(leased: &Leased, disposition: Disposition) -> Settlement {
    Settlement {
        delivery: leased.delivery.id.clone(),
        fence: leased.delivery.fence,
        owner: leased.delivery.owner,
        disposition,
        spent: !matches!(disposition, Disposition::Held { .. }),
        hold_endpoint_until: None,
        rate: None,
        attempt: None,
    }
}

pub(crate) fn answered(leased: &Leased, status: u16, body: impl Into<Bytes>) -> Attempt {
    Attempt {
        delivery: leased.delivery.id.clone(),
        fence: leased.delivery.fence,
        started_at: at(leased.delivery.fence),
        duration: Duration::from_millis(250),
        result: AttemptResult::Answered {
            status: status.try_into().expect("a valid status"),
            body: body.into(),
        },
    }
}

pub(crate) async fn settle(store: &dyn Outbox, settlement: Settlement) -> Settled {
    let settled = store.settle(vec![settlement]).await.expect("the store works");
    assert_eq!(settled.len(), 1, "one answer for each settlement");
    settled.first().expect("there is one").settled
}

pub(crate) async fn load(store: &dyn Outbox, id: &DeliveryId) -> Option<Delivery> {
    let mut found = list(store, &DeliveryFilter::one(id), &Page::default()).await;
    found.pop()
}

pub(crate) async fn list(store: &dyn Outbox, filter: &DeliveryFilter, page: &Page) -> Vec<Delivery> {
    store.list(filter, page).await.expect("the store works")
}

pub(crate) async fn next_due(store: &dyn Outbox) -> Option<SystemTime> {
    store.next_due().await.expect("the store works")
}
