//! Rate-limit buckets (H15): one key per bucket, which expires on the server some minutes after it
//! is full.

use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use http_conventions::limits::{Operation, RateLimitStore, Spend, State};
use http_conventions::ports::StoreError;
use redis::Script;

use crate::database::{Database, DatabaseError};
use crate::instant::{digits_of, keep_for, number_of};
use crate::script::{hex, run};

static SPEND: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("scripts/spend.lua")));

#[async_trait]
impl RateLimitStore for Database {
    async fn spend(&self, spends: &[Spend<'_>], now: SystemTime) -> Result<Vec<State>, StoreError> {
        let operations: Vec<Operation> = spends.iter().map(|spend| spend.operation(now)).collect();
        let Some(first) = operations.first() else {
            return Ok(Vec::new());
        };
        let mut spend = SPEND.prepare_invoke();
        spend.arg(instant(first.now));
        for operation in &operations {
            spend.key(self.key(format_args!("bucket:{}", hex(operation.bucket.as_bytes()))));
            let takes = Duration::from_nanos(operation.increment);
            spend
                .arg(takes.as_secs())
                .arg(takes.subsec_nanos())
                .arg(instant(operation.latest))
                .arg(instant(operation.horizon))
                .arg(keep_for(Duration::from_nanos(operation.latest - operation.now)));
        }
        let spent = self.run(|mut connection| async move {
            let states: Vec<String> = run(&spend, &mut connection).await?;
            states.iter().map(|digits| state(digits)).collect()
        });
        Ok(spent.await?)
    }
}

/// Encodes a [`State`] for comparison in a script.
fn instant(nanoseconds: u64) -> String {
    digits_of(i64::try_from(nanoseconds).unwrap_or(i64::MAX))
}

fn state(digits: &str) -> Result<State, DatabaseError> {
    if digits.is_empty() {
        return Ok(State::default());
    }
    let nanoseconds = number_of(digits).ok_or_else(|| DatabaseError::corrupt("not a bucket"))?;
    // a bucket from before 1970 is full
    Ok(State::from_nanoseconds(
        u64::try_from(nanoseconds).unwrap_or_default(),
    ))
}
