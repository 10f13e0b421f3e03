//! Faults that a person causes on purpose, and their healing; only with the feature `break-it`.
//!
//! A fault touches this process alone. Without [`Config::allow_faults`](super::Config) the page
//! does not exist and no fault can be caused.

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
pub(super) const DOWN: Duration = Duration::from_secs(10);
/// Time for which the built-in receiver hangs.
pub(super) const HANG: Duration = Duration::from_secs(30);
/// Step of the clock.
pub(super) const STEP: Duration = Duration::from_secs(3_600);
/// Maximum number of entries of the story.
const ENTRIES: usize = 50;
/// Maximum number of event ids that the receiver remembers.
const REMEMBERED: usize = 10_000;

/// An entry of the story: a fault, or a step of its healing.
#[derive(Clone, Debug)]
pub(super) struct Happening {
    pub(super) at: SystemTime,
    /// Class of the entry in the timeline.
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
    acted: u64,
    /// Number of messages that wait for their answer.
    waiting: u64,
}

/// The faults of a process.
#[derive(Debug)]
pub(super) struct Faults {
    pub(super) is_allowed: bool,
    drops_next: Mutex<bool>,
    hangs: watch::Sender<bool>,
    is_killed: watch::Sender<bool>,
    story: Mutex<VecDeque<Happening>>,
    received: Mutex<Received>,
}

impl Faults {
    pub(super) fn new(is_allowed: bool) -> Self {
        Self {
            is_allowed,
            drops_next: Mutex::default(),
            hangs: watch::Sender::new(false),
            is_killed: watch::Sender::new(false),
            story: Mutex::default(),
            received: Mutex::default(),
        }
    }

    /// Adds an entry to the story, and forgets the oldest beyond the bound.
    pub(super) fn tell(&self, at: SystemTime, class: &'static str, title: &'static str, text: String) {
        let mut story = self.story.lock().unwrap_or_else(PoisonError::into_inner);
        story.truncate(ENTRIES - 1);
        story.push_front(Happening {
            at,
            class,
            title,
            text,
        });
    }

    /// The story, newest first.
    pub(super) fn story(&self) -> Vec<Happening> {
        let story = self.story.lock().unwrap_or_else(PoisonError::into_inner);
        story.iter().cloned().collect()
    }

    /// Lets the next answer to a change be dropped.
    pub(super) fn drop_next(&self) {
        *self.drops_next.lock().unwrap_or_else(PoisonError::into_inner) = true;
    }

    pub(super) fn drops_next(&self) -> bool {
        *self.drops_next.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `true` if the answer to this request is the one to drop. It is then disarmed.
    pub(super) fn takes_answer(&self, request: &Request<Bytes>) -> bool {
        let path = request.uri().path();
        let is_change = *request.method() == Method::POST
            && (path.starts_with("/v1/") || path.starts_with("/console/"))
            && !path.starts_with("/console/break-it");
        let mut drops = self.drops_next.lock().unwrap_or_else(PoisonError::into_inner);
        is_change && std::mem::take(&mut *drops)
    }

    pub(super) fn set_hanging(&self, hangs: bool) {
        self.hangs.send_replace(hangs);
    }

    pub(super) fn is_hanging(&self) -> bool {
        *self.hangs.borrow()
    }

    /// Completes when the receiver does not hang.
    pub(super) async fn receiver_is_free(&self) {
        let mut hangs = self.hangs.subscribe();
        self.change_waiting(|waiting| waiting.saturating_add(1));
        let _free = hangs.wait_for(|hangs| !*hangs).await;
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
        received.acted += 1;
        if received.ids.len() >= REMEMBERED {
            received.ids.pop_first();
        }
        received.ids.insert(id);
    }

    /// Numbers of messages that were answered, were acted on and wait for their answer.
    pub(super) fn received(&self) -> [u64; 3] {
        let received = self.received.lock().unwrap_or_else(PoisonError::into_inner);
        [received.messages, received.acted, received.waiting]
    }

    pub(super) fn set_killed(&self, is_killed: bool) {
        self.is_killed.send_replace(is_killed);
    }

    pub(super) fn is_killed(&self) -> bool {
        *self.is_killed.borrow()
    }

    /// Completes when the delivery worker is killed, or when it is started again.
    pub(super) async fn worker_is(&self, is_killed: bool) {
        let mut state = self.is_killed.subscribe();
        let _reached = state.wait_for(|state| *state == is_killed).await;
    }
}

/// Body that ends the task of its connection before a byte of the response is sent. The servers
/// answer a panic of the handler, so that the body has to end it.
pub(super) fn cut_connection() -> Body {
    let cut = stream::poll_fn(|_| -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        // not a panic: no message is printed
        std::panic::resume_unwind(Box::new("the answer is dropped on purpose"))
    });
    StreamBody::new(cut).boxed_unsync()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn post(path: &str) -> Request<Bytes> {
        Request::post(path).body(Bytes::new()).unwrap()
    }

    /// X9: one answer to a change is dropped, and none of the page of faults.
    #[test]
    fn one_answer_is_dropped() {
        let faults = Faults::new(true);
        assert!(!faults.takes_answer(&post("/v1/charges")));
        faults.drop_next();
        assert!(!faults.takes_answer(&post("/console/break-it")));
        assert!(!faults.takes_answer(&post("/token")));
        assert!(!faults.takes_answer(&Request::get("/v1/charges").body(Bytes::new()).unwrap()));
        assert!(faults.takes_answer(&post("/v1/charges")));
        assert!(!faults.takes_answer(&post("/v1/charges")));
    }

    #[test]
    fn repeated_message_is_not_acted_on() {
        let faults = Faults::new(true);
        for id in ["evt_1", "evt_2", "evt_1"] {
            faults.receive(id.parse().unwrap());
        }
        assert_eq!(faults.received(), [3, 2, 0]);
    }

    #[test]
    fn story_is_bounded() {
        let faults = Faults::new(true);
        for number in 0..=ENTRIES {
            faults.tell(SystemTime::UNIX_EPOCH, "bad", "x", number.to_string());
        }
        let story = faults.story();
        assert_eq!(story.len(), ENTRIES);
        assert_eq!(story.first().unwrap().text, ENTRIES.to_string());
    }
}
