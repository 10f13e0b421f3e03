//! The conformance kit of attempt stores detects each flaw of a store. Each store here is the
//! memory store with one flaw.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

use oauth_core::attempts::{Admission, AttemptDecision, AttemptKey, AttemptPolicy, Tally};
use oauth_core::memory::MemoryAttempts;
use oauth_core::ports::StoreError;
use oauth_core::store::AttemptStore;
use oauth_core_conformance::attempt_store as kit;
use tokio::runtime::{Builder, Runtime};

const SECOND: Duration = Duration::from_secs(1);

/// A flaw of a store.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Flaw {
    None,
    /// Reads whether the name is closed, and counts in a second step.
    GetThenSet,
    /// Counts refused attempts, so that the wait never ends.
    CountsRefused,
    /// Truncates the time to whole seconds.
    Rounds,
    /// Always reports an open standing.
    StandsForAll,
    /// Counts lookups as attempts.
    CountsLooks,
    /// Counts all names together.
    OneForAll,
    /// Purges every open tally, however new.
    PurgesAll,
    /// Keeps the tally after a successful attempt.
    ForgivesNobody,
    /// Never doubles the wait.
    NeverDoubles,
    /// Evicts everything when it is full.
    Overflows,
}

struct Flawed {
    flaw: Flaw,
    store: MemoryAttempts,
    /// Number of names since the last eviction.
    names: std::sync::atomic::AtomicUsize,
}

impl Flawed {
    fn key(&self, key: &AttemptKey) -> AttemptKey {
        match self.flaw {
            Flaw::OneForAll => AttemptKey::subject(""),
            _ => *key,
        }
    }
}

fn whole(now: SystemTime) -> SystemTime {
    let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    SystemTime::UNIX_EPOCH + Duration::from_secs(since.as_secs())
}

#[async_trait::async_trait]
impl AttemptStore for Flawed {
    async fn admit(
        &self,
        key: &AttemptKey,
        policy: &AttemptPolicy,
        now: SystemTime,
    ) -> Result<Admission, StoreError> {
        let key = self.key(key);
        match self.flaw {
            Flaw::GetThenSet => {
                let seen = self.store.standing(&key, now).await?;
                for _ in 0..200 {
                    thread::yield_now();
                }
                if seen.is_admitted() {
                    let _late = self.store.admit(&key, policy, now).await?;
                }
                Ok(seen)
            }
            Flaw::CountsRefused => match self.store.admit(&key, policy, now).await? {
                Admission::Admitted => Ok(Admission::Admitted),
                refused @ Admission::Refused { retry_after } => {
                    let _again = self.store.admit(&key, policy, now + retry_after).await?;
                    Ok(refused)
                }
            },
            Flaw::Rounds => self.store.admit(&key, policy, whole(now)).await,
            Flaw::NeverDoubles => {
                let policy = policy.with_backoff(60 * SECOND, 60 * SECOND);
                self.store.admit(&key, &policy, now).await
            }
            Flaw::Overflows => {
                let names = self.names.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                if names % 1_000 == 999 {
                    self.store.purge_attempts(now + 1_000_000 * SECOND).await?;
                }
                self.store.admit(&key, policy, now).await
            }
            _ => self.store.admit(&key, policy, now).await,
        }
    }

    async fn standing(&self, key: &AttemptKey, now: SystemTime) -> Result<Admission, StoreError> {
        let key = self.key(key);
        match self.flaw {
            Flaw::StandsForAll => Ok(Admission::Admitted),
            Flaw::CountsLooks => self.store.admit(&key, &AttemptPolicy::PASSWORDS, now).await,
            _ => self.store.standing(&key, now).await,
        }
    }

    async fn forgive(&self, key: &AttemptKey) -> Result<(), StoreError> {
        match self.flaw {
            Flaw::ForgivesNobody => Ok(()),
            _ => self.store.forgive(&self.key(key)).await,
        }
    }

