//! Receiver with a queue in another system: no crash between claim and queue loses an event.

use std::{
    future::{pending, ready},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU8, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use futures_util::FutureExt;
use http::{StatusCode, header};
use webhook_core::{
    memory::MemoryClaims,
    ports::StoreError,
    receiver::{ClaimThenQueue, Incoming, Queue, ReceiveOutcome, Receiver, Verifier},
};

use super::{Fixture, body, outcome};
use crate::ends::secret;

const LEASE: Duration = Duration::from_secs(30);

const WORKS: u8 = 0;
const IS_DOWN: u8 = 1;
const HANGS: u8 = 2;
/// The queue has the event, and the result is lost.
const HANGS_AFTERWARDS: u8 = 3;

#[derive(Default)]
struct Broker {
    mood: AtomicU8,
    events: Mutex<Vec<String>>,
}

#[async_trait]
impl Queue for Broker {
    async fn push(&self, event: &Incoming) -> Result<(), StoreError> {
        let mood = self.mood.load(Ordering::Relaxed);
        match mood {
            IS_DOWN => return Err(StoreError::unavailable("down")),
            HANGS => return pending().await,
            _ => self.events.lock().unwrap().push(event.key.id.to_string()),
        }
        if mood == HANGS_AFTERWARDS {
            return pending().await;
        }
        ready(Ok(())).await
    }
}

struct Ends {
    fixture: Fixture,
    receiver: Receiver,
    broker: Arc<Broker>,
}

impl Ends {
    fn new() -> Self {
        let (fixture, broker) = (Fixture::new(), Arc::new(Broker::default()));
        let dedupe = ClaimThenQueue::new(MemoryClaims::default(), broker.clone(), LEASE);
        let verifier = Verifier::timestamp_body_hex(secret(1));
        let receiver = Receiver::builder("payments", verifier, dedupe, fixture.clock.clone());
        Self {
            receiver: receiver.build().unwrap(),
            fixture,
            broker,
        }
    }

    /// Response to the sender; `None` if the receiver crashes while it waits for the queue.
    fn deliver(&self, mood: u8) -> Option<(StatusCode, ReceiveOutcome, Option<String>)> {
        self.broker.mood.store(mood, Ordering::Relaxed);
        let request = self.fixture.request("evt_1", body("evt_1"));
        let response = self.receiver.receive(request).now_or_never()?;
        let retry_after = response.headers().get(header::RETRY_AFTER);
        let retry_after = retry_after.map(|seconds| seconds.to_str().unwrap().to_owned());
        Some((response.status(), outcome(&response), retry_after))
    }

    fn queued(&self) -> usize {
        self.broker.events.lock().unwrap().len()
    }
}

/// W7: a duplicate is acknowledged only if the queue has the event; until then the sender gets a
/// 503 with `Retry-After`.
#[test]
fn a_crash_between_claim_and_queue_loses_nothing() {
    let ends = Ends::new();
    assert_eq!(ends.deliver(HANGS), None);
    let retry_after = LEASE;
    let (status, outcome, seconds) = ends.deliver(WORKS).unwrap();
    assert_eq!(
        (status, outcome),
        (
            StatusCode::SERVICE_UNAVAILABLE,
            ReceiveOutcome::Pending { retry_after }
        )
    );
    assert_eq!((seconds.as_deref(), ends.queued()), (Some("30"), 0));

    ends.fixture.clock.advance(LEASE);
    let (status, outcome, _) = ends.deliver(WORKS).unwrap();
    assert_eq!(
        (status, outcome),
        (StatusCode::NO_CONTENT, ReceiveOutcome::Enqueued)
    );
    let (status, outcome, _) = ends.deliver(WORKS).unwrap();
    assert_eq!(
        (status, outcome),
        (StatusCode::NO_CONTENT, ReceiveOutcome::Duplicate)
    );
    assert_eq!(ends.queued(), 1);
}

/// W7, W8: an unreachable queue is a 503, and the event is queued when the queue works again.
#[test]
fn a_queue_that_is_down_acknowledges_nothing() {
    let ends = Ends::new();
    for _ in 0..3 {
        assert_eq!(ends.deliver(IS_DOWN).unwrap().0, StatusCode::SERVICE_UNAVAILABLE);
        assert!(matches!(
            ends.deliver(WORKS).unwrap().1,
            ReceiveOutcome::Pending { .. }
        ));
        ends.fixture.clock.advance(LEASE);
    }
    assert_eq!(ends.deliver(WORKS).unwrap().1, ReceiveOutcome::Enqueued);
    assert_eq!(ends.queued(), 1);
}

/// W7: after a crash between queue and confirmation the event is queued again, neither lost nor
/// acknowledged without it.
#[test]
fn a_crash_between_queue_and_note_queues_it_again() {
    let ends = Ends::new();
    assert_eq!(ends.deliver(HANGS_AFTERWARDS), None);
    assert!(matches!(
        ends.deliver(WORKS).unwrap().1,
        ReceiveOutcome::Pending { .. }
    ));
    ends.fixture.clock.advance(LEASE);
    assert_eq!(ends.deliver(WORKS).unwrap().1, ReceiveOutcome::Enqueued);
    assert_eq!(
        (ends.deliver(WORKS).unwrap().1, ends.queued()),
        (ReceiveOutcome::Duplicate, 2)
    );
}
