//! A host's store keeps the records of the store ports in its own columns and rebuilds them
//! unchanged.

use std::num::NonZeroU32;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::StatusCode;
use webhook_core::event::EventId;
use webhook_core::ports::TransportErrorKind;
use webhook_core::receiver::{BodyDigest, EventKey, Incoming, Position, Queued, ResourceKey, Ticket};
use webhook_core::secret::SigningSecret;
use webhook_core::sender::{
    Attempt, AttemptResult, Audience, Classification, ContentMode, Delivery, DeliveryId, DeliveryState,
    Endpoint, EndpointHealth, EndpointState, EventFilter, FailureReason, InstanceId, Lane, Owner, Standing,
    StaticHeaders, StoredEvent,
};
use webhook_core::signature::{ActiveSigner, Signer, SignerScheme, Signers};

use crate::ends::now;

/// Column of nanoseconds since 1970.
fn nanoseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    since.as_nanos().try_into().unwrap()
}

fn time(nanoseconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_nanos(nanoseconds)
}

/// A time with a fraction of a second.
fn instant() -> SystemTime {
    now() + Duration::new(1, 123_456_789)
}

fn id() -> DeliveryId {
    DeliveryId {
        event: "evt_1".parse().unwrap(),
        endpoint: "ep_1".parse().unwrap(),
    }
}

/// Columns of a delivery.
struct DeliveryRow {
    event: String,
    endpoint: String,
    state: &'static str,
    due_at: u64,
    attempts: u32,
    fence: u64,
    owner: Option<u64>,
    started_at: u64,
    reason: Option<&'static str>,
    crashes: u32,
}

impl From<&Delivery> for DeliveryRow {
    fn from(delivery: &Delivery) -> Self {
        Self {
            event: delivery.id.event.as_str().to_owned(),
            endpoint: delivery.id.endpoint.as_str().to_owned(),
            state: delivery.state.as_str(),
            due_at: nanoseconds(delivery.due_at),
            attempts: delivery.attempts,
            fence: delivery.fence,
            owner: delivery.owner.map(InstanceId::number),
            started_at: nanoseconds(delivery.started_at),
            reason: delivery.reason.map(FailureReason::as_str),
            crashes: delivery.crashes,
        }
    }
}

impl DeliveryRow {
    fn read(self) -> Delivery {
        Delivery {
            id: DeliveryId {
                event: self.event.parse().unwrap(),
                endpoint: self.endpoint.parse().unwrap(),
            },
            state: self.state.parse().unwrap(),
            due_at: time(self.due_at),
            attempts: self.attempts,
            fence: self.fence,
            owner: self.owner.map(InstanceId::new),
            started_at: time(self.started_at),
            reason: self.reason.map(|reason| reason.parse().unwrap()),
            crashes: self.crashes,
        }
    }
}

/// O44, W15: a delivery of the outbox, in each state and with each reason.
#[test]
fn host_reads_back_deliveries_it_built() {
    let reasons = FailureReason::ALL.into_iter().map(Some);
    for state in DeliveryState::ALL {
        for reason in reasons.clone().chain([None]) {
            let delivery = Delivery {
                id: id(),
                state,
                due_at: instant(),
                attempts: 3,
                fence: u64::MAX,
                owner: Some(InstanceId::new(u64::MAX)),
                started_at: now(),
                reason,
                crashes: 1,
            };
            assert_eq!(DeliveryRow::from(&delivery).read(), delivery);
        }
    }
}

/// O44, W15: an event of the outbox, with its body byte for byte.
#[test]
fn host_reads_back_outbox_events_it_built() {
    let event = StoredEvent {
        id: "evt_1".parse().unwrap(),
        event_type: "charge.refunded".parse().unwrap(),
        audience: Audience::tenant("acme".parse().unwrap()),
        created_at: instant(),
        body: Bytes::from_static(b"{ \"a\":1}\n"),
        trace: Some(
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
                .parse()
                .unwrap(),
        ),
    };
    let columns: (String, String, String, u64, Vec<u8>, Option<String>) = (
        event.id.as_str().to_owned(),
        event.event_type.as_str().to_owned(),
        event.audience.to_string(),
        nanoseconds(event.created_at),
        event.body.to_vec(),
        event.trace.map(|trace| trace.to_string()),
    );
    let (id, event_type, audience, created_at, body, trace) = columns;
    let read = StoredEvent {
        id: id.parse().unwrap(),
        event_type: event_type.parse().unwrap(),
        audience: audience.parse().unwrap(),
        created_at: time(created_at),
        body: body.into(),
        trace: trace.map(|trace| trace.parse().unwrap()),
    };
    assert_eq!(read, event);
}

