//! Faults injected on purpose, and the recovery from them; only with the feature `break-it`.
//!
//! A fault affects this process, and a step of its clock also the rows of its SQLite file, which
//! another process may share. Without [`Config::allow_faults`](super::Config) the page
//! does not exist and no fault can be injected.

use std::collections::{BTreeSet, VecDeque};
use std::convert::Infallible;
use std::sync::{Mutex, PoisonError};
use std::task::Poll;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::stream;
use http::header::LOCATION;
use http::{Method, Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use tokio::sync::watch;
use webhook_core::event::EventId;

use super::body::Body;
use super::browser::form;
use super::resources::Unkept;

/// Time after which a killed delivery worker is started again.
pub(super) const WORKER_DOWNTIME: Duration = Duration::from_secs(10);
/// Time for which the built-in receiver hangs.
pub(super) const RECEIVER_HANG: Duration = Duration::from_secs(30);
/// Step of the clock.
pub(super) const CLOCK_STEP: Duration = Duration::from_secs(3_600);
/// Maximum number of timeline entries.
const MAX_ENTRIES: usize = 50;
/// Maximum number of event ids that the receiver remembers.
const MAX_EVENT_IDS: usize = 10_000;

/// Timeline entry: a fault, or a step of the recovery.
#[derive(Clone, Debug)]
pub(super) struct TimelineEntry {
    pub(super) at: SystemTime,
    /// CSS class of the entry.
    pub(super) class: &'static str,
    pub(super) title: &'static str,
    pub(super) text: String,
}

/// Deliveries that the built-in receiver got.
#[derive(Debug, Default)]
struct Received {
    ids: BTreeSet<EventId>,
    /// Number of messages.
    messages: u64,
    /// Number of messages whose id was new.
    distinct_events: u64,
    /// Number of messages that wait for their response.
    waiting: u64,
}

/// Fault that a user or a timer starts and ends. A timer ends only the fault that
/// started it, not one that began later.
#[derive(Debug, Default)]
pub(super) struct TimedFault(watch::Sender<FaultState>);

#[derive(Debug, Default)]
struct FaultState {
    is_active: bool,
    generation: u64,
}

/// Identifies one activation of a [`TimedFault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Generation(u64);

impl TimedFault {
    /// Begins the fault. An active fault begins anew: its earlier timer no longer ends it.
    pub(super) fn begin(&self) -> Generation {
        let mut generation = 0;
        self.0.send_modify(|state| {
            state.is_active = true;
            state.generation += 1;
            generation = state.generation;
        });
        Generation(generation)
    }

    /// Ends the fault. Returns `false` if it was not active.
    pub(super) fn end(&self) -> bool {
        self.0
            .send_if_modified(|state| std::mem::take(&mut state.is_active))
    }

    /// Ends the fault if it has not begun anew. Returns `false` if nothing was changed.
    pub(super) fn end_generation(&self, generation: Generation) -> bool {
        self.0.send_if_modified(|state| {
            state.generation == generation.0 && std::mem::take(&mut state.is_active)
        })
    }

    pub(super) fn is_active(&self) -> bool {
        self.0.borrow().is_active
    }

    /// Waits until the fault is active, or until it is not.
    pub(super) async fn wait_for(&self, is_active: bool) {
        let mut state = self.0.subscribe();
        let _reached = state.wait_for(|state| state.is_active == is_active).await;
    }
}

/// The faults of a process.
#[derive(Debug)]
pub(super) struct InjectedFaults {
    pub(super) is_allowed: bool,
    is_drop_armed: Mutex<bool>,
    /// The built-in receiver does not answer.
    pub(super) hang: TimedFault,
    /// The delivery worker is killed.
    pub(super) kill: TimedFault,
    timeline: Mutex<VecDeque<TimelineEntry>>,
    received: Mutex<Received>,
}

impl InjectedFaults {
    pub(super) fn new(is_allowed: bool) -> Self {
        Self {
            is_allowed,
            is_drop_armed: Mutex::default(),
            hang: TimedFault::default(),
            kill: TimedFault::default(),
            timeline: Mutex::default(),
            received: Mutex::default(),
        }
    }

    /// Adds a timeline entry, and removes the oldest if there are more than 50.
    pub(super) fn record(&self, at: SystemTime, class: &'static str, title: &'static str, text: String) {
        let mut timeline = self.timeline.lock().unwrap_or_else(PoisonError::into_inner);
        timeline.truncate(MAX_ENTRIES - 1);
        timeline.push_front(TimelineEntry {
            at,
            class,
            title,
            text,
        });
    }

    /// Timeline entries, newest first.
    pub(super) fn timeline(&self) -> Vec<TimelineEntry> {
        let timeline = self.timeline.lock().unwrap_or_else(PoisonError::into_inner);
        timeline.iter().cloned().collect()
    }

    /// Lets the next response to a change with an idempotency key be dropped.
    pub(super) fn arm_drop(&self) {
        *self.is_drop_armed.lock().unwrap_or_else(PoisonError::into_inner) = true;
    }

    pub(super) fn is_drop_armed(&self) -> bool {
        *self.is_drop_armed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `true` if this is the response to drop, and disarms the fault.
    pub(super) fn take_drop(&self, response: &Response<Body>) -> bool {
        if !has_stored_answer(response) {
            return false;
        }
        let mut is_armed = self.is_drop_armed.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *is_armed)
    }

    /// Completes when the receiver does not hang.
    pub(super) async fn wait_for_receiver(&self) {
        self.change_waiting(|waiting| waiting.saturating_add(1));
        self.hang.wait_for(false).await;
        self.change_waiting(|waiting| waiting.saturating_sub(1));
    }

    fn change_waiting(&self, change: impl Fn(u64) -> u64) {
        let mut received = self.received.lock().unwrap_or_else(PoisonError::into_inner);
        received.waiting = change(received.waiting);
    }

    /// Counts a message to the built-in receiver. A repeated id is not acted on.
    pub(super) fn receive(&self, id: EventId) {
        let mut received = self.received.lock().unwrap_or_else(PoisonError::into_inner);
        received.messages += 1;
        if received.ids.contains(&id) {
            return;
        }
        received.distinct_events += 1;
        if received.ids.len() >= MAX_EVENT_IDS {
            received.ids.pop_first();
        }
        received.ids.insert(id);
    }

    /// Numbers of acknowledged messages, of distinct events among them, and of pending messages.
    pub(super) fn count_received(&self) -> [u64; 3] {
        let received = self.received.lock().unwrap_or_else(PoisonError::into_inner);
        [received.messages, received.distinct_events, received.waiting]
    }
}

/// Returns `true` if the request is a change whose retry gets the stored answer: a POST with an
/// `Idempotency-Key`, or a form of the console, which has its key as a field.
pub(super) fn is_repeatable(request: &Request<Bytes>) -> bool {
    let path = request.uri().path();
    let has_field = || form(request).is_ok_and(|fields| fields.optional("idempotency_key").is_some());
    match () {
        () if *request.method() != Method::POST => false,
        () if path.starts_with("/v1/") => request.headers().contains_key("idempotency-key"),
        () => path.starts_with("/console/") && has_field(),
    }
}

/// Returns `true` for the first answer to a change that was made, if a retry gets it. A refusal
/// changed nothing, a replay is itself the stored answer, and one with a secret is not stored.
fn has_stored_answer(response: &Response<Body>) -> bool {
    let leads_to = response.headers().get(LOCATION).map(|path| path.as_bytes());
    let is_done = match response.status() {
        // without a session a form leads to the sign-in
        StatusCode::SEE_OTHER => leads_to.is_some_and(|path| !path.starts_with(b"/login")),
        status => status.is_success(),
    };
    let is_stored = response.extensions().get::<Unkept>().is_none();
    is_done && is_stored && !response.headers().contains_key("idempotency-replayed")
}

/// Body that closes the connection before a byte of the response is sent. A panic in the handler
/// would become a 500 response, so the body panics.
pub(super) fn cut_connection() -> Body {
    let cut = stream::poll_fn(|_| -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        // unlike `panic!`, prints no message
        std::panic::resume_unwind(Box::new("the response is dropped on purpose"))
    });
    StreamBody::new(cut).boxed_unsync()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, header: (&'static str, &'static str)) -> Response<Body> {
        let answer = Response::builder().status(status).header(header.0, header.1);
        answer.body(crate::app::body::whole(Bytes::new())).unwrap()
    }

    /// X9: the first answer to a change that was made is dropped; refusals and replays arrive.
    #[test]
    fn one_answer_is_dropped() {
        let faults = InjectedFaults::new(true);
        let made = answer(201, ("location", "/v1/charges/ch_1"));
        assert!(!faults.take_drop(&made));
        faults.arm_drop();
        for kept in [
            answer(422, ("x", "x")),
            answer(401, ("x", "x")),
            answer(503, ("x", "x")),
            answer(201, ("idempotency-replayed", "true")),
            answer(303, ("location", "/login?return_to=/")),
        ] {
            assert!(!faults.take_drop(&kept), "{kept:?}");
            assert!(faults.is_drop_armed());
        }
        assert!(faults.take_drop(&made));
        assert!(!faults.take_drop(&made));
        faults.arm_drop();
        assert!(faults.take_drop(&answer(303, ("location", "/console/charges/ch_1"))));
    }

    /// X9: only a POST with a key is repeatable: the header of the API, the field of a form.
    #[test]
    fn change_with_key_is_repeatable() {
        let check = |method: &str, path: &str, key: bool, body: &'static str, expected: bool| {
            let mut request = Request::builder().method(method).uri(path);
            request = request.header("content-type", "application/x-www-form-urlencoded");
            if key {
                request = request.header("idempotency-key", "\"k-1\"");
            }
            let request = request.body(Bytes::from_static(body.as_bytes())).unwrap();
            assert_eq!(is_repeatable(&request), expected, "{method} {path} {key} {body}");
        };
        check("POST", "/v1/charges", true, "", true);
        check("POST", "/v1/charges", false, "", false);
        check("GET", "/v1/charges", true, "", false);
        check("POST", "/token", true, "", false);
        check(
            "POST",
            "/console/charges",
            false,
            "idempotency_key=0123456789abcdef",
            true,
        );
        check("POST", "/console/charges", true, "amount=1", false);
        check("POST", "/console/break-it", false, "fault=drop", false);
    }

    /// X9: the timer of an earlier press does not end a fault that began again.
    #[test]
    fn timer_ends_only_its_own_fault() {
        let fault = TimedFault::default();
        assert!(!fault.end());
        let first = fault.begin();
        assert!(fault.end() && !fault.end());
        let second = fault.begin();
        assert!(!fault.end_generation(first) && fault.is_active());
        // pressed twice: the later timer counts
        let third = fault.begin();
        assert!(!fault.end_generation(second) && fault.is_active());
        assert!(fault.end_generation(third) && !fault.is_active());
        assert!(!fault.end_generation(third));
    }

    /// X9: the built-in receiver counts a repeated message, and its event once.
    #[test]
    fn repeated_message_is_not_acted_on() {
        let faults = InjectedFaults::new(true);
        for id in ["evt_1", "evt_2", "evt_1"] {
            faults.receive(id.parse().unwrap());
        }
        assert_eq!(faults.count_received(), [3, 2, 0]);
    }

    /// X9: the timeline keeps the newest 50 entries.
    #[test]
    fn timeline_keeps_the_newest_entries() {
        let faults = InjectedFaults::new(true);
        for number in 0..=MAX_ENTRIES {
            faults.record(SystemTime::UNIX_EPOCH, "bad", "x", number.to_string());
        }
        let timeline = faults.timeline();
        assert_eq!(timeline.len(), MAX_ENTRIES);
        assert_eq!(timeline.first().unwrap().text, MAX_ENTRIES.to_string());
    }
}
