//! Refuses a database file of another application before anything is written to it.

use std::path::Path;

use host_store_sqlite::rusqlite::{self, Connection, OpenFlags, OptionalExtension as _};

/// Checks that a file is absent, empty or a database of the service. The file is opened for reading
/// only.
///
/// # Errors
///
/// A text that names the file and the reason.
pub(crate) fn check(path: &Path) -> Result<(), String> {
    let is_new = match std::fs::metadata(path) {
        Ok(metadata) => metadata.len() == 0,
        // also a folder that is missing: creating the file names it
        Err(_) => true,
    };
    if is_new {
        return Ok(());
    }
    let flag = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let foreign = Connection::open_with_flags(path, flag).and_then(|connection| foreign_part(&connection));
    let path = path.display();
    match foreign {
        Ok(None) => Ok(()),
        Ok(Some(part)) => Err(format!(
            "--database: `{path}` belongs to another application: it has {part}; name another file"
        )),
        Err(error) => Err(format!(
            "--database: cannot read `{path}`: {error}; name another file"
        )),
    }
}

/// A part of the database that the service did not make; `None` for its own and an empty one.
fn foreign_part(connection: &Connection) -> Result<Option<String>, rusqlite::Error> {
    let has = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'store_component')";
    if connection.query_row(has, (), |row| row.get(0))? {
        let desk = "SELECT EXISTS (SELECT 1 FROM store_component WHERE name = 'desk')";
        let others = "SELECT name FROM store_component WHERE name NOT LIKE 'host-store-sqlite/%'";
        let other: Option<String> = connection.query_row(others, (), |row| row.get(0)).optional()?;
        // a process that was killed as it started has not made the tables of the desk yet
        let is_ours: bool = connection.query_row(desk, (), |row| row.get(0))?;
        return Ok(other
            .filter(|_| !is_ours)
            .map(|name| format!("the component `{name}`")));
    }
    let id: u32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    if id != 0 {
        return Ok(Some(format!("the application id {id:#010x}")));
    }
    let table = "SELECT type || ' `' || name || '`' FROM sqlite_schema LIMIT 1";
    let table: Option<String> = connection.query_row(table, (), |row| row.get(0)).optional()?;
    Ok(table.map(|table| format!("the {table}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// X7: a database of another application is refused, and not a byte of it is changed.
    #[test]
    fn foreign_database_is_refused_untouched() {
        let folder = tempfile::tempdir().unwrap();
        let refuse = |name: &str, made: &str, expected: &str| {
            let path = folder.path().join(name);
            Connection::open(&path).unwrap().execute_batch(made).unwrap();
            let before = std::fs::read(&path).unwrap();
            let refused = check(&path).unwrap_err();
            let path = path.display();
            assert_eq!(
                refused,
                format!(
                    "--database: `{path}` belongs to another application: it has {expected}; name another file"
                )
            );
            assert_eq!(std::fs::read(folder.path().join(name)).unwrap(), before);
        };
        refuse("table", "CREATE TABLE users (id)", "the table `users`");
        refuse(
            "id",
            "PRAGMA application_id = 16",
            "the application id 0x00000010",
        );
        refuse(
            "sender",
            "CREATE TABLE store_component (name, version);
             INSERT INTO store_component VALUES ('host-store-sqlite/webhooks', 1), ('sender', 1)",
            "the component `sender`",
        );
    }

    #[test]
    fn own_and_new_databases_are_accepted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new.sqlite");
        assert_eq!(check(&path), Ok(()));
        std::fs::write(&path, "").unwrap();
        assert_eq!(check(&path), Ok(()));
        let made = "CREATE TABLE store_component (name, version)";
        Connection::open(&path).unwrap().execute_batch(made).unwrap();
        assert_eq!(check(&path), Ok(()));
        let own = "INSERT INTO store_component VALUES ('desk', 1), ('other', 1)";
        Connection::open(&path).unwrap().execute_batch(own).unwrap();
        assert_eq!(check(&path), Ok(()));
    }

    #[test]
    fn file_that_is_no_database_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("letter.txt");
        std::fs::write(&path, "Dear Ada, this is no database at all.").unwrap();
        let refused = check(&path).unwrap_err();
        let path = path.display();
        assert_eq!(
            refused,
            format!("--database: cannot read `{path}`: file is not a database; name another file")
        );
    }
}
