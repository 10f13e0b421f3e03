//! State of a JWKS client: cached keys, and the schedule of fetches.
//!
//! Two instants are compared by their distance, whichever is earlier, because the clocks of callers
//! differ and may be set back.

use std::future::Future;
use std::time::{Duration, SystemTime};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};

use super::KeysUnavailable;
use crate::jose::KeySet;

/// Pause after a failed fetch: five seconds. Fetches for unknown keys do not wait for its end.
const PAUSE: Duration = Duration::from_secs(5);
/// Maximum duration of a fetch before another one starts: 60 seconds.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) type Fetched = Result<Kept, KeysUnavailable>;
/// Fetch in progress, shared by the callers that wait for it.
pub(super) type Flight = Shared<BoxFuture<'static, Fetched>>;

/// A cached key set.
#[derive(Clone)]
pub(super) struct Kept {
    pub(super) keys: KeySet,
    /// Number of the fetch that returned the set.
    turn: u64,
    /// Start of that fetch.
    asked_at: SystemTime,
    lifetime: Duration,
}

#[derive(Default)]
pub(super) struct State {
    kept: Option<Kept>,
    /// Number of the last fetch.
    turn: u64,
    /// Number, start and future of the fetch in progress.
    flight: Option<(u64, SystemTime, Flight)>,
    /// Start and error of the last fetch, if it failed.
    fault: Option<(SystemTime, KeysUnavailable)>,
    /// Start of the last fetch for an unknown key.
    refetched_at: Option<SystemTime>,
}

fn within(span: Duration, then: SystemTime, now: SystemTime) -> bool {
    let distance = now.duration_since(then).unwrap_or_else(|error| error.duration());
    distance < span
}

impl Kept {
    /// Creates the set of the fetch with this number, which started at `asked_at`.
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
    /// Returns the cached set while it is within its lifetime or not older than `last_use`.
    pub(super) fn usable(&self, last_use: Duration, now: SystemTime) -> Option<Kept> {
        let kept = self.kept.as_ref();
        kept.filter(|kept| kept.is_fresh(now) || within(last_use, kept.asked_at, now))
            .cloned()
    }

    /// Returns the cached set if a later fetch than that of `known` returned it.
    pub(super) fn newer_than(&self, known: &Kept) -> Option<Kept> {
        self.kept.as_ref().filter(|kept| kept.turn > known.turn).cloned()
    }

    /// Returns the fetch in progress, unless it started more than a minute ago. The callers that
    /// waited for it may have been dropped.
    pub(super) fn under_way(&self, now: SystemTime) -> Option<Flight> {
        let (_, _, flight) = self
            .flight
            .as_ref()
            .filter(|(_, begun_at, _)| within(PATIENCE, *begun_at, now))?;
        Some(flight.clone())
    }

    /// Returns `true` if a caller waits for the fetch in progress. The state itself holds one
    /// reference to it.
    pub(super) fn is_awaited(&self) -> bool {
        let flight = self.flight.as_ref();
        flight.is_some_and(|(_, _, flight)| flight.strong_count().is_some_and(|count| count > 1))
    }

    /// Returns the error of the last fetch during the pause after it.
    pub(super) fn fault(&self, now: SystemTime) -> Option<KeysUnavailable> {
        let (_, fault) = self
            .fault
            .as_ref()
            .filter(|(failed_at, _)| within(PAUSE, *failed_at, now))?;
        Some(fault.clone())
    }

    /// Returns `true` if an unknown key may cause a fetch now. If so, the next cool-down starts.
    pub(super) fn may_refetch(&mut self, cool_down: Duration, now: SystemTime) -> bool {
        if self.refetched_at.is_some_and(|then| within(cool_down, then, now)) {
            return false;
        }
        self.refetched_at = Some(now);
        true
    }

    /// Starts a fetch. `fetch` gets the number of the new fetch, and the previous fetch if that
    /// took too long.
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

    /// Stores the result of the fetch with the number `turn`, unless a later fetch has already
    /// stored a set.
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
