//! Opening, closing, sharing and growing a file.

use std::error::Error as _;
use std::fs;
use std::sync::mpsc;
use std::time::SystemTime;

use futures_util::future::join_all;
use host_store_sqlite::rusqlite::Connection;
use host_store_sqlite::{Database, DatabaseError, DatabaseErrorKind};
use webhook_core::receiver::{Claim, Dedupe};
use webhook_core::sender::{Enqueued, Outbox};

use crate::support::{File, Held, event, incoming, note, notes, queue, with_notes};

async fn pragma(database: &Database, name: &'static str) -> String {
    let value = move |connection: &Connection| -> Result<String, DatabaseError> {
        Ok(
            connection.query_row(&format!("SELECT * FROM pragma_{name}"), (), |row| {
                row.get_ref(0).map(|value| format!("{value:?}"))
            })?,
        )
    };
    database
        .write(move |transaction| value(transaction))
        .await
        .unwrap()
}

/// W15: the writer syncs the log at every commit.
#[tokio::test]
async fn a_file_is_opened_for_durable_commits() {
    let file = File::new();
    let database = file.open();
    assert_eq!(
        pragma(&database, "journal_mode").await,
        "Text([119, 97, 108])",
        "wal"
    );
    assert_eq!(pragma(&database, "synchronous").await, "Integer(2)", "FULL");
    assert_eq!(pragma(&database, "foreign_keys").await, "Integer(1)");
}

/// The file holds signing secrets.
#[cfg(unix)]
#[tokio::test]
async fn a_new_file_can_be_read_by_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;

    let file = File::new();
    let database = with_notes(file.open()).await;
    for entry in fs::read_dir(file.path().parent().unwrap()).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{entry:?}");
    }
    drop(database);
}

/// X4: closing any descriptor of a file drops all POSIX locks of the process on it. Without the
/// lock of an open handle, a process with an SQLite before 3.51 deletes the log under the handle
/// when it closes.
#[cfg(target_os = "linux")]
#[test]
fn opening_a_file_again_keeps_the_locks_of_the_first_handle() {
    use std::os::unix::fs::MetadataExt;

    let file = File::new();
    let first = file.open();
    let inode = format!(":{} ", fs::metadata(file.path()).unwrap().ino());
    let is_locked = || fs::read_to_string("/proc/locks").unwrap().contains(&inode);
    assert!(is_locked());

    let second = file.open();
    assert!(is_locked());
    drop((first, second));
}

/// X4: the file alone has all the data.
#[tokio::test]
async fn reopening_keeps_everything_and_leaves_one_file() {
    let file = File::new();
    let database = with_notes(file.open()).await;
    note(&database, 1).await.unwrap();
    drop(database);

    let beside: Vec<_> = fs::read_dir(file.path().parent().unwrap()).unwrap().collect();
    assert_eq!(beside.len(), 1, "the log is gone: {beside:?}");
    assert_eq!(notes(&with_notes(file.open()).await).await, [1]);
}

#[tokio::test]
async fn dropping_the_last_handle_waits_for_the_verb_that_has_begun() {
    let file = File::new();
    let database = with_notes(file.open()).await;
    let (begun, has_begun) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let begins = queue(database.write(move |transaction| -> Result<(), DatabaseError> {
        begun.send(()).unwrap();
        released.recv().unwrap();
        transaction.execute("INSERT INTO note (id) VALUES (1)", ())?;
        Ok(())
    }));
    has_begun.recv().unwrap();
    drop(begins);
    release.send(()).unwrap();
    drop(database);

    assert_eq!(notes(&file.open()).await, [1]);
}

#[tokio::test]
async fn the_last_handle_may_die_inside_a_verb() {
    let database = with_notes(Database::open_in_memory().unwrap()).await;
    let last = database.clone();
    let held = Held::writer_of(&database).await;
    let mut write = queue(async move {
        database
            .write(move |_| {
                drop(last);
                Ok::<_, DatabaseError>(())
            })
            .await
    });
    held.release().await.unwrap();
    write.as_mut().await.unwrap();
}

/// X4: two handles on one file behave as one.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_handles_on_one_file_take_turns() {
    let file = File::new();
    let handles = [with_notes(file.open()).await, with_notes(file.open()).await];

    let writes = (0..200).map(|id| {
        let database = handles[usize::try_from(id % 2).unwrap()].clone();
        tokio::spawn(async move { note(&database, id / 2).await })
    });
    let answers = join_all(writes).await;

    let won = answers
        .into_iter()
        .filter(|answer| answer.as_ref().unwrap().is_ok())
        .count();
    assert_eq!(
        won, 100,
        "each number can be noted once, by whichever handle is first"
    );
    for database in &handles {
        assert_eq!(notes(database).await, (0..100).collect::<Vec<_>>());
    }
}

