//! Connections with the settings of all threads: durable, write-ahead mode, foreign keys.

use std::fs::OpenOptions;
use std::io::ErrorKind;
#[cfg(unix)]
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::error::{DatabaseError, DatabaseErrorKind};

/// Attempts of a statement at a lock of another handle, the pause between them, and the total time.
///
/// SQLite's own busy timeout soon tries only ten times a second, and a busy handle frees the lock
/// for microseconds.
const ATTEMPTS: i32 = 5_000;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(1);
const PATIENCE: Duration = Duration::from_secs(5);

/// Prepared statements kept on each connection; the suite has fewer than a hundred, the host the
/// rest.
const CACHED_STATEMENTS: usize = 256;

/// Length of the write-ahead log at which a commit starts a checkpoint, in pages of 4 KiB: 16 MiB.
const CHECKPOINT_PAGES: i32 = 4096;

/// Limit of the writer's page cache.
const WRITER_CACHE_KIB: i32 = 16 * 1024;

/// Returns the absolute path: SQLite treats the empty path and `:memory:` specially.
pub(super) fn absolute(path: &Path) -> Result<PathBuf, DatabaseError> {
    std::path::absolute(path).map_err(|error| DatabaseError::new(DatabaseErrorKind::Unavailable, error))
}

/// Opens the writing connection of a file; creates the file.
pub(super) fn writer(path: &Path) -> Result<Connection, DatabaseError> {
    create_private(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    configure(&mut connection)?;
    let journal = write_ahead(&connection)?;
    if journal != "wal" {
        let reason = format!("the file system allows no write-ahead log, only {journal}");
        return Err(DatabaseError::new(DatabaseErrorKind::Unavailable, reason));
    }
    // FULL syncs the log at each commit; macOS needs `fullfsync` too
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "checkpoint_fullfsync", true)?;
    // each checkpoint syncs twice and writes every changed page
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    // tokens are found by their hashes, so operations of a batch touch different pages
    connection.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
    // shrinks the log after a burst
    connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
    Ok(connection)
}

/// Switches the file to write-ahead mode unless it is in it; returns the mode.
///
/// The switch reads and then writes. SQLite does not call the busy handler for a reader that wants
/// to write, to avoid a deadlock. So of many handles that open a new file together, all but one
/// would fail. A refused handle holds no lock and retries here.
fn write_ahead(connection: &Connection) -> Result<String, rusqlite::Error> {
    let began = Instant::now();
    loop {
        let mode = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0));
        let is_busy = |error: &rusqlite::Error| error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy);
        if !mode.as_ref().is_err_and(is_busy) || began.elapsed() >= PATIENCE {
            return mode;
        }
        thread::sleep(BETWEEN_ATTEMPTS);
    }
}

/// Creates an absent file with access for its owner alone: it will hold signing secrets. SQLite
/// gives the files beside it the same mode.
///
/// An existing file is not opened: closing it again would drop every lock of the process on it.
fn create_private(path: &Path) -> Result<(), DatabaseError> {
    // another thread may lock the new file at once, so it must be closed by then
    static CREATING: Mutex<()> = Mutex::new(());
    let _creating = CREATING.lock().unwrap_or_else(PoisonError::into_inner);

    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    options.mode(0o600);
    match options.open(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Err(DatabaseError::new(DatabaseErrorKind::Unavailable, error))
        }
        _ => Ok(()),
    }
}

/// Opens a reading connection beside [`writer`].
pub(super) fn reader(path: &Path) -> Result<Connection, DatabaseError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    configure(&mut connection)?;
    Ok(connection)
}

/// Opens the only connection of an in-memory database.
pub(super) fn memory() -> Result<Connection, DatabaseError> {
    let mut connection = Connection::open_in_memory()?;
    configure(&mut connection)?;
    Ok(connection)
}

fn configure(connection: &mut Connection) -> Result<(), DatabaseError> {
    connection.busy_handler(Some(|attempts| {
        thread::sleep(BETWEEN_ATTEMPTS);
        attempts < ATTEMPTS
    }))?;
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    // plans do not depend on values: without this SQLite prepares most queries again for each value
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // a schema written by another application must not run functions with side effects
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use rusqlite::trace::{TraceEvent, TraceEventCodes};
    use tempfile::TempDir;

    use super::*;

    /// The other handle holds the write lock until the switch was refused and is retried: SQLite
    /// does not call the busy handler of a reader that wants to write.
    #[test]
    fn write_ahead_switch_waits_for_a_writer() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("new.sqlite");
        let neighbour = Connection::open(&path).unwrap();
        neighbour.execute_batch("BEGIN IMMEDIATE").unwrap();

        let mut connection = Connection::open(&path).unwrap();
        configure(&mut connection).unwrap();
        let (attempt, attempts) = mpsc::channel();
        let note = move |event: TraceEvent<'_>| {
            if let TraceEvent::Stmt(..) = event {
                attempt.send(()).ok();
            }
        };
        connection
            .trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(note))
            .unwrap();
        thread::scope(|scope| {
            let switching = scope.spawn(|| {
                let connection = connection;
                write_ahead(&connection)
            });
            for _refused_then_retried in 0..2 {
                attempts.recv().unwrap();
            }
            neighbour.execute_batch("ROLLBACK").unwrap();
            assert_eq!(switching.join().unwrap().unwrap(), "wal");
        });
    }
}
