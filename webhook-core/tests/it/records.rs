//! A host's store builds every record of the store ports from its columns and reads each field.

use std::time::Duration;

use bytes::Bytes;
use webhook_core::ports::TransportErrorKind;
use webhook_core::receiver::{BodyDigest, EventKey, Incoming, Position, Queued, ResourceKey, Ticket};
use webhook_core::secret::SigningSecret;
use webhook_core::sender::{
    Attempt, AttemptResult, Audience, Bulkheads, Delivery, DeliveryFilter, DeliveryId, DeliveryState,
    Disposition, Endpoint, EndpointHealth, EndpointState, Enqueue, EventFilter, EventPlace, FailureReason,
    HealthEvent, InstanceId, Lane, LeaseRequest, Leased, Leases, Missing, MissingRequest, Page, PurgeRequest,
    Receipt, ReplayRequest, Rotation, SecretsAtRest, SetAside, Settled, Settlement, Standing, StaticHeaders,
    StoredEvent,
};
use webhook_core::signature::{Signer, Signers};

use crate::ends::now;

fn delivery_id() -> DeliveryId {
    let DeliveryId { event, endpoint } = DeliveryId {
        event: "evt_1".parse().unwrap(),
        endpoint: "ep_1".parse().unwrap(),
    };
    let (event, endpoint) = (event.as_str(), endpoint.as_str());
    DeliveryId {
        event: event.parse().unwrap(),
        endpoint: endpoint.parse().unwrap(),
    }
}

/// O44: the records of a receiver's stores are built from columns and read back.
#[test]
fn receiver_records_are_built_and_read_by_a_host() {
    let key = EventKey {
        source: "payments".to_owned(),
        id: "evt_1".parse().unwrap(),
    };
    let json = serde_json::to_string(&key).unwrap();
    assert_eq!(serde_json::from_str::<EventKey>(&json).unwrap(), key);
    let digest = BodyDigest::from(*BodyDigest::compute(b"{}").as_bytes());
    let incoming = Incoming {
        key,
        digest,
        body: Bytes::from_static(b"{}"),
        expires_at: now(),
    };
    let Incoming {
        key,
        digest,
        body,
        expires_at,
    } = incoming;
    assert_eq!((digest, expires_at), (BodyDigest::compute(&body), now()));
    let ticket = Ticket { key, lease: 7 };
    let queued = Queued {
        ticket,
        body,
        attempt: 2,
    };
    assert_eq!((queued.ticket.lease, queued.attempt), (7, 2));
    assert_eq!(queued.ticket.key.id.as_str(), "evt_1");
    let resource = ResourceKey {
        source: "payments".to_owned(),
        resource: "ch_1".parse().unwrap(),
    };
    assert_eq!(
        (resource.source.as_str(), resource.resource.as_str()),
        ("payments", "ch_1")
    );
    assert_eq!(Position::from(9).as_u64(), 9);
}

/// O44: a delivery, its event and its attempts are built from columns and read back.
#[test]
#[expect(clippy::too_many_lines, reason = "one case after the other")]
fn delivery_records_are_built_and_read_by_a_host() {
    let delivery = Delivery {
        id: delivery_id(),
        state: "leased".parse().unwrap(),
        due_at: now(),
        attempts: 1,
        fence: 3,
        owner: Some(InstanceId::new(7)),
        started_at: now(),
        reason: None,
        crashes: 0,
    };
    assert_eq!(delivery.state.to_string().parse(), Ok(DeliveryState::Leased));
    let event = StoredEvent {
        id: delivery.id.event.clone(),
        event_type: "charge.refunded".parse().unwrap(),
        audience: Audience::tenant("acme".parse().unwrap()),
        created_at: now(),
        body: Bytes::from_static(b"{}"),
        trace: None,
    };
    let enqueue = Enqueue {
        event: event.clone(),
        deliveries: vec![delivery.clone()],
    };
    assert_eq!((enqueue.event.body.len(), enqueue.deliveries.len()), (2, 1));
    let set_aside = SetAside {
        delivery: delivery_id(),
        reason: "quarantined".parse().unwrap(),
    };
    assert_eq!(set_aside.reason, FailureReason::Quarantined);
    let leases = Leases {
        leased: vec![Leased {
            delivery,
            event,
            due_at: now(),
            standing: Standing::Answering,
        }],
        set_aside: vec![set_aside],
    };
    assert_eq!(leases.leased[0].delivery.fence, 3);
    let kind: TransportErrorKind = "timeout".parse().unwrap();
    let attempt = Attempt {
        delivery: delivery_id(),
        fence: 3,
        started_at: now(),
        duration: Duration::from_millis(250),
        result: AttemptResult::Failed {
            kind,
            message: "late".to_owned(),
        },
    };
    assert!(matches!(&attempt.result, AttemptResult::Failed { kind, .. } if kind.as_str() == "timeout"));
    let settlement = Settlement {
        delivery: delivery_id(),
        fence: attempt.fence,
        owner: Some(InstanceId::new(7)),
        disposition: Disposition::Retry { due_at: now() },
        spent: true,
        hold_endpoint_until: None,
        rate: None,
        attempt: Some(attempt),
    };
    let mut lane = Lane {
        held_until: Some(now()),
        health: EndpointHealth {
            limit: 8,
            ..EndpointHealth::default()
        },
        standing: "silent".parse().unwrap(),
        rate: None,
        paced_until: None,
    };
    let health = lane.settle(&settlement, Settled::Applied);
    let receipt = Receipt {
        settled: Settled::Applied,
        health,
    };
    assert!(
        receipt
            .health
            .is_none_or(|event| !matches!(event, HealthEvent::BreakerClosed))
    );
    let EndpointHealth {
        limit,
        successes,
        failures,
        failing_since,
        pauses,
        counts_from,
    } = lane.health;
    assert!(limit <= 8 && successes == 0 && failures == 1 && pauses == 0);
    assert!(failing_since.is_some() && counts_from.is_some());
}

