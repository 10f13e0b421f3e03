//! Rate-limit buckets (H15) in `rate_limit_bucket`: one statement that calls one function.

use std::time::SystemTime;

use async_trait::async_trait;
use http_conventions::limits::{BucketKey, Operation, RateLimitStore, Spend, State};
use http_conventions::ports::StoreError;
use sqlx::PgPool;

use crate::column::number;
use crate::database::{Database, DatabaseError};

#[async_trait]
impl RateLimitStore for Database {
    async fn spend(&self, spends: &[Spend<'_>], now: SystemTime) -> Result<Vec<State>, StoreError> {
        let asked: Vec<Operation> = spends.iter().map(|spend| spend.operation(now)).collect();
        // every transaction takes the locks in this order
        let mut operations = asked.clone();
        operations.sort_unstable_by_key(|operation| operation.bucket);
        let order: Vec<BucketKey> = operations.iter().map(|operation| operation.bucket).collect();
        let found = self.run(move |pool| async move { spend(&pool, &operations).await });
        let found = found.await?;
        let state = |operation: &Operation| {
            let at = order.binary_search(&operation.bucket).ok()?;
            found.get(at).copied()
        };
        let states: Option<Vec<State>> = asked.iter().map(state).collect();
        states.ok_or_else(|| StoreError::corrupt("fewer states than buckets"))
    }
}

async fn spend(pool: &PgPool, operations: &[Operation]) -> Result<Vec<State>, DatabaseError> {
    let numbers = |of: fn(&Operation) -> u64| -> Vec<i64> {
        let numbers = operations.iter().map(of);
        numbers
            .map(|number| i64::try_from(number).unwrap_or(i64::MAX))
            .collect()
    };
    let keys: Vec<&[u8]> = operations
        .iter()
        .map(|operation| &operation.bucket.as_bytes()[..])
        .collect();
    let states: Vec<i64> = sqlx::query_scalar("SELECT rate_limit_spend($1, $2, $3, $4, $5)")
        .bind(keys)
        .bind(
            numbers(|operation| operation.now)
                .first()
                .copied()
                .unwrap_or_default(),
        )
        .bind(numbers(|operation| operation.increment))
        .bind(numbers(|operation| operation.latest))
        .bind(numbers(|operation| operation.horizon))
        .fetch_one(pool)
        .await?;
    states
        .into_iter()
        .map(|state| Ok(State::from_nanoseconds(number(state)?)))
        .collect()
}
