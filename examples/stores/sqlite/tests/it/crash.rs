//! A process that is killed while it writes.

use std::collections::BTreeSet;
use std::io::{Write, stdout};
use std::path::Path;
use std::time::SystemTime;

use futures_util::future::join_all;
use host_store_sqlite::Database;
use host_store_sqlite::rusqlite::{Connection, Result};
use webhook_core::receiver::{Claim, Dedupe};
use webhook_core::sender::Enqueued;

use crate::support::{File, event, incoming, note_and_enqueue, with_notes};
use crate::victim::{self, Victim};

const TASKS: i64 = 16;
const TURNS: i64 = 100_000;

/// W15, W7: kill -9 during a burst loses nothing acknowledged, and leaves nothing half done.
#[test]
fn a_killed_process_loses_nothing_that_it_acknowledged() {
    let file = File::new();
    let mut acknowledged = BTreeSet::new();
    for round in 0..6 {
        let victim = Victim::start("crash::victim", &file.path(), round);
        let told = victim.kill_after("acknowledged", 40 + 90 * usize::try_from(round).unwrap());
        acknowledged.extend(told.iter().map(|id| id.parse::<i64>().unwrap()));

        drop(file.open());
        let found = Found::in_file(&file.path()).unwrap();
        let lost: Vec<_> = acknowledged.difference(&found.notes).collect();
        assert!(lost.is_empty(), "round {round}: lost {lost:?}");
        assert_eq!(
            found.notes, found.deliveries,
            "round {round}: a note without its event"
        );
        let lost: Vec<_> = acknowledged.difference(&found.received).collect();
        assert!(lost.is_empty(), "round {round}: lost received {lost:?}");
        assert_eq!(
            found.received, found.claims,
            "round {round}: claimed without being queued"
        );
        assert_eq!(found.integrity, "ok");
    }
}

/// The process of the test above. Without its variable it does nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn victim() {
    let Some((path, round)) = victim::task() else {
        return;
    };
    let database = with_notes(Database::open(path).unwrap()).await;
    let tasks = (0..TASKS).map(|task| {
        let database = database.clone();
        tokio::spawn(async move {
            for turn in 0..TURNS {
                send_and_receive(&database, (round * TURNS + turn) * TASKS + task).await;
            }
        })
    });
    join_all(tasks).await;
}

/// Sends one event, in one transaction with its note, and receives one.
async fn send_and_receive(database: &Database, id: i64) {
    let enqueued = note_and_enqueue(database, id, event(id)).await.unwrap();
    assert_eq!(enqueued, Enqueued::Enqueued);

    let claim = database
        .claim_and_enqueue(incoming(id), SystemTime::UNIX_EPOCH)
        .await
        .unwrap();
    assert_eq!(claim, Claim::Enqueued);

    let mut acknowledgements = stdout();
    // fails, and ends the process, after the killer has ended
    writeln!(acknowledgements, "acknowledged {id}").unwrap();
}

/// The numbers of the events in each table.
struct Found {
    notes: BTreeSet<i64>,
    deliveries: BTreeSet<i64>,
    received: BTreeSet<i64>,
    claims: BTreeSet<i64>,
    integrity: String,
}

impl Found {
    fn in_file(path: &Path) -> Result<Self> {
        let connection = Connection::open(path)?;
        let numbers = |query: &str| -> Result<BTreeSet<i64>> {
            connection
                .prepare(query)?
                .query_map((), |row| row.get(0))?
                .collect()
        };
        let number = "CAST(substr(event, length('evt_') + 1) AS INTEGER)";
        Ok(Self {
            notes: numbers("SELECT id FROM note")?,
            deliveries: numbers(&format!(
                "SELECT {number} FROM webhook_delivery JOIN webhook_event ON id = event"
            ))?,
            received: numbers(&format!("SELECT {number} FROM webhook_received"))?,
            claims: numbers(&format!("SELECT {number} FROM webhook_claim"))?,
            integrity: connection.query_row("PRAGMA integrity_check", (), |row| row.get(0))?,
        })
    }
}
