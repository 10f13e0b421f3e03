//! What is known of the keys, and when the issuer is asked again.
//!
//! Instants are compared by their distance, whichever comes first: the clocks of callers differ a little, and are set back now and
//! then.

use std::future::Future;
use std::time::{Duration, SystemTime};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};

use super::KeysUnavailable;
use crate::jose::KeySet;

/// How long an issuer that failed is left alone while there are no keys in their lifetime.
const PAUSE: Duration = Duration::from_secs(5);
/// How long a flight may take before another one takes off.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) type Fetched = Result<Kept, KeysUnavailable>;
pub(super) type Flight = Shared<BoxFuture<'static, Fetched>>;

/// A set, and what there is to know of it.
#[derive(Clone)]
pub(super) struct Kept {
    pub(super) keys: KeySet,
    turn: u64,
    asked_at: SystemTime,
    lifetime: Duration,
}

#[derive(Default)]
pub(super) struct State {
    kept: Option<Kept>,
    /// Counts the flights.
    turn: u64,
    flight: Option<(u64, SystemTime, Flight)>,
    fault: Option<(SystemTime, KeysUnavailable)>,
    refetched_at: Option<SystemTime>,
}

fn within(span: Duration, then: SystemTime, now: SystemTime) -> bool {
    let distance = now.duration_since(then).unwrap_or_else(|error| error.duration());
    distance < span
}

impl Kept {
    /// What the flight of this number brought, which took off at `asked_at`.
    pub(super) fn new(keys: KeySet, turn: u64, asked_at: SystemTime, lifetime: Duration) -> Self {
        Self {
            keys,
            turn,
            asked_at,
            lifetime,
        }
    }

    pub(super) fn is_fresh(&self, now: SystemTime) -> bool {
        within(self.lifetime, self.asked_at, now)
    }
}

impl State {
    /// The set, unless it is too old for anything.
    pub(super) fn usable(&self, last_use: Duration, now: SystemTime) -> Option<Kept> {
        let kept = self.kept.as_ref();
        kept.filter(|kept| kept.is_fresh(now) || within(last_use, kept.asked_at, now))
            .cloned()
    }

    pub(super) fn newer_than(&self, known: &Kept) -> Option<Kept> {
        self.kept.as_ref().filter(|kept| kept.turn > known.turn).cloned()
    }

    /// The flight that somebody began a moment ago, and that may have nobody to drive it.
    pub(super) fn under_way(&self, now: SystemTime) -> Option<Flight> {
        let (_, _, flight) = self
            .flight
            .as_ref()
            .filter(|(_, begun_at, _)| within(PATIENCE, *begun_at, now))?;
        Some(flight.clone())
    }

    /// Whether somebody waits for the flight and so drives it; the one that is kept here waits for nothing.
    pub(super) fn is_awaited(&self) -> bool {
        let flight = self.flight.as_ref();
        flight.is_some_and(|(_, _, flight)| flight.strong_count().is_some_and(|count| count > 1))
    }

    /// Why there are no newer keys, if the issuer failed so shortly ago that it is left alone.
    pub(super) fn fault(&self, now: SystemTime) -> Option<KeysUnavailable> {
        let (_, fault) = self
            .fault
            .as_ref()
            .filter(|(failed_at, _)| within(PAUSE, *failed_at, now))?;
        Some(fault.clone())
    }

    /// Whether a strange name may have the set fetched again; if so, the next may not for a while.
    pub(super) fn may_refetch(&mut self, cool_down: Duration, now: SystemTime) -> bool {
        if self.refetched_at.is_some_and(|then| within(cool_down, then, now)) {
            return false;
        }
        self.refetched_at = Some(now);
        true
    }

    /// Begins a flight: `fetch` is told its number, and given the one that took too long, if there is one.
    pub(super) fn take_off<F>(
        &mut self,
        now: SystemTime,
        fetch: impl FnOnce(u64, Option<Flight>) -> F,
    ) -> Flight
    where
        F: Future<Output = Fetched> + Send + 'static,
    {
        self.turn = self.turn.wrapping_add(1);
        let given_up = self.flight.take().map(|(_, _, flight)| flight);
        let flight = fetch(self.turn, given_up).boxed().shared();
        self.flight = Some((self.turn, now, flight.clone()));
        flight
    }

    /// Takes what a flight brought. One that took too long changes nothing that a later one brought.
    pub(super) fn land(&mut self, turn: u64, fetched: &Fetched, begun_at: SystemTime) {
        if self.flight.as_ref().is_some_and(|(own, ..)| *own == turn) {
            self.flight = None;
        }
        if self.kept.as_ref().is_some_and(|kept| kept.turn > turn) {
            return;
        }
        match fetched {
            Ok(kept) => {
                self.kept = Some(kept.clone());
                self.fault = None;
            }
            Err(fault) => self.fault = Some((begun_at, fault.clone())),
        }
    }
}
