//! Redis, shared by the processes on one database. It holds rate limits, persisted queries and
//! announcements of changed charges. It may lose them: whatever is used once is in the database.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use graph_core::persisted::PersistedStore;
use host_store_redis::Database;
use host_store_redis::redis::Client;
use http_conventions::limits::{MemoryRateLimitStore, RateLimitStore, RateLimiter, Spend, State};
use http_conventions::ports::StoreError;
use tracing::warn;

use super::limits::limiter;
use super::open::{OpenError, at, secret_bytes};
use crate::clock::DemoClock;
use crate::desk::Desk;

/// Time after which a rate limit no longer waits for Redis.
const PATIENCE: Duration = Duration::from_millis(500);

/// Stores that the processes on one database share over Redis. Without Redis the rate limits are in
/// the memory of this process, and the persisted queries in the database.
pub(super) struct Shared {
    pub(super) redis: Option<Database>,
    pub(super) limiter: RateLimiter,
    /// A query that is lost is registered again by its client.
    pub(super) queries: Arc<dyn PersistedStore>,
}

impl Shared {
    pub(super) async fn open(
        client: Option<Client>,
        desk: &Desk,
        clock: &DemoClock,
        queries: Arc<dyn PersistedStore>,
    ) -> Result<Self, OpenError> {
        let Some(client) = client else {
            return Ok(Self {
                redis: None,
                limiter: limiter(Arc::new(MemoryRateLimitStore::default()), clock),
                queries,
            });
        };
        let redis = connect(client, desk).await?;
        let rate_limits = RedisOrMemory {
            redis: redis.clone(),
            memory: MemoryRateLimitStore::default(),
        };
        Ok(Self {
            limiter: limiter(Arc::new(rate_limits), clock),
            queries: Arc::new(redis.clone()),
            redis: Some(redis),
        })
    }
}

/// Connects to Redis. The keys begin with an identifier of the desk's database, so that the
/// processes on one database share them, and others do not.
async fn connect(client: Client, desk: &Desk) -> Result<Database, OpenError> {
    let [one, two, three, four, ..] = secret_bytes(desk, "redis-prefix").await?;
    let prefix = format!("payments-desk-{one:02x}{two:02x}{three:02x}{four:02x}");
    let connected = Database::with_client(client, &prefix).await;
    connected.map_err(at("the connection to Redis"))
}

/// Rate limits in Redis. While Redis fails, each process limits on its own.
struct RedisOrMemory {
    redis: Database,
    memory: MemoryRateLimitStore,
}

#[async_trait]
impl RateLimitStore for RedisOrMemory {
    async fn spend(&self, spends: &[Spend<'_>], now: SystemTime) -> Result<Vec<State>, StoreError> {
        let shared = tokio::time::timeout(PATIENCE, self.redis.spend(spends, now)).await;
        let error: StoreError = match shared {
            Ok(Ok(states)) => return Ok(states),
            Ok(Err(error)) => error,
            Err(elapsed) => StoreError::unavailable(elapsed),
        };
        warn!(error = program::in_one_line(&error), "rate limits are not shared");
        self.memory.spend(spends, now).await
    }
}
