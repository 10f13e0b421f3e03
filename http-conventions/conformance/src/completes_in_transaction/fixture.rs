//! Store with a table of the host, and a service whose handler writes a row and the response of its
//! key in one transaction.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use bytes::Bytes;
use host_ports::testing::{ManualClock, SeededEntropy};
use http::{Request, Response, StatusCode};
use http_conventions::errors::{ErrorStatus, Problem, ProblemBase};
use http_conventions::idempotency::{
    Claim, Fence, Fenced, Fingerprint, HeldKey, Idempotency, IdempotencyStore, KeyScope, Receipt, RecordKey,
    Reply, Settlement,
};
use http_conventions::ports::StoreError;

use crate::keyed_requests::{Hesitant, hesitate};
pub(super) use crate::keyed_requests::{LEASE, MOST_POLLS, within};

/// Store whose keys are completed in transactions of the host. The host's test implements it with
/// a table of its own.
#[async_trait]
pub trait TransactionalStore: Send + Sync {
    /// Returns the store of the keys.
    fn keys(&self) -> Arc<dyn IdempotencyStore>;

    /// Inserts `row` and, if there is a settlement, completes its key, in one transaction.
    ///
    /// Returns the receipt of a committed settlement. A fenced transaction is rolled back.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store failed.
    async fn write(
        &self,
        row: u32,
        settlement: Option<&Settlement>,
        end: End,
    ) -> Result<Result<Option<Receipt>, Fenced>, StoreError>;

    /// Returns the inserted rows in ascending order.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store failed.
    async fn rows(&self) -> Result<Vec<u32>, StoreError>;
}

/// End of a transaction.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a transaction has no other end")]
pub enum End {
    /// Commit, unless the settlement is fenced.
    Commit,
    /// Roll back.
    RollBack,
}

pub(super) fn start() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

/// Claim of one key. `holder` is its fencing token.
pub(super) fn claim(holder: u8) -> Claim {
    let lease_until = start() + LEASE;
    let (key, request) = (RecordKey::from_bytes([1; 32]), Fingerprint::from_bytes([2; 32]));
    let fence = Fence::from_bytes([holder; 16]);
    Claim::new(key, request, fence, lease_until, lease_until + LEASE * 1000)
}

/// Claim of one key, and the settlement of its holder.
pub(super) fn held(holder: u8) -> (Claim, Settlement) {
    let claim = claim(holder);
    let response = Response::new(Bytes::from(format!("answer {holder}")));
    let settlement = HeldKey::new(&claim, 1 << 20).settlement(&response);
    (claim, settlement)
}

/// Service that stores a row for each new key.
pub(super) struct Desk {
    store: Arc<dyn TransactionalStore>,
    idempotency: Idempotency,
    pub(super) clock: ManualClock,
    runs: AtomicU32,
}

/// Numbers that are reserved for the rows of each key: 0 to 99 for key 0, 100 to 199 for key 1.
const ROWS_OF_A_KEY: u32 = 100;

impl Desk {
    pub(super) fn new(store: Arc<dyn TransactionalStore>) -> Self {
        let clock = ManualClock::new(start());
        let problems = ProblemBase::new("https://api.example.com/problems/").unwrap();
        let hesitant = Hesitant(store.keys());
        let entropy = SeededEntropy::new(7);
        let idempotency =
            Idempotency::new(hesitant, Arc::new(clock.clone()), &entropy, problems).with_lease(LEASE);
        Self {
            store,
            idempotency,
            clock,
            runs: AtomicU32::new(0),
        }
    }

    pub(super) async fn post(&self, key: u32) -> Seen {
        self.run(key, |held| self.charge(key, held, End::Commit)).await
    }

    /// Posts with a handler that loses the result of its transaction.
    pub(super) async fn post_with_lost_result(&self, key: u32, end: End) -> Seen {
        let lost = async |held| {
            drop(self.charge(key, held, end).await);
            Reply::OutcomeUnknown(Problem::new(ErrorStatus::INTERNAL_SERVER_ERROR))
        };
        self.run(key, lost).await
    }

    async fn run<F: Future<Output = Reply>>(
        &self,
        key: u32,
        handler: impl FnOnce(Option<HeldKey>) -> F,
    ) -> Seen {
        let request = Request::post("/v1/charges").header("idempotency-key", format!("key-{key:08}"));
        let request = request.body(Bytes::from_static(b"{\"amount\":1000}")).unwrap();
        let scope = KeyScope::new("user-7", "/v1/charges");
        let response = self
            .idempotency
            .run_in_transaction(&request, scope, handler)
            .await;
        Seen::of(&response.unwrap_or_else(Problem::into_response))
    }

    async fn charge(&self, key: u32, held: Option<HeldKey>, end: End) -> Reply {
        hesitate().await;
        let row = key * ROWS_OF_A_KEY + self.runs.fetch_add(1, Ordering::SeqCst) % ROWS_OF_A_KEY;
        let mut response = Response::new(Bytes::from(row.to_string()));
        *response.status_mut() = StatusCode::CREATED;
        let settlement = held.map(|held| held.settlement(&response));
        let written = self.store.write(row, settlement.as_ref(), end).await.unwrap();
        hesitate().await;
        match written {
            Ok(receipt) => Reply::completed(response, receipt),
            Err(Fenced) => Reply::OutcomeUnknown(Problem::new(ErrorStatus::INTERNAL_SERVER_ERROR)),
        }
    }

    /// Rows that requests with this key have stored.
    pub(super) async fn rows_of(&self, key: u32) -> Vec<u32> {
        let mut rows = self.store.rows().await.unwrap();
        rows.retain(|row| row / ROWS_OF_A_KEY == key);
        rows
    }
}

/// Kind of the response to a POST, with its row.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Seen {
    Made(u32),
    Replayed(u32),
    InFlight,
    Other(StatusCode),
}

impl Seen {
    fn of(response: &Response<Bytes>) -> Self {
        let body = String::from_utf8_lossy(response.body());
        let is_replayed = response.headers().contains_key("idempotency-replayed");
        match (response.status(), is_replayed) {
            (StatusCode::CREATED, false) => Self::Made(body.parse().unwrap()),
            (StatusCode::CREATED, true) => Self::Replayed(body.parse().unwrap()),
            (StatusCode::CONFLICT, _) if body.contains("idempotency-in-flight") => Self::InFlight,
            (status, _) => Self::Other(status),
        }
    }
}
