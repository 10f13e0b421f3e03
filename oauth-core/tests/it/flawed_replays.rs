//! The conformance kit of replay stores detects each flaw of a store. Each store here is a map with
//! one flaw.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, ThreadId};
use std::time::{Duration, SystemTime};

use oauth_core::ports::StoreError;
use oauth_core::secret::TokenHash;
use oauth_core::store::{ReplayStore, SpendOutcome};
use oauth_core_conformance::replay_store as kit;
use tokio::runtime::{Builder, Runtime};

/// A flaw of a store.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Flaw {
    None,
    /// Reads whether the name exists, and inserts it in a second step.
    GetThenSet,
    /// Accepts everything.
    RemembersNothing,
    /// Stores a prefix of the name.
    TruncatesNames,
    /// Truncates the time to whole seconds.
    Rounds,
    /// Extends the expiry at each use.
    Prolongs,
    /// Keeps expired names until a purge.
    KeepsTheDead,
    /// Purges active names.
    PurgesAll,
    /// Evicts everything when it is full.
    Overflows,
}

struct Flawed {
    flaw: Flaw,
    ends: Mutex<HashMap<Vec<u8>, SystemTime>>,
    /// Number of racers that have read. The racers of a race run on other threads than the one that
    /// made the store.
    looked: Mutex<usize>,
    another: Condvar,
    made_by: ThreadId,
}

impl Flawed {
    fn new(flaw: Flaw) -> Self {
        Self {
            flaw,
            ends: Mutex::default(),
            looked: Mutex::default(),
            another: Condvar::new(),
            made_by: thread::current().id(),
        }
    }

    /// Blocks a racer until a second one has read, so that the race is lost under every schedule of
    /// threads.
    fn wait_for_another(&self) {
        if thread::current().id() == self.made_by {
            return;
        }
        let mut looked = self.looked.lock().expect("no holder panicked");
        *looked += 1;
        self.another.notify_all();
        // a kit that runs one racer alone must fail and not hang
        let patience = Duration::from_secs(10);
        let waited = self
            .another
            .wait_timeout_while(looked, patience, |looked| *looked < 2);
        drop(waited.expect("no holder panicked"));
    }

    fn ends(&self) -> std::sync::MutexGuard<'_, HashMap<Vec<u8>, SystemTime>> {
        self.ends.lock().expect("no holder panicked")
    }

    fn insert(&self, key: TokenHash, expires_at: SystemTime, now: SystemTime) -> SpendOutcome {
        let key = match self.flaw {
            Flaw::TruncatesNames => key.as_bytes()[..1].to_vec(),
            _ => key.as_bytes().to_vec(),
        };
        let expires_at = match self.flaw {
            Flaw::Rounds => {
                let since = expires_at
                    .duration_since(SystemTime::UNIX_EPOCH)
                    .unwrap_or_default();
                SystemTime::UNIX_EPOCH + Duration::from_secs(since.as_secs())
            }
            _ => expires_at,
        };
        let mut ends = self.ends();
        let end = ends.get(&key).copied();
        if self.flaw == Flaw::GetThenSet {
            drop(ends);
            self.wait_for_another();
            ends = self.ends();
        }
        let is_spent = match self.flaw {
            Flaw::RemembersNothing => false,
            Flaw::KeepsTheDead => end.is_some(),
            _ => end.is_some_and(|end| now < end),
        };
        if is_spent {
            if self.flaw == Flaw::Prolongs {
                ends.insert(key, expires_at);
            }
            return SpendOutcome::Seen;
        }
        if self.flaw == Flaw::Overflows && ends.len() >= 500 {
            ends.clear();
        }
        ends.insert(key, expires_at);
        SpendOutcome::Fresh
    }
}

#[async_trait::async_trait]
impl ReplayStore for Flawed {
    async fn insert_once(
        &self,
        key: TokenHash,
        expires_at: SystemTime,
        now: SystemTime,
    ) -> Result<SpendOutcome, StoreError> {
        Ok(self.insert(key, expires_at, now))
    }

    async fn purge_replays(&self, now: SystemTime) -> Result<u64, StoreError> {
        let mut ends = self.ends();
        let before = ends.len();
        ends.retain(|_, end| self.flaw != Flaw::PurgesAll && now < *end);
        Ok((before - ends.len()) as u64)
    }
}

/// A case of the kit, by name.
type Case = (&'static str, fn(&Runtime, &Arc<dyn ReplayStore>));

/// Returns the cases that a store with this flaw fails.
fn failed(flaw: Flaw) -> Vec<&'static str> {
    macro_rules! cases {
        ($($case:ident)*) => {
            [$((stringify!($case), |runtime: &Runtime, store: &Arc<dyn ReplayStore>| {
                runtime.block_on(kit::$case(store));
            })),*]
        };
    }
    let cases: [Case; 9] = cases! {
        name_is_accepted_once
        replay_record_expires_at_exact_instant
        replay_does_not_extend_record
        expired_record_is_not_remembered
        one_of_32_uses_is_fresh
        one_of_32_uses_of_expired_name_is_fresh
        purge_never_allows_second_use
        purge_drops_expired_names_only
        flood_of_names_evicts_none
    };
    let runtime = Builder::new_current_thread().build().unwrap();
    let fails = |case: fn(&Runtime, &Arc<dyn ReplayStore>)| {
        let store: Arc<dyn ReplayStore> = Arc::new(Flawed::new(flaw));
        catch_unwind(AssertUnwindSafe(|| case(&runtime, &store))).is_err()
    };
    let failing = cases.into_iter().filter(|(_, case)| fails(*case));
    failing.map(|(name, _)| name).collect()
}

/// O20, 11, DP13: each flaw fails its own case, and every case fails for some flaw.
#[test]
fn the_kit_of_replays_catches_each_flaw() {
    assert_eq!(failed(Flaw::None), [""; 0]);
    for (flaw, case) in [
        (Flaw::GetThenSet, "one_of_32_uses_is_fresh"),
        (Flaw::RemembersNothing, "name_is_accepted_once"),
        (Flaw::TruncatesNames, "flood_of_names_evicts_none"),
        (Flaw::Rounds, "replay_record_expires_at_exact_instant"),
        (Flaw::Prolongs, "replay_does_not_extend_record"),
        (Flaw::KeepsTheDead, "replay_record_expires_at_exact_instant"),
        (Flaw::PurgesAll, "purge_drops_expired_names_only"),
        (Flaw::Overflows, "flood_of_names_evicts_none"),
    ] {
        let failed = failed(flaw);
        assert!(failed.contains(&case), "{flaw:?} fails {failed:?}");
    }
}
