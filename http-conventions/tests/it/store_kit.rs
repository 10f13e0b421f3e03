//! The conformance kit finds the mistakes it is there for.

use std::{
    sync::{Barrier, Mutex},
    time::SystemTime,
};

use async_trait::async_trait;
use http_conventions::{
    idempotency::{
        Claim, ClaimOutcome, Fence, IdempotencyStore, MemoryIdempotencyStore, Outcome, Record, RecordKey,
        Settled, State, StoreError, decide,
    },
    testing::idempotency_store as kit,
};

/// Looks, and writes later: between the two, every racer has looked.
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
        _: Outcome,
        _: SystemTime,
    ) -> Result<Settled, StoreError> {
        Ok(Settled::Fenced)
    }

    async fn release(&self, _: &RecordKey, _: &Fence) -> Result<Settled, StoreError> {
        Ok(Settled::Fenced)
    }
}

/// H6: a claim in two steps lets several requests run, and the kit's race shows it.
#[tokio::test]
#[should_panic(expected = "left: 32")]
async fn a_claim_in_two_steps_is_found() {
    let store = LooksThenWrites {
        record: Mutex::default(),
        all_looked: Barrier::new(32),
    };
    kit::one_of_thirty_two_claims_wins(&store).await;
}

/// Knows who may settle a record, and does not ask.
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
        outcome: Outcome,
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

/// H6: a holder that lost its key could overwrite the work of the next, and the kit shows it.
#[tokio::test]
#[should_panic(expected = "right: Fenced")]
async fn a_store_without_fences_is_found() {
    let store = IgnoresFences {
        inner: MemoryIdempotencyStore::default(),
        holder: Mutex::default(),
    };
    kit::a_holder_that_lost_its_key_changes_nothing(&store).await;
}