/// X4, W7: of two processes that receive one event, one claims it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_event_is_claimed_once_over_all_handles() {
    let file = File::new();
    let handles = [file.open(), file.open()];
    let claims = (0..32).map(|turn: usize| {
        let database = handles[turn % 2].clone();
        tokio::spawn(async move {
            database
                .claim_and_enqueue(incoming(1), SystemTime::UNIX_EPOCH)
                .await
        })
    });
    let claims: Vec<_> = join_all(claims)
        .await
        .into_iter()
        .map(|claim| claim.unwrap().unwrap())
        .collect();
    assert_eq!(
        claims.iter().filter(|claim| **claim == Claim::Enqueued).count(),
        1
    );
    assert_eq!(
        claims.iter().filter(|claim| **claim == Claim::Duplicate).count(),
        31
    );
}

/// X4: a write that one handle acknowledged is visible to the other.
#[tokio::test]
async fn an_answered_write_is_seen_by_the_next_read_of_any_handle() {
    let file = File::new();
    let one = with_notes(file.open()).await;
    let other = file.open();
    for id in 0..20 {
        note(&one, id).await.unwrap();
        assert_eq!(notes(&other).await.last(), Some(&id));
        assert_eq!(notes(&one).await.last(), Some(&id));
    }
}

#[tokio::test]
async fn a_query_cannot_write_and_sees_one_snapshot() {
    let file = File::new();
    for database in [file.open(), Database::open_in_memory().unwrap()] {
        let database = with_notes(database).await;
        let writing = database
            .read(|connection| -> Result<usize, DatabaseError> {
                Ok(connection.execute("INSERT INTO note (id) VALUES (1)", ())?)
            })
            .await;
        assert_eq!(writing.unwrap_err().kind(), DatabaseErrorKind::Unavailable);
        let panicking = database
            .read(|_| -> Result<(), DatabaseError> { panic!("a bug of the host") })
            .await;
        assert_eq!(panicking.unwrap_err().kind(), DatabaseErrorKind::Failed);
        note(&database, 2).await.unwrap();
        assert_eq!(notes(&database).await, [2]);
    }
}

#[tokio::test]
async fn a_snapshot_does_not_move_while_others_write() {
    let file = File::new();
    let database = with_notes(file.open()).await;
    let (writer, counted) = (
        database.clone(),
        |connection: &Connection| -> Result<i64, DatabaseError> {
            Ok(connection.query_row("SELECT count(*) FROM note", (), |row| row.get(0))?)
        },
    );
    let runtime = tokio::runtime::Handle::current();
    let both = tokio::spawn(async move {
        database
            .read(move |connection| {
                let before = counted(connection)?;
                runtime.block_on(note(&writer, 1))?;
                Ok::<_, DatabaseError>((before, counted(connection)?))
            })
            .await
    });
    assert_eq!(both.await.unwrap().unwrap(), (0, 0));
}

#[test]
fn a_file_that_is_no_database_is_refused_as_corrupt() {
    let file = File::new();
    fs::write(
        file.path(),
        "not a database, and long enough to be read as the header of one".repeat(100),
    )
    .unwrap();
    assert_eq!(
        Database::open(file.path()).unwrap_err().kind(),
        DatabaseErrorKind::Corrupt
    );
}

#[test]
fn a_path_without_a_directory_is_unavailable() {
    let file = File::new();
    let error = Database::open(file.path().join("below").join("a file")).unwrap_err();
    assert_eq!(error.kind(), DatabaseErrorKind::Unavailable);
    assert!(
        Database::open("").is_err(),
        "SQLite would open a private temporary database"
    );
}

/// The file that SQLite would create at its target could be read by other users.
#[cfg(unix)]
#[test]
fn a_link_to_nothing_is_refused() {
    let file = File::new();
    let target = file.path().with_extension("target");
    std::os::unix::fs::symlink(&target, file.path()).unwrap();
    let error = Database::open(file.path()).unwrap_err();
    assert_eq!(error.kind(), DatabaseErrorKind::Unavailable);
    assert!(!target.exists());
}

/// X4: `user_version` and component versions are checked; the error names the version found and the
/// version read.
#[test]
fn refuses_file_of_another_release() {
    for (change, reason) in [
        (
            "PRAGMA user_version = 9999",
            "`user_version` is 9999, this release reads 1",
        ),
        (
            "PRAGMA user_version = 0",
            "`user_version` is 0, this release reads 1",
        ),
        (
            "UPDATE store_component SET version = 2 WHERE name = 'host-store-sqlite/oauth'",
            "`host-store-sqlite/oauth` is at version 2 in the file, this release reads 1",
        ),
    ] {
        let file = File::new();
        drop(file.open());
        let connection = Connection::open(file.path()).unwrap();
        connection.execute_batch(change).unwrap();
        let error = Database::open(file.path()).unwrap_err();
        assert_eq!(error.kind(), DatabaseErrorKind::Incompatible, "{change}");
        assert_eq!(error.source().unwrap().to_string(), reason);
    }
}

