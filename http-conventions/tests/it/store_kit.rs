//! The conformance kit of idempotency stores finds seeded mistakes.

use std::{
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use http_conventions::{
    idempotency::{
        AfterCrash, Claim, ClaimOutcome, Fence, IdempotencyStore, MemoryIdempotencyStore, Record, RecordKey,
        RequestOutcome, Settled, State, decide,
    },
    ports::StoreError,
};
use http_conventions_conformance::{idempotency_store as kit, keyed_requests as posts_kit};

fn shared(store: impl IdempotencyStore + 'static) -> Arc<dyn IdempotencyStore> {
    Arc::new(store)
}

/// Reads first and writes later, so that racers interleave.
struct LooksThenWrites {
    record: Mutex<Option<Record>>,
    all_looked: Barrier,
}

#[async_trait]
impl IdempotencyStore for LooksThenWrites {
    async fn claim(&self, claim: &Claim, now: SystemTime) -> Result<ClaimOutcome, StoreError> {
        let seen = self.record.lock().unwrap().clone();
        self.all_looked.wait();
        let outcome = decide(seen, claim, now);
        if outcome == ClaimOutcome::Claimed {
            *self.record.lock().unwrap() = Some(claim.record());
        }
        Ok(outcome)
    }

    async fn complete(
        &self,
        _: &RecordKey,
        _: &Fence,
        _: RequestOutcome,
        _: SystemTime,
    ) -> Result<Settled, StoreError> {
        Ok(Settled::Fenced)
    }

    async fn release(&self, _: &RecordKey, _: &Fence) -> Result<Settled, StoreError> {
        Ok(Settled::Fenced)
    }
}

/// H6: a claim in two steps lets several requests run; the race of the kit finds it.
#[tokio::test]
#[should_panic(expected = "left: 32")]
async fn a_claim_in_two_steps_is_found() {
    let store = LooksThenWrites {
        record: Mutex::default(),
        all_looked: Barrier::new(32),
    };
    kit::one_of_32_claims_wins(&shared(store)).await;
}

/// Ignores the fencing token.
struct IgnoresFences {
    inner: MemoryIdempotencyStore,
    holder: Mutex<Option<Fence>>,
}

impl IgnoresFences {
    fn holder(&self) -> Fence {
        self.holder.lock().unwrap().unwrap()
    }
}

#[async_trait]
impl IdempotencyStore for IgnoresFences {
    async fn claim(&self, claim: &Claim, now: SystemTime) -> Result<ClaimOutcome, StoreError> {
        let outcome = self.inner.claim(claim, now).await?;
        if let (ClaimOutcome::Claimed, State::InFlight { fence, .. }) = (&outcome, claim.record().state) {
            *self.holder.lock().unwrap() = Some(fence);
        }
        Ok(outcome)
    }

    async fn complete(
        &self,
        key: &RecordKey,
        _: &Fence,
        outcome: RequestOutcome,
        expires_at: SystemTime,
    ) -> Result<Settled, StoreError> {
        self.inner
            .complete(key, &self.holder(), outcome, expires_at)
            .await
    }

    async fn release(&self, key: &RecordKey, _: &Fence) -> Result<Settled, StoreError> {
        self.inner.release(key, &self.holder()).await
    }
}

/// H6: a late holder could overwrite the work of the next; the kit finds it.
#[tokio::test]
#[should_panic(expected = "right: Fenced")]
async fn a_store_without_fences_is_found() {
    let store = IgnoresFences {
        inner: MemoryIdempotencyStore::default(),
        holder: Mutex::default(),
    };
    kit::fenced_holder_changes_nothing(&shared(store)).await;
}

/// Grants the first claim of a race and fails the rest, like a database after a lock timeout.
#[derive(Default)]
struct Overwhelmed {
    inner: MemoryIdempotencyStore,
    claims: AtomicU32,
}

#[async_trait]
impl IdempotencyStore for Overwhelmed {
    async fn claim(&self, claim: &Claim, now: SystemTime) -> Result<ClaimOutcome, StoreError> {
        match self.claims.fetch_add(1, Ordering::SeqCst) {
            0 | 1 => self.inner.claim(claim, now).await,
            _ => Err(StoreError::unavailable("locked")),
        }
    }

    async fn complete(
        &self,
        _: &RecordKey,
        _: &Fence,
        _: RequestOutcome,
        _: SystemTime,
    ) -> Result<Settled, StoreError> {
        Ok(Settled::Fenced)
    }

    async fn release(&self, _: &RecordKey, _: &Fence) -> Result<Settled, StoreError> {
        Ok(Settled::Fenced)
    }
}

/// H6: a race in which most calls fail is not passed.
#[tokio::test]
#[should_panic(expected = "Unavailable")]
async fn a_store_that_fails_under_load_is_found() {
    kit::completion_and_takeover_exclude_each_other(&shared(Overwhelmed::default())).await;
}

/// Truncates times to whole seconds.
#[derive(Default)]
struct CutsTimes(MemoryIdempotencyStore);

fn cut(time: SystemTime) -> SystemTime {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    SystemTime::UNIX_EPOCH + Duration::from_secs(since.as_secs())
}

#[async_trait]
impl IdempotencyStore for CutsTimes {
    async fn claim(&self, claim: &Claim, now: SystemTime) -> Result<ClaimOutcome, StoreError> {
        let mut claim = claim.clone();
        claim.lease_until = cut(claim.lease_until);
        claim.expires_at = cut(claim.expires_at);
        self.0.claim(&claim, now).await
    }

    async fn complete(
        &self,
        key: &RecordKey,
        fence: &Fence,
        outcome: RequestOutcome,
        expires_at: SystemTime,
    ) -> Result<Settled, StoreError> {
        self.0.complete(key, fence, outcome, cut(expires_at)).await
    }

    async fn release(&self, key: &RecordKey, fence: &Fence) -> Result<Settled, StoreError> {
        self.0.release(key, fence).await
    }
}

/// H6: a truncated lease admits a second request; the kit finds it.
#[tokio::test]
#[should_panic(expected = "right: InFlight")]
async fn a_store_that_cuts_leases_is_found() {
    kit::lease_ends_at_its_exact_instant(&shared(CutsTimes::default())).await;
}

/// H6: a record that expires early lets its request run again; the kit finds it.
#[tokio::test]
#[should_panic(expected = "right: Settled")]
async fn a_store_that_cuts_lifetimes_is_found() {
    kit::completion_sets_a_new_expiry(&shared(CutsTimes::default())).await;
}

/// Grants a claim over an expired record without writing the new record.
#[derive(Default)]
struct LeavesOldRecords(Mutex<Option<Record>>);

#[async_trait]
impl IdempotencyStore for LeavesOldRecords {
    async fn claim(&self, claim: &Claim, now: SystemTime) -> Result<ClaimOutcome, StoreError> {
        let mut known = self.0.lock().unwrap();
        if let Some(record) = known.as_ref() {
            return Ok(decide(Some(record.clone()), claim, now));
        }
        *known = Some(claim.record());
        Ok(ClaimOutcome::Claimed)
    }

    async fn complete(
        &self,
        _: &RecordKey,
        _: &Fence,
        outcome: RequestOutcome,
        expires_at: SystemTime,
    ) -> Result<Settled, StoreError> {
        if let Some(record) = self.0.lock().unwrap().as_mut() {
            record.state = State::Settled(outcome);
            record.expires_at = expires_at;
        }
        Ok(Settled::Done)
    }

    async fn release(&self, _: &RecordKey, _: &Fence) -> Result<Settled, StoreError> {
        Ok(Settled::Fenced)
    }
}

/// H6: a claim granted over an expired record must be written; otherwise the next is granted too.
/// The kit finds it.
#[tokio::test]
#[should_panic(expected = "right: InFlight")]
async fn a_store_that_keeps_expired_records_is_found() {
    kit::completion_sets_a_new_expiry(&shared(LeavesOldRecords::default())).await;
}

mod posts {
    use http_conventions::idempotency::MemoryIdempotencyStore;

    http_conventions_conformance::keyed_requests!(
        #[tokio::test]
        MemoryIdempotencyStore::default()
    );
}

/// H6: a store with a claim in two steps runs the handler several times; the kit finds it.
#[tokio::test]
#[should_panic(expected = "left: (32, 32)")]
async fn a_service_over_a_claim_in_two_steps_is_found() {
    let store = LooksThenWrites {
        record: Mutex::default(),
        all_looked: Barrier::new(32),
    };
    posts_kit::one_of_32_equal_posts_runs(&shared(store)).await;
}

/// Ends leases too early.
#[derive(Default)]
struct EndsLeases(MemoryIdempotencyStore);

#[async_trait]
impl IdempotencyStore for EndsLeases {
    async fn claim(&self, claim: &Claim, now: SystemTime) -> Result<ClaimOutcome, StoreError> {
        let later = now + Duration::from_secs(60);
        let again = claim.clone().with_after_crash(AfterCrash::RunAgain);
        self.0.claim(&again, later).await
    }

    async fn complete(
        &self,
        key: &RecordKey,
        fence: &Fence,
        outcome: RequestOutcome,
        expires_at: SystemTime,
    ) -> Result<Settled, StoreError> {
        self.0.complete(key, fence, outcome, expires_at).await
    }

    async fn release(&self, key: &RecordKey, fence: &Fence) -> Result<Settled, StoreError> {
        self.0.release(key, fence).await
    }
}

/// H6: a store that frees the key of a dropped first request lets the second run; the kit finds it.
#[tokio::test]
#[should_panic(expected = "2 runs")]
async fn a_store_that_frees_what_was_dropped_is_found() {
    posts_kit::dropped_post_runs_at_most_once(&shared(EndsLeases::default())).await;
}
