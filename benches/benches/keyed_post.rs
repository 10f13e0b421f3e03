//! A `POST` with an idempotency key that writes one row, on SQLite and PostgreSQL: the key
//! completed after the handler, the key completed in the handler's transaction, and no key.
//!
//! Before the times it prints the flushed commits of each request, one request at a time. Those of
//! PostgreSQL are a counter of the whole server, so they need a server without other work.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a bench reports on the terminal, and ends where something is not as it was set up"
)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use benches::{Schema, keep_in_flight};
use bytes::Bytes;
use criterion::{Criterion, SamplingMode, Throughput};
use host_store_postgres::sqlx;
use host_store_sqlite::DatabaseError;
use http::{Request, Response};
use http_conventions::{
    errors::ProblemBase,
    idempotency::{Fenced, HeldKey, Idempotency, IdempotencyStore, KeyScope, Reply},
    ports::{OsEntropy, SystemClock},
};
use tokio::runtime::Runtime;

const IN_FLIGHT: usize = 64;
const COUNTED: u64 = 200;
const AMOUNT: i64 = 1000;
const BODY: &[u8] = br#"{"id":"ch_01JD2Q8M7XK3","amount":1000,"currency":"EUR"}"#;

/// A database with a table `charge`, and with the records of the keys.
trait Charges {
    /// Writes a charge, and completes the key in the same transaction.
    async fn charge(&self, key: Option<HeldKey>) -> Reply;

    /// Number of commits so far that waited for the disk.
    async fn flushed_commits(&self) -> u64;
}

impl Charges for host_store_sqlite::Database {
    async fn charge(&self, key: Option<HeldKey>) -> Reply {
        let written = self.write(move |transaction| -> Result<Reply, Failed> {
            transaction
                .prepare_cached("INSERT INTO charge (amount) VALUES (?1)")
                .and_then(|mut insert| insert.execute([AMOUNT]))
                .map_err(DatabaseError::from)?;
            let response = Response::new(Bytes::from_static(BODY));
            let receipt = match key.map(|key| key.settlement(&response)) {
                Some(key) => Some(host_store_sqlite::idempotency::complete_in(transaction, &key)??),
                None => None,
            };
            Ok(Reply::completed(response, receipt))
        });
        written.await.expect("a charge")
    }

    async fn flushed_commits(&self) -> u64 {
        self.durable_commits()
    }
}

impl Charges for host_store_postgres::Database {
    async fn charge(&self, key: Option<HeldKey>) -> Reply {
        let mut transaction = self.pool().begin().await.expect("a transaction");
        sqlx::query("INSERT INTO charge (amount) VALUES ($1)")
            .bind(AMOUNT)
            .execute(&mut *transaction)
            .await
            .expect("a row");
        let response = Response::new(Bytes::from_static(BODY));
        let receipt = match key.map(|key| key.settlement(&response)) {
            Some(key) => {
                let completed = host_store_postgres::idempotency::complete_in(&mut transaction, &key);
                Some(completed.await.expect("a record").expect("the key is held"))
            }
            None => None,
        };
        transaction.commit().await.expect("a commit");
        Reply::completed(response, receipt)
    }

    async fn flushed_commits(&self) -> u64 {
        // an idle connection reports what it has counted after ten seconds
        tokio::time::sleep(Duration::from_secs(11)).await;
        let counted: i64 = sqlx::query_scalar("SELECT wal_sync FROM pg_stat_wal")
            .fetch_one(self.pool())
            .await
            .expect("a counter");
        counted.unsigned_abs()
    }
}

