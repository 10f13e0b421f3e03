//! What is done about an event, after its sender has been answered.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::{sync::Notify, time::timeout};
use webhook_core::{event::Envelope, receiver::Inbox};

const LEASE: Duration = Duration::from_secs(60);

/// Takes what is queued, and again what was taken and not finished within its lease.
pub(crate) async fn work(inbox: Arc<dyn Inbox>, arrived: Arc<Notify>) {
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
            match Envelope::parse(job.body) {
                Ok(event) => println!("{} {}", event.event_type(), event.id()),
                Err(error) => println!("{}: {error}", job.ticket.key.id),
            }
            // what is not marked as done is taken again after its lease
            if let Err(error) = inbox.finish(&job.ticket).await {
                eprintln!("{error}");
            }
        }
    }
}