/// O44, W18: a row of the attempt log, with a response and with each kind of failure.
#[test]
fn host_reads_back_attempts_it_built() {
    let failed = |kind| AttemptResult::Failed {
        kind,
        message: "no answer".to_owned(),
    };
    let answered = AttemptResult::Answered {
        status: StatusCode::BAD_GATEWAY,
        body: Bytes::from_static(b"\xff"),
    };
    for result in TransportErrorKind::ALL.into_iter().map(failed).chain([answered]) {
        let attempt = Attempt {
            delivery: id(),
            fence: 7,
            started_at: instant(),
            duration: Duration::from_nanos(250_000_001),
            result,
        };
        let columns = match &attempt.result {
            AttemptResult::Answered { status, body } => (Some(status.as_u16()), body.to_vec(), None),
            AttemptResult::Failed { kind, message } => {
                (None, message.clone().into_bytes(), Some(kind.as_str()))
            }
        };
        let result = match columns {
            (Some(status), body, _) => AttemptResult::Answered {
                status: StatusCode::from_u16(status).unwrap(),
                body: body.into(),
            },
            (None, message, kind) => AttemptResult::Failed {
                kind: kind.unwrap().parse().unwrap(),
                message: String::from_utf8(message).unwrap(),
            },
        };
        let read = Attempt {
            delivery: attempt.delivery.clone(),
            fence: attempt.fence,
            started_at: time(nanoseconds(attempt.started_at)),
            duration: Duration::from_nanos(attempt.duration.as_nanos().try_into().unwrap()),
            result,
        };
        assert_eq!(read, attempt);
    }
}

/// O44, W17: hold and health of an endpoint, kept by the outbox.
#[test]
fn host_reads_back_endpoint_health_it_built() {
    for at in [None, Some(instant())] {
        let lane = Lane {
            held_until: at,
            health: EndpointHealth {
                limit: 8,
                successes: 1,
                failures: 2,
                failing_since: at,
                pauses: 3,
                counts_from: at,
            },
            standing: Standing::Silent,
            rate: at.and_then(|_| NonZeroU32::new(5)),
            paced_until: at,
        };
        let Lane {
            held_until,
            health,
            standing,
            rate,
            paced_until,
        } = lane;
        let times = [held_until, health.failing_since, health.counts_from, paced_until];
        let times = times.map(|at| at.map(nanoseconds));
        let rate = rate.map(NonZeroU32::get);
        let counts = [health.limit, health.successes, health.failures, health.pauses];
        let [held_until, failing_since, counts_from, paced_until] = times.map(|at| at.map(time));
        let [limit, successes, failures, pauses] = counts;
        let read = Lane {
            held_until,
            health: EndpointHealth {
                limit,
                successes,
                failures,
                failing_since,
                pauses,
                counts_from,
            },
            standing: standing.as_str().parse().unwrap(),
            rate: rate.and_then(NonZeroU32::new),
            paced_until,
        };
        assert_eq!(read, lane);
    }
}

/// Columns of each signer: scheme, secret and end.
fn signer_rows(signers: &Signers) -> Vec<(String, String, Option<u64>)> {
    let rows = signers.iter().map(|active| {
        let (scheme, secret) = (active.signer.scheme(), active.signer.expose_text());
        (
            scheme.as_str().to_owned(),
            secret,
            active.not_after.map(nanoseconds),
        )
    });
    rows.collect()
}

/// Columns of each static header: name and value.
fn header_rows(headers: &StaticHeaders) -> Vec<(String, String)> {
    let rows = headers.iter();
    rows.map(|(name, value)| (name.as_str().to_owned(), value.to_str().unwrap().to_owned()))
        .collect()
}

/// O44, W16: an endpoint in each state, with its filter and its signers.
#[test]
fn host_reads_back_endpoints_it_built() {
    let signer = |byte| Signer::standard_webhooks(&SigningSecret::from_bytes(&[byte; 32]).unwrap());
    let signers = Signers::from(signer(1));
    let signers = signers.rotate(signer(2), now(), Signers::OVERLAP).unwrap();
    for state in EndpointState::ALL {
        for events in [
            EventFilter::All,
            EventFilter::only(["charge.refunded".parse().unwrap()]),
        ] {
            let endpoint = Endpoint {
                id: "ep_1".parse().unwrap(),
                url: "https://example.com/hooks?a=1".parse().unwrap(),
                events,
                signers: signers.clone(),
                state,
                classification: Classification::Patient,
                owner: Owner::Tenant("acme".parse().unwrap()),
                rate: NonZeroU32::new(5),
                headers: StaticHeaders::new([("x-team", "billing")]).unwrap(),
                content: ContentMode::CloudEventsBinary,
            };
            let events: Option<Vec<String>> = match &endpoint.events {
                EventFilter::All => None,
                EventFilter::Only(types) => Some(types.iter().map(|kind| kind.as_str().to_owned()).collect()),
            };
            let kept = signer_rows(&endpoint.signers);
            let headers = header_rows(&endpoint.headers);
            let read = Signers::new(kept.iter().map(|(scheme, secret, not_after)| {
                let scheme: SignerScheme = scheme.parse().unwrap();
                ActiveSigner {
                    signer: Signer::from_text(scheme, secret).unwrap(),
                    not_after: not_after.map(time),
                }
            }));
            let read = Endpoint {
                id: endpoint.id.as_str().parse().unwrap(),
                url: endpoint.url.as_str().parse().unwrap(),
                events: events.map_or(EventFilter::All, |types| {
                    EventFilter::only(types.iter().map(|kind| kind.parse().unwrap()))
                }),
                signers: read.unwrap(),
                state: endpoint.state.as_str().parse().unwrap(),
                classification: endpoint.classification.as_str().parse().unwrap(),
                owner: endpoint.owner.to_string().parse().unwrap(),
                rate: endpoint.rate.map(NonZeroU32::get).and_then(NonZeroU32::new),
                headers: StaticHeaders::new(headers.iter().map(|(name, value)| (&**name, &**value))).unwrap(),
                content: endpoint.content.as_str().parse().unwrap(),
            };
            assert_eq!(read.classification, endpoint.classification);
            assert_eq!((&read.owner, read.rate), (&endpoint.owner, endpoint.rate));
            assert_eq!(
                (&read.headers, read.content),
                (&endpoint.headers, endpoint.content)
            );
            assert_eq!((&read.id, read.state), (&endpoint.id, endpoint.state));
            assert_eq!(read.url.as_str(), endpoint.url.as_str());
            assert_eq!(format!("{:?}", read.events), format!("{:?}", endpoint.events));
            assert_eq!(signer_rows(&read.signers), kept);
            assert_eq!(kept.len(), 2);
        }
    }
}

