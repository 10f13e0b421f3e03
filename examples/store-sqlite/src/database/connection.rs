//! Connections as every thread here uses them: durable, in write-ahead mode, with foreign keys.

use std::fs::OpenOptions;
#[cfg(unix)]
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::error::{DatabaseError, DatabaseErrorKind};

/// How long a statement waits for a lock that another process holds.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Statements kept prepared on each connection; the suite has fewer than a hundred, the rest is the host's.
const CACHED_STATEMENTS: usize = 256;

/// The absolute form of `path`: SQLite gives a meaning of its own to the empty path and to `:memory:`.
pub(super) fn absolute(path: &Path) -> Result<PathBuf, DatabaseError> {
    std::path::absolute(path).map_err(|error| DatabaseError::new(DatabaseErrorKind::Unavailable, error))
}

/// The writing connection of a file; creates the file.
pub(super) fn writer(path: &Path) -> Result<Connection, DatabaseError> {
    create_private(path)?;
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    configure(&connection)?;
    let journal: String =
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if journal != "wal" {
        let reason = format!("the file system allows no write-ahead log, only {journal}");
        return Err(DatabaseError::new(DatabaseErrorKind::Unavailable, reason));
    }
    // an acknowledged verb is on the disk: FULL syncs the log at each commit, and macOS needs a word more for it
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "checkpoint_fullfsync", true)?;
    // after a burst the log shrinks again
    connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
    Ok(connection)
}

/// Creates the file for its owner alone when it is absent: it will hold the secrets that webhooks are signed with. SQLite
/// gives the files beside it the same mode.
fn create_private(path: &Path) -> Result<(), DatabaseError> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    options.mode(0o600);
    let created = options
        .open(path)
        .map_err(|error| DatabaseError::new(DatabaseErrorKind::Unavailable, error));
    created.map(drop)
}

/// A reading connection beside [`writer`].
pub(super) fn reader(path: &Path) -> Result<Connection, DatabaseError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    configure(&connection)?;
    Ok(connection)
}

/// The one connection of a database that lives in memory.
pub(super) fn memory() -> Result<Connection, DatabaseError> {
    let connection = Connection::open_in_memory()?;
    configure(&connection)?;
    Ok(connection)
}

fn configure(connection: &Connection) -> Result<(), DatabaseError> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    connection.pragma_update(None, "foreign_keys", true)?;
    // a schema written by somebody else must not be able to run functions with side effects
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(())
}
