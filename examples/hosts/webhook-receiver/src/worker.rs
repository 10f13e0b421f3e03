//! Processing of events, after their sender was answered.

use std::io::{self, Write, stdout};
use std::sync::Arc;
use std::time::Duration;

use host_store_sqlite::{Database, DatabaseError, inbox};
use tokio::{sync::Notify, time::timeout};
use webhook_core::event::Envelope;
use webhook_core::ports::{OsEntropy, StoreError, SystemClock};
use webhook_core::receiver::{Queued, Receipt, WorkFailure, WorkOutcome, Worker};

/// Number of events of each type: work that must not run twice.
pub(crate) const TABLES: &[&str] =
    &["CREATE TABLE event_count (type TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT"];

/// Longest wait for new events; then those are taken whose lease or pause has ended.
const IDLE: Duration = Duration::from_secs(1);

/// Takes queued events and processes each. Ends if the output fails.
pub(crate) async fn work(database: Database, arrived: Arc<Notify>) -> io::Error {
    let worker = Worker::new(database.clone(), SystemClock, OsEntropy);
    loop {
        let events = worker.take(16).await.unwrap_or_else(|error| {
            eprintln!("{}", program::in_one_line(&error));
            Vec::new()
        });
        if events.is_empty() {
            timeout(IDLE, arrived.notified()).await.ok();
        }
        for event in events {
            let mut output = Ok(());
            let work = process(&database, &event, &mut output);
            report(&event, worker.run_in_transaction(&event, work).await);
            if let Err(error) = output {
                return error;
            }
        }
    }
}

/// Prints and counts an event.
async fn process(
    database: &Database,
    event: &Queued,
    output: &mut io::Result<()>,
) -> Result<Receipt, WorkFailure> {
    let envelope = Envelope::parse(event.body.clone());
    // no retry would change an event that cannot be parsed
    let envelope = envelope.map_err(|error| WorkFailure::Permanent(error.to_string()))?;
    // not in the database: after a crash before the commit, the line is printed again
    *output = writeln!(stdout(), "{} {}", envelope.event_type(), envelope.id());
    if let Err(error) = output {
        return Err(WorkFailure::Temporary(error.to_string()));
    }
    let (kind, ticket) = (envelope.event_type().clone(), event.ticket.clone());
    let counted = database.write(move |transaction| -> Result<_, WorkFailure> {
        let count = transaction.execute(
            "INSERT INTO event_count (type, count) VALUES (?1, 1)
             ON CONFLICT (type) DO UPDATE SET count = count + 1",
            [kind.as_str()],
        );
        count.map_err(DatabaseError::from)?;
        Ok(inbox::complete_in(transaction, &ticket)??)
    });
    counted.await
}

fn report(event: &Queued, outcome: Result<WorkOutcome, StoreError>) {
    let id = &event.ticket.key.id;
    match outcome {
        Ok(WorkOutcome::Retried { reason, .. }) => eprintln!("{id} is retried: {reason}"),
        Ok(WorkOutcome::Buried { reason }) => eprintln!("{id} is buried: {reason}"),
        Ok(_) => {}
        // the event is taken again after its lease
        Err(error) => eprintln!("{id}: {}", program::in_one_line(&error)),
    }
}
