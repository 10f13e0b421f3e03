//! Claims of events that are handled within their request or queued elsewhere (W7).

use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use redis::Script;
use webhook_core::ports::StoreError;
use webhook_core::receiver::{BeginOutcome, BodyDigest, Claims, EventKey, Incoming};

use crate::database::{Database, DatabaseError};
use crate::inbox::name;
use crate::instant::{digits, keep, time_of};
use crate::script::run;

static BEGIN: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("scripts/begin_claim.lua")));
static COMPLETE: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("scripts/complete_claim.lua")));

#[async_trait]
impl Claims for Database {
    async fn begin(
        &self,
        event: &Incoming,
        now: SystemTime,
        lease: Duration,
    ) -> Result<BeginOutcome, StoreError> {
        // on overflow the claim itself bounds the lease, or no other delivery could take it over
        let until = now.checked_add(lease).unwrap_or(event.expires_at);
        let mut begin = BEGIN.key(self.handling(&event.key));
        begin
            .arg(digits(now))
            .arg(digits(event.expires_at))
            .arg(keep(event.expires_at, now))
            .arg(&event.digest.as_bytes()[..])
            .arg(digits(until));
        let begun = self.run(|mut connection| async move {
            let begun: String = run(&begin, &mut connection).await?;
            match begun.as_str() {
                "claimed" => Ok(BeginOutcome::Claimed),
                "duplicate" => Ok(BeginOutcome::Duplicate),
                "conflict" => Ok(BeginOutcome::Conflict),
                until => match time_of(until) {
                    Some(until) => Ok(BeginOutcome::Pending { until }),
                    None => Err(DatabaseError::corrupt("not the end of a lease")),
                },
            }
        });
        Ok(begun.await?)
    }

    async fn complete(&self, key: &EventKey, digest: &BodyDigest) -> Result<(), StoreError> {
        let mut complete = COMPLETE.key(self.handling(key));
        complete.arg(&digest.as_bytes()[..]);
        let completed = self.run(|mut connection| async move {
            let _: i64 = run(&complete, &mut connection).await?;
            Ok(())
        });
        Ok(completed.await?)
    }
}

impl Database {
    /// Key of the claim of an event.
    fn handling(&self, key: &EventKey) -> Vec<u8> {
        [self.key("handling:").as_bytes(), &name(key)].concat()
    }
}
