//! The conformance kit of rate limits finds seeded mistakes.

use std::{
    collections::HashMap,
    sync::{Arc, Barrier, Mutex},
    time::SystemTime,
};

use async_trait::async_trait;
use http_conventions::{
    limits::{BucketKey, RateLimitDecision, RateLimitStore, Spend, State, decide, decide_all},
    ports::StoreError,
};
use http_conventions_conformance::rate_limit_store as kit;

/// A memory store with one mistake.
struct Flawed {
    states: Mutex<HashMap<BucketKey, State>>,
    flaw: Flaw,
    all_looked: Barrier,
}

#[derive(Clone, Copy, PartialEq)]
enum Flaw {
    /// Reads first and writes later, so that racers interleave.
    LooksThenWrites,
    /// Takes from each bucket that allows it, although another refuses.
    TakesFromEach,
    /// Truncates times to microseconds.
    CutsTimes,
    /// Drops states from a clock that is ahead.
    ForgetsWhatIsAhead,
    /// Charges refused requests.
    ChargesRefusals,
    /// Uses one bucket for all names with the same prefix.
    CutsNames,
}

impl Flawed {
    fn shared(flaw: Flaw) -> Arc<dyn RateLimitStore> {
        Arc::new(Self {
            states: Mutex::default(),
            flaw,
            all_looked: Barrier::new(32),
        })
    }

    fn load(&self, spends: &[Spend<'_>], now: SystemTime) -> Vec<State> {
        let states = self.states.lock().unwrap();
        let load = |spend: &Spend<'_>| {
            let state = states.get(&self.key(spend)).copied().unwrap_or_default();
            let latest = State::from_nanoseconds(spend.operation(now).latest);
            match state > latest {
                true if self.flaw == Flaw::ForgetsWhatIsAhead => State::default(),
                _ => state,
            }
        };
        spends.iter().map(load).collect()
    }

    fn key(&self, spend: &Spend<'_>) -> BucketKey {
        if self.flaw == Flaw::CutsNames {
            let cut: String = spend.partition().chars().take(255).collect();
            return spend.policy().spend(&cut).bucket();
        }
        spend.bucket()
    }

    fn after(&self, spend: &Spend<'_>, state: State, now: SystemTime) -> Option<State> {
        match decide(state, spend.policy().quota(), spend.cost(), now) {
            RateLimitDecision::Allowed { state } => Some(state),
            RateLimitDecision::Denied { .. } if self.flaw == Flaw::ChargesRefusals => Some(
                State::from_nanoseconds(state.as_nanoseconds() + spend.operation(now).increment),
            ),
            RateLimitDecision::Denied { .. } => None,
        }
    }
}

#[async_trait]
impl RateLimitStore for Flawed {
    async fn spend(&self, spends: &[Spend<'_>], now: SystemTime) -> Result<Vec<State>, StoreError> {
        let states = self.load(spends, now);
        if self.flaw == Flaw::LooksThenWrites {
            self.all_looked.wait();
        }
        let passes = decide_all(&states, spends, now).is_some();
        let is_partial = matches!(self.flaw, Flaw::TakesFromEach | Flaw::ChargesRefusals);
        for (spend, state) in spends.iter().zip(&states) {
            let Some(mut after) = self.after(spend, *state, now).filter(|_| passes || is_partial) else {
                continue;
            };
            if self.flaw == Flaw::CutsTimes {
                after = State::from_nanoseconds(after.as_nanoseconds() / 1_000 * 1_000);
            }
            self.states.lock().unwrap().insert(self.key(spend), after);
        }
        Ok(states)
    }
}

/// H15: a spend in two steps lets too many requests pass; the race of the kit finds it.
#[tokio::test]
#[should_panic(expected = "right: 10")]
async fn a_spend_in_two_steps_is_found() {
    kit::burst_passes_of_32_requests(&Flawed::shared(Flaw::LooksThenWrites)).await;
}

/// H15: a store that takes from some buckets of a refused request is found.
#[tokio::test]
#[should_panic(expected = "right: 9")]
async fn a_store_that_takes_from_some_is_found() {
    kit::request_takes_from_all_buckets_or_none(&Flawed::shared(Flaw::TakesFromEach)).await;
}

/// H15: a store that truncates times is found.
#[tokio::test]
#[should_panic(expected = "left: [State(1800000000266313000)]")]
async fn a_store_that_cuts_states_is_found() {
    kit::state_keeps_its_nanoseconds(&Flawed::shared(Flaw::CutsTimes)).await;
}

/// H15: a store that drops states of another clock is found.
#[tokio::test]
#[should_panic(expected = "left: 2")]
async fn a_store_that_trusts_the_clock_is_found() {
    kit::clock_stepping_back_returns_no_units(&Flawed::shared(Flaw::ForgetsWhatIsAhead)).await;
}

/// H15: a store that charges refused requests locks callers out permanently; the kit finds it.
#[tokio::test]
#[should_panic(expected = "right: 1")]
async fn a_store_that_charges_refusals_is_found() {
    kit::denied_request_takes_nothing(&Flawed::shared(Flaw::ChargesRefusals)).await;
}

/// H15: a store that truncates names shares buckets between callers; the kit finds it.
#[tokio::test]
#[should_panic(expected = "aaaa")]
async fn a_store_that_cuts_names_is_found() {
    kit::hostile_partition_names_are_distinct(&Flawed::shared(Flaw::CutsNames)).await;
}
