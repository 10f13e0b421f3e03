//! Simultaneous opening of a new file. `database/connection.rs` tests opening beside a writer.

use std::thread;

use host_store_sqlite::Database;

use crate::support::File;

#[test]
fn new_file_is_opened_by_eight_threads_at_once() {
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
