//! A process that is killed while its workers acknowledge events in transactions of the host.

use std::collections::BTreeSet;
use std::env;
use std::io::{BufRead, BufReader, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use futures_util::future::join_all;
use host_ports::testing::ManualClock;
use host_store_sqlite::{Database, DatabaseError, inbox};
use webhook_core::ports::OsEntropy;
use webhook_core::receiver::{
    Claim, Dedupe, Inbox, Queued, Receipt, WorkFailure, WorkOutcome, WorkPolicy, Worker,
};

use crate::support::{File, incoming, notes, with_notes};

/// Tells a second process of the test binary the file to write to until it is killed.
const VICTIM: &str = "STORE_SQLITE_WORKERS_VICTIM";
const ROUNDS: usize = 20;
const TASKS: usize = 16;
const EVENTS: i64 = 1_000;
const LEASE: Duration = Duration::from_secs(60);
/// Notes of event 7 are 70, written by the victim, and 71, written after the kill.
const ROWS_OF_AN_EVENT: i64 = 10;

/// H23: kill -9 twenty times under load leaves each event with one row: none is lost, none runs
/// twice.
#[tokio::test]
async fn killed_process_leaves_each_event_one_row() {
    let (mut cut_off, mut unheard) = (0, 0);
    for round in 0..ROUNDS {
        let file = File::new();
        let database = with_notes(file.open()).await;
        let arrivals = (0..EVENTS).map(|number| database.claim_and_enqueue(incoming(number), clock(0)));
        for claimed in join_all(arrivals).await {
            assert_eq!(claimed.unwrap(), Claim::Enqueued);
        }
        let handled = kill_after(start(&file.path()), 20 + 10 * round);
        let written: BTreeSet<i64> = events(&notes(&database).await).into_iter().collect();
        assert!(handled.is_subset(&written), "round {round}: a row was lost");

        let taken = database.take(usize::MAX, clock(0), LEASE).await.unwrap();
        let left = usize::try_from(EVENTS).unwrap() - written.len();
        cut_off += left - taken.len();
        unheard += written.len() - handled.len();
        let desk = Desk::new(database, clock(1), 1);
        while !desk.work().await.is_empty() {}
        let once: Vec<i64> = (0..EVENTS).collect();
        assert_eq!(events(&notes(&desk.database).await), once, "round {round}");
    }
    assert!(cut_off > 0, "no event was held by a worker that was killed");
    assert!(
        unheard > 0,
        "no worker was killed between its commit and its result"
    );
    println!("{cut_off} events were cut off, {unheard} others after their rows were stored");
}

/// The process of the test above. Without its variable it does nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn victim() {
    let Some(path) = env::var_os(VICTIM).map(PathBuf::from) else {
        return;
    };
    let database = with_notes(Database::open(path).unwrap()).await;
    let tasks = (0..TASKS).map(|_| {
        let desk = Desk::new(database.clone(), clock(0), 0);
        tokio::spawn(async move {
            loop {
                let handled = desk.work().await;
                if handled.is_empty() {
                    return;
                }
                for number in handled {
                    // fails, and ends the process, after the killer has ended
                    writeln!(stdout(), "handled {number}").unwrap();
                }
            }
        })
    });
    join_all(tasks).await;
}

/// Time at the start of each process: the leases of the first end before the second starts.
fn clock(process: u32) -> SystemTime {
    SystemTime::UNIX_EPOCH + LEASE * process
}

/// The events of these notes, in ascending order.
fn events(notes: &[i64]) -> Vec<i64> {
    notes.iter().map(|note| note / ROWS_OF_AN_EVENT).collect()
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

    /// Takes a few events and runs them. Returns their numbers.
    async fn work(&self) -> Vec<i64> {
        let taken = self.worker.take(4).await.unwrap();
        for event in &taken {
            let work = self.note(event);
            let outcome = self.worker.run_in_transaction(event, work).await;
            assert_eq!(outcome.unwrap(), WorkOutcome::Done);
        }
        taken.iter().map(number_of).collect()
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

fn start(path: &Path) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "killed_workers::victim", "--nocapture"])
        .env(VICTIM, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Lets the victim handle `count` events, kills it, and returns all that it handled.
fn kill_after(mut victim: Child, count: usize) -> BTreeSet<i64> {
    let mut output = BufReader::new(victim.stdout.take().unwrap());
    let mut handled = BTreeSet::new();
    let mut line = String::new();
    while output.read_line(&mut line).unwrap() > 0 {
        // the last line may be cut
        let whole = line.strip_suffix('\n');
        if let Some(number) = whole.and_then(|line| line.strip_prefix("handled ")) {
            handled.insert(number.parse().unwrap());
            if handled.len() == count {
                victim.kill().unwrap();
            }
        }
        line.clear();
    }
    assert!(!victim.wait().unwrap().success(), "it ended by itself");
    assert!(handled.len() >= count);
    handled
}
