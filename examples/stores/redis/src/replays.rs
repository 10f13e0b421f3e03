//! Single-use names, for replay detection (O6, O20): one key per name, and a sorted set of their
//! ends. Both expire some minutes after the end.

use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use oauth_core::ports::StoreError;
use oauth_core::secret::TokenHash;
use oauth_core::store::{ReplayStore, SpendOutcome};
use redis::Script;

use crate::database::{Database, DatabaseError};
use crate::instant::{digits, keep};
use crate::script::{hex, run};

static SPEND_ONCE: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("scripts/spend_once.lua")));
static PURGE_NAMES: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("scripts/purge_names.lua")));

/// Allowance for a machine whose clock is behind.
const SKEW: Duration = Duration::from_secs(300);
/// Limit of names of one run of the purging script.
const BATCH: u64 = 1000;

const NAME: &str = "replay:";
const ENDS: &str = "replays";

#[async_trait]
impl ReplayStore for Database {
    async fn insert_once(
        &self,
        key: TokenHash,
        expires_at: SystemTime,
        now: SystemTime,
    ) -> Result<SpendOutcome, StoreError> {
        let name = hex(key.as_bytes());
        let long_over = now.checked_sub(SKEW).unwrap_or(SystemTime::UNIX_EPOCH);
        let mut spend = SPEND_ONCE.key(self.key(format_args!("{NAME}{name}")));
        spend
            .key(self.key(ENDS))
            .arg(digits(now))
            .arg(digits(expires_at))
            .arg(digits(long_over))
            .arg(name)
            .arg(keep(expires_at, now));
        let spent = self.run(|mut connection| async move {
            match run(&spend, &mut connection).await? {
                0 => Ok(SpendOutcome::Seen),
                1 => Ok(SpendOutcome::Fresh),
                other => Err(DatabaseError::corrupt(format!("unexpected result {other}"))),
            }
        });
        Ok(spent.await?)
    }

    async fn purge_replays(&self, now: SystemTime) -> Result<u64, StoreError> {
        let mut purge = PURGE_NAMES.key(self.key(ENDS));
        purge.arg(digits(now)).arg(self.key(NAME));
        let purged = self.run(|mut connection| async move {
            let mut purged = 0;
            loop {
                let dropped: u64 = run(&purge, &mut connection).await?;
                purged += dropped;
                if dropped < BATCH {
                    return Ok(purged);
                }
            }
        });
        Ok(purged.await?)
    }
}
