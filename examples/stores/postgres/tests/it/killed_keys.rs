//! The server is killed while keyed requests complete their keys in transactions of the host.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::future::join_all;
use host_ports::testing::ManualClock;
use host_store_postgres::{Database, sqlx};
use http::{Request, Response, StatusCode};
use http_conventions::errors::{ErrorStatus, Problem, ProblemBase};
use http_conventions::idempotency::{HeldKey, Idempotency, KeyScope, Reply};
use http_conventions::ports::OsEntropy;
use http_conventions_conformance::completes_in_transaction::End;

use crate::completes::Notes;
use crate::own_server::OwnServer;
use crate::server::skip;
use crate::support::with_notes;

const ROUNDS: u64 = 3;
const CLIENTS: i64 = 16;
const LEASE: Duration = Duration::from_secs(60);
/// Rows of key 1 are 100 to 199.
const ROWS_OF_A_KEY: i64 = 100;

/// H23: a PostgreSQL that is killed under load leaves no key without its answer, and no key with
/// two rows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_postgresql_leaves_each_key_its_answer() {
    let Some(mut postgres) = OwnServer::start().await else {
        return skip(
            module_path!(),
            "the programs of PostgreSQL under /usr/lib/postgresql",
        );
    };
    // a request to the killed server fails soon
    let pool = Database::pool_options().acquire_timeout(Duration::from_secs(1));
    let pool = pool.connect(&postgres.url()).await.unwrap();
    let database = with_notes(Database::with_pool(pool).await.unwrap()).await;
    let desk = Arc::new(Desk::new(database));
    let (mut cut_off, mut stored) = (0, 0);
    for round in 0..ROUNDS {
        let desk_of_burst = Arc::clone(&desk);
        let burst = tokio::spawn(async move { desk_of_burst.burst().await });
        desk.until_answered(50 + 20 * round).await;
        postgres.kill();
        let burst = burst.await.unwrap();
        postgres.start_again().await;
        desk.clock.advance(LEASE);
        for (key, seen) in burst {
            let before = desk.rows_of(key).await;
            let answer = desk.retried(key).await;
            assert_eq!(desk.rows_of(key).await, [answer], "key {key}");
            match seen {
                Some(row) => assert_eq!(row, answer, "key {key}"),
                None => {
                    cut_off += 1;
                    stored += before.len();
                }
            }
        }
    }
    assert!(cut_off > 0, "no request was under way when the server died");
    println!("{cut_off} requests were cut off, {stored} of them after their rows were stored");
}

struct Desk {
    notes: Notes,
    idempotency: Idempotency,
    clock: ManualClock,
    answered: AtomicI64,
    next_key: AtomicI64,
    attempts: AtomicI64,
}

impl Desk {
    fn new(database: Database) -> Self {
        let clock = ManualClock::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000));
        let problems = ProblemBase::new("https://api.example.com/problems/").unwrap();
        let idempotency = Idempotency::new(database.clone(), Arc::new(clock.clone()), &OsEntropy, problems)
            .with_lease(LEASE);
        Self {
            notes: Notes(database),
            idempotency,
            clock,
            answered: AtomicI64::new(0),
            next_key: AtomicI64::new(1),
            attempts: AtomicI64::new(0),
        }
    }

    /// Clients that each send requests until one gets no answer. Returns the keys with the rows of
    /// their answers.
    async fn burst(&self) -> HashMap<i64, Option<i64>> {
        let stopped = AtomicBool::new(false);
        let clients = (0..CLIENTS).map(|_| async {
            let mut seen = Vec::new();
            while !stopped.load(Ordering::Relaxed) {
                let key = self.next_key.fetch_add(1, Ordering::Relaxed);
                let row = self.post(key).await;
                seen.push((key, row));
                if row.is_none() {
                    stopped.store(true, Ordering::Relaxed);
                }
                self.answered.fetch_add(1, Ordering::Relaxed);
            }
            seen
        });
        join_all(clients).await.into_iter().flatten().collect()
    }

    async fn until_answered(&self, count: u64) {
        let goal = self.answered.load(Ordering::Relaxed) + i64::try_from(count).unwrap();
        while self.answered.load(Ordering::Relaxed) < goal {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// The row of the answer; `None` if the answer is a problem.
    async fn post(&self, key: i64) -> Option<i64> {
        let request = Request::post("/v1/notes").header("idempotency-key", format!("key-{key}"));
        let request = request.body(Bytes::from_static(b"{}")).unwrap();
        let scope = KeyScope::new("user-7", "/v1/notes");
        let handler = async |held: Option<HeldKey>| self.note(key, held).await;
        let answer = self
            .idempotency
            .run_in_transaction(&request, scope, handler)
            .await;
        let answer = answer
            .ok()
            .filter(|answer| answer.status() == StatusCode::CREATED)?;
        String::from_utf8_lossy(answer.body()).parse().ok()
    }

    async fn note(&self, key: i64, held: Option<HeldKey>) -> Reply {
        let attempt = self.attempts.fetch_add(1, Ordering::Relaxed) % ROWS_OF_A_KEY;
        let row = key * ROWS_OF_A_KEY + attempt;
        let mut response = Response::new(Bytes::from(row.to_string()));
        *response.status_mut() = StatusCode::CREATED;
        let settlement = held.map(|held| held.settlement(&response));
        match self.notes.write_row(row, settlement.as_ref(), End::Commit).await {
            Ok(Ok(receipt)) => Reply::completed(response, receipt),
            Ok(Err(_)) | Err(_) => Reply::OutcomeUnknown(Problem::new(ErrorStatus::INTERNAL_SERVER_ERROR)),
        }
    }

    /// The row of the answer to a client that tries again. The first attempts may find connections
    /// to the killed server.
    async fn retried(&self, key: i64) -> i64 {
        for _ in 0..20 {
            if let Some(row) = self.post(key).await {
                return row;
            }
            self.clock.advance(LEASE);
        }
        -1
    }

    async fn rows_of(&self, key: i64) -> Vec<i64> {
        for _ in 0..20 {
            let rows = sqlx::query_scalar("SELECT id FROM note WHERE id / $1 = $2")
                .bind(ROWS_OF_A_KEY)
                .bind(key)
                .fetch_all(self.notes.0.pool());
            if let Ok(rows) = rows.await {
                return rows;
            }
        }
        vec![-1]
    }
}
