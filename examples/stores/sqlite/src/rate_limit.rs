//! Rate-limit buckets (H15), in `rate_limit_bucket`.

use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use http_conventions::limits::{Policy, RateLimitStore, Spend, State, decide_all};
use http_conventions::ports::StoreError;
use rusqlite::{OptionalExtension, Transaction};

use crate::column::Span;
use crate::database::{Database, DatabaseError};

/// An owned spend, to send to the writer.
struct Owned {
    policy: Policy,
    partition: String,
    cost: u32,
}

impl Owned {
    fn of(spend: &Spend<'_>) -> Self {
        Self {
            policy: spend.policy().clone(),
            partition: spend.partition().to_owned(),
            cost: spend.cost(),
        }
    }

    fn spend(&self) -> Spend<'_> {
        self.policy.spend(&self.partition).with_cost(self.cost)
    }
}

#[async_trait]
impl RateLimitStore for Database {
    async fn spend(&self, spends: &[Spend<'_>], now: SystemTime) -> Result<Vec<State>, StoreError> {
        let owned: Vec<Owned> = spends.iter().map(Owned::of).collect();
        let spend = self.write(move |transaction| -> Result<_, DatabaseError> {
            let spends: Vec<Spend<'_>> = owned.iter().map(Owned::spend).collect();
            let states: Vec<State> = spends
                .iter()
                .map(|spend| load(transaction, spend))
                .collect::<Result<_, _>>()?;
            for (spend, state) in spends
                .iter()
                .zip(decide_all(&states, &spends, now).unwrap_or_default())
            {
                write(transaction, spend, state)?;
            }
            Ok(states)
        });
        Ok(spend.await?)
    }
}

fn load(transaction: &Transaction<'_>, spend: &Spend<'_>) -> Result<State, DatabaseError> {
    let mut statement = transaction.prepare_cached("SELECT full_at FROM rate_limit_bucket WHERE key = ?1")?;
    let state = statement.query_row([spend.bucket().as_bytes()], |row| {
        let Span(full_at) = row.get(0)?;
        Ok(State::from_nanoseconds(
            u64::try_from(full_at.as_nanos()).unwrap_or_default(),
        ))
    });
    Ok(state.optional()?.unwrap_or_default())
}

fn write(transaction: &Transaction<'_>, spend: &Spend<'_>, state: State) -> Result<(), DatabaseError> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO rate_limit_bucket (key, full_at) VALUES (?1, ?2)
         ON CONFLICT (key) DO UPDATE SET full_at = excluded.full_at",
    )?;
    let full_at = Span(Duration::from_nanos(state.as_nanoseconds()));
    statement.execute((spend.bucket().as_bytes(), full_at))?;
    Ok(())
}
