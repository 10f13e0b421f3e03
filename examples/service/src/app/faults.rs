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
use http::{Method, Request};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use tokio::sync::watch;
use webhook_core::event::EventId;

use super::body::Body;

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

/// The faults of a process.
#[derive(Debug)]
pub(super) struct InjectedFaults {
    pub(super) is_allowed: bool,
    is_drop_armed: Mutex<bool>,
    is_hanging: watch::Sender<bool>,
    is_killed: watch::Sender<bool>,
    timeline: Mutex<VecDeque<TimelineEntry>>,
    received: Mutex<Received>,
}

impl InjectedFaults {
    pub(super) fn new(is_allowed: bool) -> Self {
        Self {
            is_allowed,
            is_drop_armed: Mutex::default(),
            is_hanging: watch::Sender::new(false),
            is_killed: watch::Sender::new(false),
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

    /// Lets the next response to a change be dropped.
    pub(super) fn arm_drop(&self) {
        *self.is_drop_armed.lock().unwrap_or_else(PoisonError::into_inner) = true;
    }

    pub(super) fn is_drop_armed(&self) -> bool {
        *self.is_drop_armed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `true` if the response to this request is the one to drop, and disarms the fault.
    pub(super) fn take_drop(&self, request: &Request<Bytes>) -> bool {
        let path = request.uri().path();
        let is_change = *request.method() == Method::POST
            && (path.starts_with("/v1/") || path.starts_with("/console/"))
            && !path.starts_with("/console/break-it");
        let mut is_armed = self.is_drop_armed.lock().unwrap_or_else(PoisonError::into_inner);
        is_change && std::mem::take(&mut *is_armed)
    }

    pub(super) fn set_hanging(&self, is_hanging: bool) {
        self.is_hanging.send_replace(is_hanging);
    }

    pub(super) fn is_hanging(&self) -> bool {
        *self.is_hanging.borrow()
    }

    /// Completes when the receiver does not hang.
    pub(super) async fn wait_for_receiver(&self) {
        let mut state = self.is_hanging.subscribe();
        self.change_waiting(|waiting| waiting.saturating_add(1));
        let _free = state.wait_for(|is_hanging| !*is_hanging).await;
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

    pub(super) fn set_killed(&self, is_killed: bool) {
        self.is_killed.send_replace(is_killed);
    }

    pub(super) fn is_killed(&self) -> bool {
        *self.is_killed.borrow()
    }

    /// Completes when the delivery worker is killed, or when it is started again.
    pub(super) async fn wait_for_worker(&self, is_killed: bool) {
        let mut state = self.is_killed.subscribe();
        let _reached = state.wait_for(|state| *state == is_killed).await;
    }
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

    fn post(path: &str) -> Request<Bytes> {
        Request::post(path).body(Bytes::new()).unwrap()
    }

    /// X9: one response to a change is dropped, and none of the page of faults.
    #[test]
    fn one_answer_is_dropped() {
        let faults = InjectedFaults::new(true);
        assert!(!faults.take_drop(&post("/v1/charges")));
        faults.arm_drop();
        assert!(!faults.take_drop(&post("/console/break-it")));
        assert!(!faults.take_drop(&post("/token")));
        assert!(!faults.take_drop(&Request::get("/v1/charges").body(Bytes::new()).unwrap()));
        assert!(faults.take_drop(&post("/v1/charges")));
        assert!(!faults.take_drop(&post("/v1/charges")));
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
    fn story_is_bounded() {
        let faults = InjectedFaults::new(true);
        for number in 0..=MAX_ENTRIES {
            faults.record(SystemTime::UNIX_EPOCH, "bad", "x", number.to_string());
        }
        let timeline = faults.timeline();
        assert_eq!(timeline.len(), MAX_ENTRIES);
        assert_eq!(timeline.first().unwrap().text, MAX_ENTRIES.to_string());
    }
}
