//! Idempotency keys and their responses (H6): one hash per record, which expires on the server some
//! minutes after its end.

use std::mem;
use std::sync::LazyLock;
use std::time::SystemTime;

use async_trait::async_trait;
use bytes::Bytes;
use http_conventions::idempotency::{
    AfterCrash, Claim, ClaimOutcome, Fence, IdempotencyStore, RecordKey, RequestOutcome, Settled,
};
use http_conventions::ports::StoreError;
use redis::{Script, Value};

use crate::database::{Database, DatabaseError};
use crate::instant::{digits, keep, time_of};
use crate::script::{hex, run};

static CLAIM_KEY: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("scripts/claim_key.lua")));
static COMPLETE_KEY: LazyLock<Script> =
    LazyLock::new(|| Script::new(include_str!("scripts/complete_key.lua")));
static RELEASE_KEY: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("scripts/release_key.lua")));

#[async_trait]
impl IdempotencyStore for Database {
    async fn claim(&self, claim: &Claim, now: SystemTime) -> Result<ClaimOutcome, StoreError> {
        let mut script = CLAIM_KEY.key(self.record(&claim.key));
        script
            .arg(digits(now))
            .arg(&claim.fingerprint.as_bytes()[..])
            .arg(&claim.fence.as_bytes()[..])
            .arg(digits(claim.lease_until))
            .arg(digits(claim.expires_at))
            .arg(u8::from(claim.after_crash == AfterCrash::RunAgain))
            .arg(keep(claim.expires_at, now));
        let claimed = self.run(|mut connection| async move {
            let answer: Vec<Value> = run(&script, &mut connection).await?;
            claim_outcome(&answer).ok_or_else(|| DatabaseError::corrupt("not a record"))
        });
        Ok(claimed.await?)
    }

    async fn complete(
        &self,
        key: &RecordKey,
        fence: &Fence,
        outcome: RequestOutcome,
        expires_at: SystemTime,
    ) -> Result<Settled, StoreError> {
        let (outcome, body) = without_body(outcome);
        let outcome = serde_json::to_vec(&outcome).map_err(DatabaseError::corrupt)?;
        let mut script = COMPLETE_KEY.key(self.record(key));
        script
            .arg(&fence.as_bytes()[..])
            .arg(outcome)
            .arg(&body[..])
            .arg(digits(expires_at));
        let completed =
            self.run(|mut connection| async move { Ok(settled(run(&script, &mut connection).await?)) });
        Ok(completed.await?)
    }

    async fn release(&self, key: &RecordKey, fence: &Fence) -> Result<Settled, StoreError> {
        let mut script = RELEASE_KEY.key(self.record(key));
        script.arg(&fence.as_bytes()[..]);
        let released =
            self.run(|mut connection| async move { Ok(settled(run(&script, &mut connection).await?)) });
        Ok(released.await?)
    }
}

impl Database {
    fn record(&self, key: &RecordKey) -> String {
        self.key(format_args!("idempotency:{}", hex(key.as_bytes())))
    }
}

fn claim_outcome(answer: &[Value]) -> Option<ClaimOutcome> {
    match answer {
        [Value::Int(0)] => Some(ClaimOutcome::Claimed),
        [Value::Int(1)] => Some(ClaimOutcome::Mismatched),
        [Value::Int(2), Value::BulkString(lease)] => Some(ClaimOutcome::InFlight {
            lease_until: time_of(std::str::from_utf8(lease).ok()?)?,
        }),
        [Value::Int(3)] => Some(ClaimOutcome::Settled(RequestOutcome::Indeterminate)),
        [Value::Int(4), Value::BulkString(outcome), Value::BulkString(body)] => {
            let mut outcome = serde_json::from_slice(outcome).ok()?;
            if let RequestOutcome::Completed(response) = &mut outcome {
                response.body = Bytes::copy_from_slice(body);
            }
            Some(ClaimOutcome::Settled(outcome))
        }
        _ => None,
    }
}

/// Separates the body, which is stored as bytes so that it is not encoded as text.
fn without_body(mut outcome: RequestOutcome) -> (RequestOutcome, Bytes) {
    let body = match &mut outcome {
        RequestOutcome::Completed(response) => mem::take(&mut response.body),
        RequestOutcome::Unreplayable { .. } | RequestOutcome::Indeterminate => Bytes::new(),
    };
    (outcome, body)
}

fn settled(is_done: bool) -> Settled {
    if is_done { Settled::Done } else { Settled::Fenced }
}