/// O44: a host reads the arguments of a store, and builds the place from which the next call
/// continues.
#[test]
fn store_requests_are_built_and_read_by_a_host() {
    let request = LeaseRequest {
        now: now(),
        until: now(),
        limit: 1,
        owner: None,
        bulkheads: Bulkheads::OPEN,
        per_endpoint: 1,
        suspects: 1,
        quarantine_after: 5,
    };
    assert_eq!((request.now, request.until), (now(), now()));
    let page = Page {
        after: Some(delivery_id()),
        limit: 10,
    };
    assert_eq!((page.after, page.limit), (Some(delivery_id()), 10));
    let filter = DeliveryFilter::one(&delivery_id()).with_created(now()..);
    let replay = ReplayRequest {
        filter,
        acknowledged: false,
        after: None,
        limit: usize::MAX,
        now: now(),
        dry_run: true,
    };
    assert_eq!(
        (replay.filter.created.from, replay.filter.created.before),
        (Some(now()), None)
    );
    assert!(replay.filter.states.is_empty() && replay.filter.event.is_some());
    let place = EventPlace {
        created_at: now(),
        id: "evt_1".parse().unwrap(),
    };
    let missing = Missing {
        count: 1,
        next: Some(place),
    };
    let look = MissingRequest {
        created: (..now()).into(),
        after: missing.next,
        limit: 10,
        now: now(),
        dry_run: false,
    };
    assert_eq!(look.after.map(|place| place.created_at), Some(now()));
    let purge = PurgeRequest {
        before: now(),
        failed: true,
        limit: 5,
    };
    assert!(purge.failed && purge.before == now() && purge.limit == 5);
}

/// O44: an endpoint is rebuilt from its columns, its signers from their text.
#[test]
fn endpoint_record_is_rebuilt_from_its_columns() {
    let signer = Signer::standard_webhooks(&SigningSecret::from_bytes(&[7; 32]).unwrap());
    let (id, at_rest) = ("ep_1".parse().unwrap(), SecretsAtRest::default());
    let none = StaticHeaders::default();
    let text = at_rest.write(&id, &Signers::from(signer.clone()), &none).unwrap();
    let (signers, headers) = at_rest.read(&id, &text).unwrap();
    let endpoint = Endpoint {
        url: "https://example.com/hooks".parse().unwrap(),
        events: EventFilter::only(["charge.refunded".parse().unwrap()]),
        signers,
        headers,
        owner: "tenant:acme".parse().unwrap(),
        rate: None,
        content: "envelope".parse().unwrap(),
        state: "paused".parse().unwrap(),
        classification: "patient".parse().unwrap(),
        id,
    };
    assert_eq!(
        (endpoint.id.as_str(), endpoint.state),
        ("ep_1", EndpointState::Paused)
    );
    assert_eq!(endpoint.url.as_str(), "https://example.com/hooks");
    assert!(matches!(&endpoint.events, EventFilter::Only(types) if types.len() == 1));
    assert_eq!(endpoint.signers.iter().count(), 1);
    let rotation = Rotation {
        next: signer,
        now: now(),
        overlap: Signers::OVERLAP,
    };
    assert_eq!((rotation.now, rotation.overlap), (now(), Signers::OVERLAP));
}
