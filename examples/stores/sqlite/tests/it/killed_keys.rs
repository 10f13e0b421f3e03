//! A process that is killed while its requests complete their keys in transactions of the host.

use std::collections::BTreeMap;
use std::io::{Write, stdout};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::future::join_all;
use host_ports::testing::ManualClock;
use host_store_sqlite::Database;
use http::{Request, Response, StatusCode};
use http_conventions::errors::{ErrorStatus, Problem, ProblemBase};
use http_conventions::idempotency::{HeldKey, Idempotency, KeyScope, Reply};
use http_conventions::ports::OsEntropy;
use http_conventions_conformance::completes_in_transaction::End;

use crate::completes::Notes;
use crate::support::{File, notes, with_notes};
use crate::victim::{self, Victim};

const ROUNDS: i64 = 20;
const TASKS: i64 = 16;
const LEASE: Duration = Duration::from_secs(60);
/// Rows of key 7 are 70, stored by the victim, and 71, stored by a retry.
const ROWS_OF_A_KEY: i64 = 10;

/// H23: kill -9 twenty times under keyed load leaves no key without its answer, and no key with two
/// rows.
#[tokio::test]
async fn killed_process_leaves_each_key_its_answer() {
    let file = File::new();
    let (mut cut_off, mut stored) = (0, 0);
    for round in 0..ROUNDS {
        let victim = Victim::start("killed_keys::victim", &file.path(), round);
        let told = victim.kill_after("answered", 20 + 10 * usize::try_from(round).unwrap());
        let answered: BTreeMap<i64, i64> = told.iter().map(|line| key_and_row(line)).collect();
        let database = with_notes(file.open()).await;
        let desk = Desk::new(database.clone(), round, 1);
        desk.clock.advance(LEASE);
        for task in 0..TASKS {
            let last = answered
                .range(key(round, task, 0)..key(round, task + 1, 0))
                .next_back();
            let in_flight = last.map_or(key(round, task, 0), |(last, _)| last + 1);
            let before = rows_of(&database, in_flight).await;
            let answer = desk.post(in_flight).await;
            assert_eq!(rows_of(&database, in_flight).await, [answer.unwrap()]);
            cut_off += 1;
            stored += before.len();
        }
        for (key, row) in answered {
            assert_eq!(desk.post(key).await, Some(row), "round {round}");
            assert_eq!(rows_of(&database, key).await, [row], "round {round}");
        }
    }
    assert!(
        stored > 0,
        "no request was killed between its commit and its answer"
    );
    println!("{cut_off} requests were cut off, {stored} of them after their rows were stored");
}

/// The process of the test above. Without its variable it does nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn victim() {
    let Some((path, round)) = victim::task() else {
        return;
    };
    let database = with_notes(Database::open(path).unwrap()).await;
    let desk = Arc::new(Desk::new(database, round, 0));
    let tasks = (0..TASKS).map(|task| {
        let desk = Arc::clone(&desk);
        tokio::spawn(async move {
            for turn in 0..10_000 {
                let key = key(round, task, turn);
                let row = desk.post(key).await.unwrap();
                // fails, and ends the process, after the killer has ended
                writeln!(stdout(), "answered {key} {row}").unwrap();
            }
        })
    });
    join_all(tasks).await;
}

fn key_and_row(line: &str) -> (i64, i64) {
    let (key, row) = line.split_once(' ').unwrap();
    (key.parse().unwrap(), row.parse().unwrap())
}

fn key(round: i64, task: i64, turn: i64) -> i64 {
    (round * TASKS + task) * 10_000 + turn
}

async fn rows_of(database: &Database, key: i64) -> Vec<i64> {
    let mut rows = notes(database).await;
    rows.retain(|row| row / ROWS_OF_A_KEY == key);
    rows
}

struct Desk {
    notes: Notes,
    idempotency: Idempotency,
    clock: ManualClock,
    attempt: i64,
}

impl Desk {
    fn new(database: Database, round: i64, attempt: i64) -> Self {
        let hours = 3600 * u64::try_from(round).unwrap();
        let clock = ManualClock::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000 + hours));
        let problems = ProblemBase::new("https://api.example.com/problems/").unwrap();
        let idempotency = Idempotency::new(database.clone(), Arc::new(clock.clone()), &OsEntropy, problems);
        Self {
            notes: Notes(database),
            idempotency: idempotency.with_lease(LEASE),
            clock,
            attempt,
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
        let row = key * ROWS_OF_A_KEY + self.attempt;
        let mut response = Response::new(Bytes::from(row.to_string()));
        *response.status_mut() = StatusCode::CREATED;
        let settlement = held.map(|held| held.settlement(&response));
        match self.notes.write_row(row, settlement.as_ref(), End::Commit).await {
            Ok(Ok(receipt)) => Reply::completed(response, receipt),
            Ok(Err(_)) | Err(_) => Reply::OutcomeUnknown(Problem::new(ErrorStatus::INTERNAL_SERVER_ERROR)),
        }
    }
}
