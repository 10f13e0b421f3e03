//! Processing of events, after their sender was answered.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::{sync::Notify, time::timeout};
use webhook_core::{event::Envelope, receiver::Inbox};

const LEASE: Duration = Duration::from_secs(60);

/// Takes queued events, and events whose lease has expired.
///
/// Returns the error if nothing more can be printed: unprocessed events must not be acknowledged.
pub(crate) async fn work(inbox: Arc<dyn Inbox>, arrived: Arc<Notify>) -> io::Error {
    loop {
        let jobs = inbox.take(64, SystemTime::now(), LEASE).await;
        let jobs = jobs.unwrap_or_else(|error| {
            eprintln!("{error}");
            Vec::new()
        });
        if jobs.is_empty() {
            timeout(LEASE, arrived.notified()).await.ok();
        }
        for job in jobs {
            let printed = match Envelope::parse(job.body) {
                Ok(event) => writeln!(io::stdout(), "{} {}", event.event_type(), event.id()),
                Err(error) => writeln!(io::stdout(), "{}: {error}", job.ticket.key.id),
            };
            if let Err(error) = printed {
                return error;
            }
            // an event that is not finished is taken again after its lease
            if let Err(error) = inbox.finish(&job.ticket).await {
                eprintln!("{error}");
            }
        }
    }
}
