//! The shop in an SQLite file.

use std::time::SystemTime;

use host_store_sqlite::{Database, outbox::send_in};
use webhook_core::event::EventId;

use crate::Failure;
use crate::shop::{self, Shop};

const TABLES: &[&str] = &["CREATE TABLE charge (id INTEGER PRIMARY KEY, amount INTEGER NOT NULL) STRICT"];

pub(crate) async fn open(file: &str) -> Result<Database, Failure> {
    let database = Database::open(file)?;
    database.migrate("shop", TABLES).await?;
    Ok(database)
}

impl Shop for Database {
    async fn book(&self, amount: u32) -> Result<EventId, Failure> {
        let booking = self.write(move |transaction| {
            transaction.execute("INSERT INTO charge (amount) VALUES (?1)", [amount])?;
            let now = SystemTime::now();
            let event = shop::event(transaction.last_insert_rowid(), amount, now)?;
            let id = event.id.clone();
            send_in(transaction, event, now)?;
            Ok::<_, Failure>(id)
        });
        booking.await
    }
}
