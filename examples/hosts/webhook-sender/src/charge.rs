//! The charge of this shop, stored together with its event.

use std::time::SystemTime;

use host_store_sqlite::{Database, outbox::send_in};
use webhook_core::event::{Envelope, EventId, EventType};
use webhook_core::ports::OsEntropy;

use crate::Failure;

pub(crate) const TABLES: &[&str] =
    &["CREATE TABLE charge (id INTEGER PRIMARY KEY, amount INTEGER NOT NULL) STRICT"];

/// Stores a charge and its event in one transaction.
pub(crate) async fn book(database: &Database, amount: u32) -> Result<EventId, Failure> {
    let event_type: EventType = "charge.created".parse()?;
    let booking = database.write(move |transaction| {
        transaction.execute("INSERT INTO charge (amount) VALUES (?1)", [amount])?;
        let charge = format!(
            r#"{{"id":"ch_{}","amount":{amount}}}"#,
            transaction.last_insert_rowid()
        );
        let (id, now) = (EventId::generate(&OsEntropy), SystemTime::now());
        let event = Envelope::new(id.clone(), event_type, "1".parse()?, now, charge.as_bytes())?;
        send_in(transaction, event, now)?;
        Ok::<_, Failure>(id)
    });
    booking.await
}