/// X4: a build with one more feature makes the tables of that feature in an existing file, and
/// changes nothing else.
#[tokio::test]
async fn adds_tables_of_a_feature_to_an_existing_file() {
    let file = File::new();
    let database = file.open();
    database.enqueue(event(1)).await.unwrap();
    drop(database);
    let connection = Connection::open(file.path()).unwrap();
    let without_conventions = "DROP TABLE idempotency_record; DROP TABLE rate_limit_bucket;
         DELETE FROM store_component WHERE name = 'host-store-sqlite/conventions'";
    connection.execute_batch(without_conventions).unwrap();
    drop(connection);

    let database = file.open();
    assert_eq!(database.enqueue(event(1)).await.unwrap(), Enqueued::Duplicate);
    let tables = database.read(|connection| -> Result<i64, DatabaseError> {
        let ours =
            "SELECT count(*) FROM sqlite_schema WHERE name IN ('idempotency_record', 'rate_limit_bucket')";
        Ok(connection.query_row(ours, (), |row| row.get(0))?)
    });
    assert_eq!(tables.await.unwrap(), 2);
}

/// X4: such a file would open, and every verb would then miss its table.
#[test]
fn refuses_file_that_another_application_versions() {
    let file = File::new();
    let connection = Connection::open(file.path()).unwrap();
    connection
        .execute_batch("CREATE TABLE theirs (id INTEGER); PRAGMA user_version = 1")
        .unwrap();
    drop(connection);
    assert_eq!(
        Database::open(file.path()).unwrap_err().kind(),
        DatabaseErrorKind::Incompatible
    );
}

/// X4: a file without the suite's tables gets them, and keeps its own.
#[tokio::test]
async fn adds_tables_to_a_file_of_the_host() {
    let file = File::new();
    let connection = Connection::open(file.path()).unwrap();
    connection
        .execute_batch("CREATE TABLE note (id INTEGER PRIMARY KEY); INSERT INTO note VALUES (7)")
        .unwrap();
    drop(connection);
    assert_eq!(notes(&file.open()).await, [7]);
}

#[tokio::test]
async fn the_steps_of_a_host_run_once_each_and_together() {
    let file = File::new();
    let first = "CREATE TABLE note (id INTEGER PRIMARY KEY) STRICT";
    let second = "ALTER TABLE note ADD COLUMN text TEXT";
    file.open().migrate("notes", &[first]).await.unwrap();

    let database = file.open();
    database.migrate("notes", &[first]).await.unwrap();
    note(&database, 1).await.unwrap();
    let refused = database
        .migrate("notes", &[first, second, "CREATE TABLE note (id INTEGER)"])
        .await;
    assert_eq!(refused.unwrap_err().kind(), DatabaseErrorKind::Failed);
    database.migrate("notes", &[first, second]).await.unwrap();

    let older = database.migrate("notes", &[first]).await;
    assert_eq!(older.unwrap_err().kind(), DatabaseErrorKind::Incompatible);
    database
        .migrate("others", &["CREATE TABLE other (id INTEGER) STRICT"])
        .await
        .unwrap();
    assert_eq!(notes(&database).await, [1]);
}

#[tokio::test]
async fn a_lock_held_by_another_process_is_reported_as_busy() {
    let file = File::new();
    let database = with_notes(file.open()).await;
    // a shorter timeout than the five seconds of a host
    database
        .write(|transaction| Ok::<_, DatabaseError>(transaction.busy_timeout(std::time::Duration::ZERO)?))
        .await
        .unwrap();
    let other = Connection::open(file.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(
        note(&database, 1).await.unwrap_err().kind(),
        DatabaseErrorKind::Busy
    );
    other.execute_batch("COMMIT").unwrap();
    note(&database, 1).await.unwrap();
}

#[tokio::test]
async fn a_full_disk_is_reported_as_such_and_loses_nothing() {
    let file = File::new();
    let database = with_notes(file.open()).await;
    note(&database, 1).await.unwrap();
    database
        .write(|transaction| Ok::<_, DatabaseError>(transaction.execute_batch("PRAGMA max_page_count = 1")?))
        .await
        .unwrap();
    let large = database
        .write(|transaction| -> Result<(), DatabaseError> {
            transaction.execute(
                "INSERT INTO note (id, text) VALUES (2, ?1)",
                ["x".repeat(1 << 20)],
            )?;
            Ok(())
        })
        .await;
    assert_eq!(large.unwrap_err().kind(), DatabaseErrorKind::Full);
    assert_eq!(notes(&database).await, [1]);
}
