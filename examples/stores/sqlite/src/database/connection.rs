//! Connections as every thread here uses them: durable, in write-ahead mode, with foreign keys.

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

/// Attempts of a statement at a lock that another handle holds, the pause between them, and the time in all.
///
/// SQLite's own busy timeout soon asks only ten times a second. A busy neighbour lets go for some microseconds at a time.
const ATTEMPTS: i32 = 5_000;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(1);
const PATIENCE: Duration = Duration::from_secs(5);

/// Statements kept prepared on each connection; the suite has fewer than a hundred, the rest is the host's.
const CACHED_STATEMENTS: usize = 256;

/// The length of the log, in pages of 4 KiB, at which a commit moves it into the file: 16 MiB.
const CHECKPOINT_PAGES: i32 = 4096;

/// What the writer keeps of the file in memory, at most.
const WRITER_CACHE_KIB: i32 = 16 * 1024;

/// The absolute form of `path`: SQLite gives a meaning of its own to the empty path and to `:memory:`.
pub(super) fn absolute(path: &Path) -> Result<PathBuf, DatabaseError> {
    std::path::absolute(path).map_err(|error| DatabaseError::new(DatabaseErrorKind::Unavailable, error))
}

/// The writing connection of a file; creates the file.
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
    // an acknowledged verb is on the disk: FULL syncs the log at each commit, and macOS needs a word more for it
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "checkpoint_fullfsync", true)?;
    // each checkpoint syncs twice and writes every page that has changed since the last one
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    // tokens are found by their hashes, so each verb of a batch touches pages of its own
    connection.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
    // after a burst the log shrinks again
    connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
    Ok(connection)
}

/// Switches the file to write-ahead mode, unless it is, and returns the mode it is in.
///
/// The switch first reads and then writes. SQLite asks the busy handler of nobody who reads already, since two who wait for
/// each other in this way would wait for ever; so of many who open a new file at once, all but one would be turned away.
/// Once refused it holds no lock, so here each begins again.
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

/// Creates the file for its owner alone when it is absent: it will hold the secrets that webhooks are signed with. SQLite
/// gives the files beside it the same mode.
///
/// A file that is there is not opened: closing it again would drop every lock that the process has on it.
fn create_private(path: &Path) -> Result<(), DatabaseError> {
    // who finds the file made by another thread may lock it at once, so it must have been closed by then
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

/// A reading connection beside [`writer`].
pub(super) fn reader(path: &Path) -> Result<Connection, DatabaseError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    configure(&mut connection)?;
    Ok(connection)
}

/// The one connection of a database that lives in memory.
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
    // a plan looks at no value: without this SQLite parses and plans most queries anew each time a value is bound
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // a schema that another application wrote must not run functions with side effects
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use rusqlite::trace::{TraceEvent, TraceEventCodes};
    use tempfile::TempDir;

    use super::*;

    /// The neighbour holds the write lock until the switch to write-ahead mode was refused and is tried again: SQLite
    /// asks no busy handler of a reader that wants to write.
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
