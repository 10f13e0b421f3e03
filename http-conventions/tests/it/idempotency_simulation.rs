//! Keys that are completed in a transaction of the host, under crashes at random points (H23).

use std::{
    collections::{HashMap, HashSet},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard},
    task::{Context, Poll, Waker},
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use bytes::Bytes;
use host_ports::testing::{ManualClock, SeededEntropy};
use http::{Request, Response, StatusCode};
use http_conventions::{
    errors::{ErrorStatus, Problem, ProblemBase},
    idempotency::{
        Claim, ClaimOutcome, Fence, Fenced, HeldKey, Idempotency, IdempotencyStore, KeyScope, Receipt,
        Record, RecordKey, Reply, RequestOutcome, Settled, Settlement, State, decide,
    },
    ports::{Entropy, StoreError},
};

const LEASE: Duration = Duration::from_secs(60);
const KEYS: u64 = 3;
const STEPS: u64 = 60;

/// Contents of a database.
#[derive(Clone, Default)]
struct Tables {
    records: HashMap<RecordKey, Record>,
    /// Rows of the host with their keys.
    rows: Vec<(u64, u64)>,
}

struct Disk {
    now: Tables,
    /// Contents that survive a crash of the database.
    synced: Tables,
    next_row: u64,
    random: SeededEntropy,
    /// `false` once the random phase has ended.
    faulty: bool,
}

/// Database with the store's table and one of the host.
#[derive(Clone)]
struct Database(Arc<Mutex<Disk>>);

fn below(random: &SeededEntropy, limit: u64) -> u64 {
    let mut bytes = [0; 8];
    random.fill(&mut bytes);
    u64::from_le_bytes(bytes) % limit
}

impl Database {
    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.0.lock().unwrap()
    }

    /// Runs one atomic step. The caller may be dropped before and after it, and in the faulty phase
    /// the step may fail, before or after its effect.
    async fn step<T>(&self, durable: bool, step: impl FnOnce(&mut Tables) -> T) -> Result<T, StoreError> {
        self.wait().await;
        let unavailable = || StoreError::unavailable("the connection is lost");
        if self.fails() {
            return Err(unavailable());
        }
        let done = {
            let mut disk = self.disk();
            let done = step(&mut disk.now);
            if durable {
                disk.synced = disk.now.clone();
            }
            done
        };
        self.wait().await;
        if self.fails() {
            Err(unavailable())
        } else {
            Ok(done)
        }
    }

    fn fails(&self) -> bool {
        let disk = self.disk();
        disk.faulty && below(&disk.random, 16) == 0
    }

    /// Yields up to twice.
    async fn wait(&self) {
        let times = below(&self.disk().random, 3);
        for _ in 0..times {
            let mut is_over = false;
            std::future::poll_fn(|_| match std::mem::replace(&mut is_over, true) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            })
            .await;
        }
    }

    /// Inserts a row and settles the key, in one transaction.
    async fn charge(&self, key: u64, held: &HeldKey) -> Result<Result<(u64, Receipt), Fenced>, StoreError> {
        let row = {
            let mut disk = self.disk();
            disk.next_row += 1;
            disk.next_row
        };
        let settlement = held.settlement(&created(row));
        self.step(true, |tables| {
            let settled = settle(tables, &settlement);
            let receipt = settlement.receipt(settled)?;
            tables.rows.push((key, row));
            Ok((row, receipt))
        })
        .await
    }
}

fn holds(tables: &Tables, key: &RecordKey, fence: &Fence) -> bool {
    let state = tables.records.get(key).map(|record| &record.state);
    matches!(state, Some(State::InFlight { fence: holder, .. }) if holder == fence)
}

fn settle(tables: &mut Tables, settlement: &Settlement) -> Settled {
    if !holds(tables, &settlement.key, &settlement.fence) {
        return Settled::Fenced;
    }
    if let Some(record) = tables.records.get_mut(&settlement.key) {
        record.state = State::Settled(settlement.outcome.clone());
        record.expires_at = settlement.expires_at;
    }
    Settled::Done
}

#[async_trait]
impl IdempotencyStore for Database {
    async fn claim(&self, claim: &Claim, now: SystemTime) -> Result<ClaimOutcome, StoreError> {
        self.step(claim.is_durable, |tables| {
            let outcome = decide(tables.records.get(&claim.key).cloned(), claim, now);
            if outcome == ClaimOutcome::Claimed {
                tables.records.insert(claim.key, claim.record());
            }
            outcome
        })
        .await
    }

    async fn complete(
        &self,
        key: &RecordKey,
        fence: &Fence,
        outcome: RequestOutcome,
        expires_at: SystemTime,
    ) -> Result<Settled, StoreError> {
        self.step(true, |tables| {
            if !holds(tables, key, fence) {
                return Settled::Fenced;
            }
            if let Some(record) = tables.records.get_mut(key) {
                record.state = State::Settled(outcome);
                record.expires_at = expires_at;
            }
            Settled::Done
        })
        .await
    }

    async fn release(&self, key: &RecordKey, fence: &Fence) -> Result<Settled, StoreError> {
        self.step(true, |tables| match holds(tables, key, fence) {
            true => {
                tables.records.remove(key);
                Settled::Done
            }
            false => Settled::Fenced,
        })
        .await
    }
}

fn created(row: u64) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(row.to_string()));
    *response.status_mut() = StatusCode::CREATED;
    response
}

type Running<'w> = Pin<Box<dyn Future<Output = (u64, Response<Bytes>)> + 'w>>;

