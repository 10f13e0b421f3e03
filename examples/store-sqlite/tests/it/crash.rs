//! A process that is killed while it writes.

use std::collections::BTreeSet;
use std::env;
use std::io::{BufRead, BufReader, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use futures_util::future::join_all;
use store_sqlite::rusqlite::Connection;
use store_sqlite::{Database, DatabaseError};

use crate::support::{File, with_notes};

/// Tells the test binary, started once more, to write to this file until it is killed.
const VICTIM: &str = "STORE_SQLITE_VICTIM";
const TASKS: i64 = 16;

/// W15: kill -9 in the middle of a burst loses nothing acknowledged, and leaves nothing half done.
#[tokio::test]
async fn a_killed_process_loses_nothing_that_it_acknowledged() {
    let file = File::new();
    let mut acknowledged = BTreeSet::new();
    for round in 0..6 {
        let victim = start(&file.path(), round);
        acknowledged.extend(kill_after(victim, 40 + 90 * usize::try_from(round).unwrap()));

        let (notes, copies) = contents(&with_notes(file.open()).await).await;
        let lost: Vec<_> = acknowledged.difference(&notes).collect();
        assert!(lost.is_empty(), "round {round}: lost {lost:?}");
        assert_eq!(notes, copies, "round {round}: a verb was cut in half");
        let check: String = Connection::open(file.path())
            .unwrap()
            .query_row("PRAGMA integrity_check", (), |row| row.get(0))
            .unwrap();
        assert_eq!(check, "ok");
    }
}

/// The process of the test above. Alone it does nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn victim() {
    let Some(path) = env::var_os(VICTIM).map(PathBuf::from) else {
        return;
    };
    let round: i64 = env::var("STORE_SQLITE_ROUND").unwrap().parse().unwrap();
    let database = with_notes(Database::open(path).unwrap()).await;
    let tasks = (0..TASKS).map(|task| {
        let database = database.clone();
        tokio::spawn(async move {
            for turn in 0..100_000 {
                let id = (round * 100_000 + turn) * TASKS + task;
                write_twice(&database, id).await.unwrap();
                // fails, and ends the process, once the killer has gone
                writeln!(stdout(), "acknowledged {id}").unwrap();
            }
        })
    });
    join_all(tasks).await;
}

async fn write_twice(database: &Database, id: i64) -> Result<(), DatabaseError> {
    database
        .write(move |transaction| {
            let mut insert = transaction.prepare_cached("INSERT INTO note (id) VALUES (?1)")?;
            insert.execute([id])?;
            insert.execute([-1 - id])?;
            Ok(())
        })
        .await
}

fn start(path: &Path, round: i64) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "crash::victim", "--nocapture"])
        .env(VICTIM, path)
        .env("STORE_SQLITE_ROUND", round.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

/// Lets the victim acknowledge `count` verbs, kills it, and answers all that it acknowledged.
fn kill_after(mut victim: Child, count: usize) -> Vec<i64> {
    let mut lines = BufReader::new(victim.stdout.take().unwrap());
    let mut acknowledged = Vec::new();
    let mut line = String::new();
    while lines.read_line(&mut line).unwrap() > 0 {
        // the last line may be cut
        if let Some(id) = line
            .strip_suffix('\n')
            .and_then(|line| line.strip_prefix("acknowledged "))
        {
            acknowledged.push(id.parse().unwrap());
            if acknowledged.len() == count {
                victim.kill().unwrap();
            }
        }
        line.clear();
    }
    assert!(!victim.wait().unwrap().success(), "it ended by itself");
    assert!(acknowledged.len() >= count);
    acknowledged
}

async fn contents(database: &Database) -> (BTreeSet<i64>, BTreeSet<i64>) {
    let all = crate::support::notes(database).await;
    let (copies, notes): (Vec<_>, Vec<_>) = all.into_iter().partition(|id| *id < 0);
    (
        notes.into_iter().collect(),
        copies.into_iter().map(|id| -1 - id).collect(),
    )
}