#[derive(Debug)]
enum Failed {
    Database(#[expect(dead_code, reason = "read by Debug")] DatabaseError),
    Fenced,
}

impl From<DatabaseError> for Failed {
    fn from(error: DatabaseError) -> Self {
        Self::Database(error)
    }
}

impl From<Fenced> for Failed {
    fn from(_: Fenced) -> Self {
        Self::Fenced
    }
}

#[derive(Clone, Copy)]
enum Key {
    None,
    Afterwards,
    InTransaction,
}

const ROWS: [(&str, Key); 3] = [
    ("without a key", Key::None),
    ("key completed afterwards", Key::Afterwards),
    ("key completed in the transaction", Key::InTransaction),
];

struct Service<D> {
    database: D,
    idempotency: Idempotency,
    /// Makes every key unique.
    serial: AtomicU64,
}

impl<D: Charges + IdempotencyStore + Clone + 'static> Service<D> {
    fn new(database: D) -> Self {
        let problems = ProblemBase::new("https://api.example/problems/").expect("a base");
        Self {
            idempotency: Idempotency::new(database.clone(), SystemClock, &OsEntropy, problems),
            database,
            serial: AtomicU64::new(0),
        }
    }

    async fn post(&self, key: Key) {
        let request = Request::post("/v1/charges").header("Content-Type", "application/json");
        let request = match key {
            Key::None => request,
            Key::Afterwards | Key::InTransaction => {
                let number = self.serial.fetch_add(1, Ordering::Relaxed);
                request.header("Idempotency-Key", format!("\"order-{number}\""))
            }
        };
        let request = request
            .body(Bytes::from_static(br#"{"amount":1000,"currency":"EUR"}"#))
            .expect("a request");
        let scope = KeyScope::new("user-7", "/v1/charges");
        let response = match key {
            Key::None | Key::Afterwards => {
                let handler = async {
                    match self.database.charge(None).await {
                        Reply::Final(response) => response,
                        other => unreachable!("{other:?}"),
                    }
                };
                self.idempotency.run(&request, scope, handler).await
            }
            Key::InTransaction => {
                let handler = |held| self.database.charge(held);
                self.idempotency
                    .run_in_transaction(&request, scope, handler)
                    .await
            }
        };
        assert_eq!(response.expect("a response").body(), BODY);
    }

    fn measure(&self, criterion: &mut Criterion, runtime: &Runtime, name: &str) {
        for (row, key) in ROWS {
            let flushed = runtime.block_on(async {
                let before = self.database.flushed_commits().await;
                for _ in 0..COUNTED {
                    self.post(key).await;
                }
                self.database.flushed_commits().await - before
            });
            let hundredths = flushed * 100 / COUNTED;
            println!(
                "{name}, {row}: {}.{:02} flushed commits a request",
                hundredths / 100,
                hundredths % 100
            );
        }
        let mut group = criterion.benchmark_group(format!("keyed_post/{name}"));
        group
            .throughput(Throughput::Elements(1))
            .sampling_mode(SamplingMode::Flat)
            .sample_size(30);
        for (row, key) in ROWS {
            let lane = async |(): &(), requests: u64| {
                for _ in 0..requests {
                    self.post(key).await;
                }
            };
            group.bench_function(format!("{row}, {IN_FLIGHT} in flight"), |b| {
                keep_in_flight(b, runtime, &[(); IN_FLIGHT], &lane);
            });
        }
        group.finish();
    }
}

fn main() -> std::io::Result<()> {
    let mut criterion = benches::criterion();
    let runtime = benches::service_runtime()?;
    let directory = tempfile::tempdir()?;
    let database = host_store_sqlite::Database::open(directory.path().join("charges")).expect("a database");
    let table = "CREATE TABLE charge (id INTEGER PRIMARY KEY, amount INTEGER NOT NULL) STRICT";
    runtime
        .block_on(database.migrate("desk", &[table]))
        .expect("a table");
    Service::new(database).measure(&mut criterion, &runtime, "sqlite");
    if let Some(schema) = Schema::fresh(&runtime) {
        let database = runtime.block_on(async {
            let database = host_store_postgres::Database::connect(&schema.url()).await?;
            let table = "CREATE TABLE charge (id BIGSERIAL PRIMARY KEY, amount BIGINT NOT NULL)";
            database.migrate("desk", &[table]).await?;
            Ok::<_, host_store_postgres::DatabaseError>(database)
        });
        Service::new(database.expect("a database")).measure(&mut criterion, &runtime, "postgres");
    }
    criterion.final_summary();
    Ok(())
}
