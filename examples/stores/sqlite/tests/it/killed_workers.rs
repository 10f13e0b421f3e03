//! A process that is killed while its workers acknowledge events in transactions of the host.

use std::collections::BTreeSet;
use std::io::{Write, stdout};
use std::time::{Duration, SystemTime};

use futures_util::future::join_all;
use host_ports::testing::ManualClock;
use host_store_sqlite::{Database, DatabaseError, inbox};
use webhook_core::ports::OsEntropy;
use webhook_core::receiver::{Claim, Dedupe, Queued, Receipt, WorkFailure, WorkOutcome, WorkPolicy, Worker};

use crate::support::{File, incoming, notes, with_notes};
use crate::victim::{self, Victim};

const ROUNDS: i64 = 20;
const TASKS: i64 = 16;
const TURNS: i64 = 10_000;
const LEASE: Duration = Duration::from_secs(60);
/// Notes of event 7 are 70, written by the victim, and 71, written after the kill.
const ROWS_OF_AN_EVENT: i64 = 10;

/// H23: kill -9 twenty times under load leaves each event with one row: none is lost, none runs
/// twice.
#[tokio::test]
async fn killed_process_leaves_each_event_one_row() {
    let file = File::new();
    let (mut cut_off, mut unheard) = (0, 0);
    for round in 0..ROUNDS {
        let victim = Victim::start("killed_workers::victim", &file.path(), round);
        let told = victim.kill_after("handled", 20 + 10 * usize::try_from(round).unwrap());
        let handled: BTreeSet<i64> = told.iter().map(|number| number.parse().unwrap()).collect();
        let database = with_notes(file.open()).await;
        let arrived = arrivals(&database).await;
        let written: BTreeSet<i64> = events(&notes(&database).await).into_iter().collect();
        assert!(handled.is_subset(&written), "round {round}: a row was lost");
        let of_round = written.range(round * TASKS * TURNS..).count();
        unheard += of_round - handled.len();

        let desk = Desk::new(database, clock(round) + LEASE, 1);
        let mut left = 0;
        loop {
            let taken = desk.work().await;
            if taken.is_empty() {
                break;
            }
            left += taken.len();
            // the others were not taken before
            cut_off += taken.iter().filter(|event| event.attempt > 1).count();
        }
        assert_eq!(left, arrived.len() - written.len(), "round {round}");
        // once each, in ascending order
        assert_eq!(events(&notes(&desk.database).await), arrived, "round {round}");
    }
    assert!(
        cut_off > 0,
        "no event was held by a worker when its process was killed"
    );
    assert!(
        unheard > 0,
        "no worker was killed between its commit and its result"
    );
    println!("{cut_off} events were cut off, {unheard} others after their rows were stored");
}

/// The process of the test above. Without its variable it does nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn victim() {
    let Some((path, round)) = victim::task() else {
        return;
    };
    let database = with_notes(Database::open(path).unwrap()).await;
    let tasks = (0..TASKS).map(|task| {
        let desk = Desk::new(database.clone(), clock(round), 0);
        tokio::spawn(async move {
            for turn in 0..TURNS {
                let event = incoming((round * TASKS + task) * TURNS + turn);
                let claimed = desk.database.claim_and_enqueue(event, clock(round)).await;
                assert_eq!(claimed.unwrap(), Claim::Enqueued);
                for event in desk.work().await {
                    // fails, and ends the process, after the killer has ended
                    writeln!(stdout(), "handled {}", number_of(&event)).unwrap();
                }
            }
        })
    });
    join_all(tasks).await;
}

/// Time of the victim of a round. Its leases end before the next round.
fn clock(round: i64) -> SystemTime {
    SystemTime::UNIX_EPOCH + LEASE * u32::try_from(round).unwrap()
}

/// The events of these notes, in the order of the notes.
fn events(notes: &[i64]) -> Vec<i64> {
    notes.iter().map(|note| note / ROWS_OF_AN_EVENT).collect()
}

/// The events that were ever queued, in ascending order.
async fn arrivals(database: &Database) -> Vec<i64> {
    let read = database.read(|connection| -> Result<Vec<i64>, DatabaseError> {
        let mut statement = connection.prepare(
            "SELECT CAST(substr(event, length('evt_') + 1) AS INTEGER) AS number
             FROM webhook_claim ORDER BY number",
        )?;
        let numbers = statement.query_map((), |row| row.get(0))?;
        Ok(numbers.collect::<Result<_, _>>()?)
    });
    read.await.unwrap()
}

struct Desk {
    database: Database,
    worker: Worker,
    process: i64,
}

impl Desk {
    fn new(database: Database, now: SystemTime, process: i64) -> Self {
        let worker = Worker::new(database.clone(), ManualClock::new(now), OsEntropy);
        let policy = WorkPolicy::new(LEASE, LEASE, u32::MAX);
        Self {
            database,
            worker: worker.with_lease(LEASE).with_policy(policy),
            process,
        }
    }

    /// Takes a few events, runs them, and returns them.
    async fn work(&self) -> Vec<Queued> {
        let taken = self.worker.take(2).await.unwrap();
        for event in &taken {
            let work = self.note(event);
            let outcome = self.worker.run_in_transaction(event, work).await;
            assert_eq!(outcome.unwrap(), WorkOutcome::Done);
        }
        taken
    }

    async fn note(&self, event: &Queued) -> Result<Receipt, WorkFailure> {
        let row = number_of(event) * ROWS_OF_AN_EVENT + self.process;
        let ticket = event.ticket.clone();
        let written = self.database.write(move |transaction| -> Result<_, WorkFailure> {
            let insert = transaction.execute("INSERT INTO note (id) VALUES (?1)", [row]);
            insert.map_err(DatabaseError::from)?;
            Ok(inbox::complete_in(transaction, &ticket)??)
        });
        written.await
    }
}

fn number_of(event: &Queued) -> i64 {
    let id = event.ticket.key.id.as_str();
    id.strip_prefix("evt_").unwrap().parse().unwrap()
}