struct World {
    database: Database,
    idempotency: Idempotency,
    clock: ManualClock,
    random: SeededEntropy,
}

impl World {
    fn new(seed: u64) -> Self {
        let random = SeededEntropy::new(seed);
        let database = Database(Arc::new(Mutex::new(Disk {
            now: Tables::default(),
            synced: Tables::default(),
            next_row: 0,
            random: random.clone(),
            faulty: true,
        })));
        let clock = ManualClock::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000));
        let problems = ProblemBase::new("https://api.example.com/problems/").unwrap();
        let idempotency =
            Idempotency::new(database.clone(), Arc::new(clock.clone()), &random, problems).with_lease(LEASE);
        Self {
            database,
            idempotency,
            clock,
            random,
        }
    }

    async fn post(&self, key: u64) -> (u64, Response<Bytes>) {
        let request = Request::post("/v1/charges").header("idempotency-key", format!("key-{key}"));
        let request = request.body(Bytes::from_static(b"{}")).unwrap();
        let scope = KeyScope::new("user-7", "/v1/charges");
        let handler = async |held: Option<HeldKey>| {
            let unknown = || Reply::OutcomeUnknown(Problem::new(ErrorStatus::INTERNAL_SERVER_ERROR));
            match self.database.charge(key, &held.unwrap()).await {
                Ok(Ok((row, receipt))) => Reply::Completed(created(row), receipt),
                Ok(Err(Fenced)) | Err(_) => unknown(),
            }
        };
        let answer = self
            .idempotency
            .run_in_transaction(&request, scope, handler)
            .await;
        (key, answer.unwrap_or_else(Problem::into_response))
    }

    /// Polls, drops and starts requests, moves the clock and kills processes.
    fn run(&self) -> HashMap<u64, HashSet<Bytes>> {
        let mut running: Vec<Running<'_>> = Vec::new();
        let mut seen: HashMap<u64, HashSet<Bytes>> = HashMap::new();
        for _ in 0..STEPS {
            match below(&self.random, 20) {
                0..5 => running.push(Box::pin(self.post(below(&self.random, KEYS)))),
                5 => self.clock.advance(Duration::from_secs(below(&self.random, 80))),
                6 if !running.is_empty() => drop(running.swap_remove(self.choose(running.len()))),
                // the database crashes, and its clients with it
                7 => {
                    running.clear();
                    let mut disk = self.database.disk();
                    if below(&self.random, 2) == 0 {
                        disk.now = disk.synced.clone();
                    }
                }
                // the service crashes alone
                8 => running.clear(),
                _ if !running.is_empty() => {
                    let at = self.choose(running.len());
                    let polled = running
                        .get_mut(at)
                        .map(|request| request.as_mut().poll(&mut quiet()));
                    if let Some(Poll::Ready((key, answer))) = polled {
                        drop(running.swap_remove(at));
                        note(&mut seen, key, &answer);
                    }
                }
                _ => {}
            }
        }
        seen
    }

    fn choose(&self, length: usize) -> usize {
        usize::try_from(below(&self.random, length as u64)).unwrap()
    }

    /// The answer of a client that retries until it has one, after all faults.
    fn retried(&self, key: u64) -> Response<Bytes> {
        self.database.disk().faulty = false;
        self.clock.advance(LEASE);
        let mut request = Box::pin(self.post(key));
        for _ in 0..100 {
            if let Poll::Ready((_, answer)) = request.as_mut().poll(&mut quiet()) {
                return answer;
            }
        }
        Response::new(Bytes::new())
    }
}

fn quiet() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

fn note(seen: &mut HashMap<u64, HashSet<Bytes>>, key: u64, answer: &Response<Bytes>) {
    match answer.status() {
        StatusCode::CREATED => {
            seen.entry(key).or_default().insert(answer.body().clone());
        }
        status => {
            let body = String::from_utf8_lossy(answer.body());
            assert!(!body.contains("outcome-unknown"), "{body}");
            let is_fault = status.is_server_error() || body.contains("in-flight");
            assert!(is_fault, "{status}: {body}");
        }
    }
}

/// H23: of 10,000 histories with crashes, dropped requests, lost answers of the database and
/// expired leases, each key ends with one row and one answer, the one that its clients saw.
#[test]
fn each_key_ends_with_one_row_and_its_answer() {
    let (mut replayed, mut crashed) = (0, 0);
    for seed in 0..10_000 {
        let world = World::new(seed);
        let seen = world.run();
        let before = world.database.disk().now.rows.len();
        for key in 0..KEYS {
            let last = world.retried(key);
            assert_eq!(last.status(), StatusCode::CREATED, "seed {seed}, key {key}");
            replayed += u32::from(last.headers().contains_key("idempotency-replayed"));
            let rows: Vec<_> = {
                let disk = world.database.disk();
                let of_key = disk.now.rows.iter().filter(|(of, _)| *of == key);
                of_key.map(|(_, row)| Bytes::from(row.to_string())).collect()
            };
            assert_eq!(rows, [last.body().clone()], "seed {seed}, key {key}");
            for answer in seen.get(&key).into_iter().flatten() {
                assert_eq!(answer, last.body(), "seed {seed}, key {key}");
            }
        }
        crashed += u32::from(before < 3);
    }
    // the histories reach both ways to an answer
    assert!(
        replayed > 1_000 && crashed > 1_000,
        "{replayed} replayed, {crashed} with work left"
    );
}
