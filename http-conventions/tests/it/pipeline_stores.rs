//! Stores that fail.

use std::{sync::Arc, time::SystemTime};

use async_trait::async_trait;
use host_ports::testing::{ManualClock, SeededEntropy};
use http_conventions::{
    errors::ProblemBase,
    idempotency::{
        Claim, ClaimOutcome, Fence, Idempotency, IdempotencyStore, RecordKey, RequestOutcome, Settled,
    },
    limits::{RateLimitStore, Spend, State},
    ports::StoreError,
};

use crate::pipeline_fixture::BASE;

pub(crate) struct BrokenLimits;

#[async_trait]
impl RateLimitStore for BrokenLimits {
    async fn spend(&self, _: &[Spend<'_>], _: SystemTime) -> Result<Vec<State>, StoreError> {
        Err(StoreError::unavailable("down"))
    }
}

pub(crate) struct BrokenIdempotency;

impl BrokenIdempotency {
    pub(crate) fn endpoint() -> Idempotency {
        let clock = Arc::new(ManualClock::new(SystemTime::UNIX_EPOCH));
        Idempotency::new(
            Arc::new(Self),
            clock,
            &SeededEntropy::new(1),
            ProblemBase::new(BASE).unwrap(),
        )
    }
}

#[async_trait]
impl IdempotencyStore for BrokenIdempotency {
    async fn claim(&self, _: &Claim, _: SystemTime) -> Result<ClaimOutcome, StoreError> {
        Err(StoreError::unavailable("down"))
    }

    async fn complete(
        &self,
        _: &RecordKey,
        _: &Fence,
        _: RequestOutcome,
        _: SystemTime,
    ) -> Result<Settled, StoreError> {
        Err(StoreError::unavailable("down"))
    }

    async fn release(&self, _: &RecordKey, _: &Fence) -> Result<Settled, StoreError> {
        Err(StoreError::unavailable("down"))
    }
}
