//! Many who open one file that is not there yet.

use std::thread;
use std::time::Duration;

use host_store_sqlite::Database;
use host_store_sqlite::rusqlite::Connection;

use crate::support::File;

#[test]
fn a_new_file_can_be_opened_by_many_at_once() {
    let file = File::new();
    let opened: Vec<_> = thread::scope(|scope| {
        let opening: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| Database::open(file.path())))
            .collect();
        opening.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for database in opened {
        database.unwrap();
    }
}

/// A file that is not in write-ahead mode yet: who switches it reads first, and SQLite asks no busy handler of a reader who
/// wants to write.
#[test]
fn a_new_file_that_somebody_writes_is_opened_once_it_is_let_go() {
    let file = File::new();
    let neighbour = Connection::open(file.path()).unwrap();
    neighbour.execute_batch("BEGIN IMMEDIATE").unwrap();
    thread::scope(|scope| {
        let opening = scope.spawn(|| Database::open(file.path()));
        // long enough to be met; who comes later finds the file free and is none the wiser
        thread::sleep(Duration::from_millis(100));
        neighbour.execute_batch("ROLLBACK").unwrap();
        opening.join().unwrap().unwrap();
    });
}