    async fn purge_attempts(&self, now: SystemTime) -> Result<u64, StoreError> {
        let later = match self.flaw {
            Flaw::PurgesAll => 1_000_000 * SECOND,
            _ => Duration::ZERO,
        };
        self.store.purge_attempts(now + later).await
    }
}

/// A case of the kit, by name.
type Case = (&'static str, fn(&Runtime, &Arc<dyn AttemptStore>));

/// Returns the cases that a store with this flaw fails.
fn failed(flaw: Flaw) -> Vec<&'static str> {
    macro_rules! cases {
        ($($case:ident)*) => {
            [$((stringify!($case), |runtime: &Runtime, store: &Arc<dyn AttemptStore>| {
                runtime.block_on(kit::$case(store));
            })),*]
        };
    }
    let cases: [Case; 15] = cases! {
        five_attempts_are_admitted
        wait_ends_at_exact_instant
        refused_attempt_does_not_extend_wait
        waits_double
        tally_expires_at_exact_instant
        forgive_clears_attempts
        standing_is_read_only
        names_are_counted_separately
        five_of_32_attempts_are_admitted
        one_of_32_attempts_is_admitted_after_a_wait
        closed_name_refuses_every_racer
        purge_keeps_active_tallies
        purge_drops_expired_tallies_only
        flood_of_names_keeps_closed_name_closed
        expired_tallies_are_evicted_first
    };
    let runtime = Builder::new_current_thread().build().unwrap();
    let fails = |case: fn(&Runtime, &Arc<dyn AttemptStore>)| {
        let store: Arc<dyn AttemptStore> = Arc::new(Flawed {
            flaw,
            store: MemoryAttempts::new(),
            names: 0.into(),
        });
        catch_unwind(AssertUnwindSafe(|| case(&runtime, &store))).is_err()
    };
    cases
        .into_iter()
        .filter(|(_, case)| fails(*case))
        .map(|(name, _)| name)
        .collect()
}

/// O27, 14: each flaw fails its own case, and every case fails for some flaw.
#[test]
fn the_kit_of_attempts_catches_each_flaw() {
    assert_eq!(failed(Flaw::None), [""; 0]);
    for (flaw, case) in [
        (Flaw::GetThenSet, "five_of_32_attempts_are_admitted"),
        (Flaw::CountsRefused, "refused_attempt_does_not_extend_wait"),
        (Flaw::Rounds, "wait_ends_at_exact_instant"),
        (Flaw::StandsForAll, "closed_name_refuses_every_racer"),
        (Flaw::CountsLooks, "standing_is_read_only"),
        (Flaw::OneForAll, "names_are_counted_separately"),
        (Flaw::PurgesAll, "purge_drops_expired_tallies_only"),
        (Flaw::ForgivesNobody, "forgive_clears_attempts"),
        (Flaw::NeverDoubles, "waits_double"),
        (Flaw::Overflows, "flood_of_names_keeps_closed_name_closed"),
    ] {
        let failed = failed(flaw);
        assert!(failed.contains(&case), "{flaw:?} fails {failed:?}");
    }
}

/// O27: the decision is a pure value, for stores that lock a row and write the result.
#[test]
fn attempt_decision_is_a_value() {
    let (policy, now) = (AttemptPolicy::PASSWORDS, SystemTime::UNIX_EPOCH);
    let mut row: Option<Tally> = None;
    for _ in 0..5 {
        let AttemptDecision::Admit(tally) = policy.decide(row.as_ref(), now) else {
            unreachable!("five are free");
        };
        let text = serde_json::to_string(&tally).unwrap();
        row = serde_json::from_str(&text).unwrap();
        assert_eq!(row, Some(tally));
    }
    let retry_after = 30 * SECOND;
    assert_eq!(
        policy.decide(row.as_ref(), now),
        AttemptDecision::Refuse { retry_after }
    );
}