fn key() -> EventKey {
    EventKey {
        source: "payments".to_owned(),
        id: "evt_1".parse().unwrap(),
    }
}

/// O44, W7: the claim of an event, which detects duplicates and conflicts.
#[test]
fn host_reads_back_claims_it_built() {
    let body = Bytes::from_static(b"{}");
    let incoming = Incoming {
        key: key(),
        digest: BodyDigest::compute(&body),
        body,
        expires_at: instant(),
    };
    let columns: (String, String, [u8; 32], Vec<u8>, u64) = (
        incoming.key.source.clone(),
        incoming.key.id.as_str().to_owned(),
        *incoming.digest.as_bytes(),
        incoming.body.to_vec(),
        nanoseconds(incoming.expires_at),
    );
    let (source, id, digest, body, expires_at) = columns;
    let read = Incoming {
        key: EventKey {
            source,
            id: id.parse::<EventId>().unwrap(),
        },
        digest: BodyDigest::from(digest),
        body: body.into(),
        expires_at: time(expires_at),
    };
    assert_eq!(read, incoming);
}

/// O44, W8: an event of the inbox under its lease.
#[test]
fn host_reads_back_queued_events_it_built() {
    let queued = Queued {
        ticket: Ticket {
            key: key(),
            lease: u64::MAX,
        },
        body: Bytes::from_static(b"\0\xff"),
        attempt: 2,
    };
    let EventKey { source, id } = &queued.ticket.key;
    let columns = (
        source.clone(),
        id.as_str().to_owned(),
        queued.ticket.lease,
        queued.body.to_vec(),
        queued.attempt,
    );
    let (source, id, lease, body, attempt) = columns;
    let read = Queued {
        ticket: Ticket {
            key: EventKey {
                source,
                id: id.parse().unwrap(),
            },
            lease,
        },
        body: body.into(),
        attempt,
    };
    assert_eq!(read, queued);
}

/// O44, W9: the position of a resource.
#[test]
fn host_reads_back_latest_seen_it_built() {
    let latest = (
        ResourceKey {
            source: "payments".to_owned(),
            resource: "charge/ch_1".parse().unwrap(),
        },
        Position::from(u64::MAX),
    );
    let columns = (
        latest.0.source.clone(),
        latest.0.resource.as_str().to_owned(),
        latest.1.as_u64(),
    );
    let (source, resource, position) = columns;
    let read = ResourceKey {
        source,
        resource: resource.parse().unwrap(),
    };
    assert_eq!((read, Position::from(position)), latest);
    let text = serde_json::to_string(&latest.0).unwrap();
    assert_eq!(serde_json::from_str::<ResourceKey>(&text).unwrap(), latest.0);
}

/// W9: a resource id has 1 to 255 bytes without NUL, with every constructor.
#[test]
fn resource_id_outside_its_bounds_is_rejected() {
    use webhook_core::receiver::{InvalidResourceId, ResourceId};

    let longest = "é".repeat(127) + "x";
    assert_eq!(longest.len(), 255);
    for valid in ["x", " ", "charge/ch_1", "'; --", "\u{1}", &longest] {
        assert_eq!(valid.parse::<ResourceId>().unwrap().as_str(), valid);
        assert_eq!(ResourceId::try_from(valid.to_owned()).unwrap().to_string(), valid);
    }
    let too_long = "é".repeat(128);
    for invalid in ["", "\0", "ch\u{0}1", &too_long] {
        let error = invalid.parse::<ResourceId>().unwrap_err();
        assert_eq!(error.to_string(), "a resource id is 1 to 255 bytes without NUL");
        let refused: Result<ResourceId, InvalidResourceId> = invalid.to_owned().try_into();
        assert_eq!(refused, Err(error));
        assert!(serde_json::from_value::<ResourceId>(invalid.into()).is_err());
    }
}
