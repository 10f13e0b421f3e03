//! The server is killed while workers acknowledge events in transactions of the host.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use futures_util::future::join_all;
use host_ports::testing::ManualClock;
use host_store_postgres::{Database, DatabaseError, inbox, sqlx};
use webhook_core::ports::{Clock, OsEntropy};
use webhook_core::receiver::{Dedupe, Queued, Receipt, WorkFailure, WorkOutcome, WorkPolicy, Worker};

use crate::own_server::OwnServer;
use crate::server::skip;
use crate::support::{incoming, with_notes};

const ROUNDS: u64 = 3;
const WORKERS: usize = 16;
const LEASE: Duration = Duration::from_secs(60);
/// Rows of event 1 are 1,000 to 1,999.
const ROWS_OF_AN_EVENT: i64 = 1_000;

/// H23: a PostgreSQL that is killed under load leaves each event with one row: none is lost, none
/// runs twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_postgresql_leaves_each_event_one_row() {
    let Some(mut postgres) = OwnServer::start().await else {
        return skip(
            module_path!(),
            "the programs of PostgreSQL under /usr/lib/postgresql",
        );
    };
    // a transaction on the killed server fails soon
    let pool = Database::pool_options().acquire_timeout(Duration::from_secs(1));
    let pool = pool.connect(&postgres.url()).await.unwrap();
    let database = with_notes(Database::with_pool(pool).await.unwrap()).await;
    let desk = Arc::new(Desk::new(database));
    let (mut cut_off, mut handled) = (0, HashSet::new());
    for round in 0..ROUNDS {
        let desk_of_burst = Arc::clone(&desk);
        let burst = tokio::spawn(async move { desk_of_burst.burst().await });
        desk.until_handled(50 + 20 * round).await;
        postgres.kill();
        for (event, outcome) in burst.await.unwrap() {
            match outcome {
                Some(WorkOutcome::Done) => {
                    assert!(handled.insert(event), "event {event} was handled twice");
                }
                _ => cut_off += 1,
            }
        }
        postgres.start_again().await;
        desk.clock.advance(LEASE);
        let rows = desk.events_of_rows().await;
        let with_row: HashSet<_> = rows.iter().copied().collect();
        assert_eq!(rows.len(), with_row.len(), "an event has two rows");
        assert!(handled.is_subset(&with_row), "a row was lost");
    }
    assert!(cut_off > 0, "no event was under way when the server died");
    desk.work_to_the_end().await;
    // once each, in ascending order
    assert_eq!(desk.events_of_rows().await, desk.arrivals().await);
    println!("{cut_off} events were cut off");
}

struct Desk {
    database: Database,
    worker: Worker,
    clock: ManualClock,
    handled: AtomicU64,
    attempts: AtomicU64,
    next_event: AtomicUsize,
}

impl Desk {
    fn new(database: Database) -> Self {
        let clock = ManualClock::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000));
        let worker = Worker::new(database.clone(), clock.clone(), OsEntropy);
        let policy = WorkPolicy::new(LEASE / 2, LEASE / 2, u32::MAX);
        Self {
            database,
            worker: worker.with_lease(LEASE).with_policy(policy),
            clock,
            handled: AtomicU64::new(0),
            attempts: AtomicU64::new(0),
            next_event: AtomicUsize::new(0),
        }
    }

    /// Workers that each queue and run events until the store fails. Returns the events with their
    /// outcomes.
    async fn burst(&self) -> Vec<(i64, Option<WorkOutcome>)> {
        let stopped = AtomicBool::new(false);
        let workers = (0..WORKERS).map(|_| async {
            let mut seen = Vec::new();
            while !stopped.load(Ordering::Relaxed) {
                let now = self.clock.now();
                let number = self.next_event.fetch_add(1, Ordering::Relaxed);
                let event = incoming(number, now + LEASE * 100);
                if self.database.claim_and_enqueue(event, now).await.is_err() {
                    stopped.store(true, Ordering::Relaxed);
                }
                for event in self.worker.take(2).await.unwrap_or_default() {
                    let outcome = self.run(&event).await;
                    if outcome.is_none() {
                        stopped.store(true, Ordering::Relaxed);
                    }
                    seen.push((number_of(&event), outcome));
                    self.handled.fetch_add(1, Ordering::Relaxed);
                }
            }
            seen
        });
        join_all(workers).await.into_iter().flatten().collect()
    }

    async fn until_handled(&self, count: u64) {
        let goal = self.handled.load(Ordering::Relaxed) + count;
        while self.handled.load(Ordering::Relaxed) < goal {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// The outcome of an event; `None` if the store failed.
    async fn run(&self, event: &Queued) -> Option<WorkOutcome> {
        let outcome = self.worker.run_in_transaction(event, self.note(event)).await;
        outcome.ok()
    }

    async fn note(&self, event: &Queued) -> Result<Receipt, WorkFailure> {
        let attempt = self.attempts.fetch_add(1, Ordering::Relaxed).cast_signed();
        let row = number_of(event) * ROWS_OF_AN_EVENT + attempt % ROWS_OF_AN_EVENT;
        let mut transaction = self.database.pool().begin().await.map_err(DatabaseError::from)?;
        let insert = sqlx::query("INSERT INTO note (id) VALUES ($1)").bind(row);
        insert
            .execute(&mut *transaction)
            .await
            .map_err(DatabaseError::from)?;
        let receipt = inbox::complete_in(&mut transaction, &event.ticket).await??;
        transaction.commit().await.map_err(DatabaseError::from)?;
        Ok(receipt)
    }

    /// Runs events until the queue is empty. The first attempts may find connections to the killed
    /// server.
    async fn work_to_the_end(&self) {
        let mut idle = 0;
        while idle < 3 {
            self.clock.advance(LEASE);
            match self.worker.take(WORKERS).await {
                Ok(events) if events.is_empty() => idle += 1,
                Ok(events) => drop(join_all(events.iter().map(|event| self.run(event))).await),
                Err(_) => {}
            }
        }
    }

    /// The events that were ever queued, in ascending order.
    async fn arrivals(&self) -> Vec<i64> {
        let ids: Vec<String> = sqlx::query_scalar("SELECT event FROM webhook_claim")
            .fetch_all(self.database.pool())
            .await
            .unwrap();
        let mut numbers: Vec<_> = ids.iter().map(|id| number_in(id)).collect();
        numbers.sort_unstable();
        numbers
    }

    /// The event of each row, in ascending order.
    async fn events_of_rows(&self) -> Vec<i64> {
        for _ in 0..20 {
            let rows = sqlx::query_scalar("SELECT id / $1 FROM note ORDER BY id").bind(ROWS_OF_AN_EVENT);
            if let Ok(rows) = rows.fetch_all(self.database.pool()).await {
                return rows;
            }
        }
        vec![-1]
    }
}

fn number_of(event: &Queued) -> i64 {
    number_in(event.ticket.key.id.as_str())
}

fn number_in(id: &str) -> i64 {
    id.strip_prefix("evt_").unwrap().parse().unwrap()
}
