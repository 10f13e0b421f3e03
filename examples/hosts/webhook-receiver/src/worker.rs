//! Processing of events, after their sender was answered.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::{sync::Notify, time::timeout};
use webhook_core::event::Envelope;
use webhook_core::ports::{Entropy, OsEntropy, StoreError};
use webhook_core::receiver::{Finish, Inbox, Queued, WorkDecision, WorkPolicy};

const LEASE: Duration = Duration::from_secs(60);

/// Longest wait for new events; then those are taken whose pause has ended.
const IDLE: Duration = Duration::from_secs(1);

/// Takes queued events, and events whose lease or pause has ended.
///
/// An event that cannot be parsed is buried: no retry would change it. An error of the output is
/// temporary: the event is retried, and the program ends.
pub(crate) async fn work(inbox: Arc<dyn Inbox>, arrived: Arc<Notify>) -> io::Error {
    loop {
        let jobs = inbox.take(64, SystemTime::now(), LEASE).await;
        let jobs = jobs.unwrap_or_else(|error| {
            eprintln!("{error}");
            Vec::new()
        });
        if jobs.is_empty() {
            timeout(IDLE, arrived.notified()).await.ok();
        }
        for job in jobs {
            let now = SystemTime::now();
            let (ended, failure) = match print(&job) {
                Ok(()) => (inbox.finish(&job.ticket).await, None),
                Err(Failure::Event(reason)) => {
                    eprintln!("buried: {reason}");
                    (inbox.bury(&job.ticket, &reason, now).await, None)
                }
                Err(Failure::Output(error)) => (end(&*inbox, &job, &error, now).await, Some(error)),
            };
            if let Err(error) = ended {
                // the event is taken again after its lease
                eprintln!("{error}");
            }
            if let Some(error) = failure {
                return error;
            }
        }
    }
}

enum Failure {
    /// The event itself is at fault.
    Event(String),
    /// Another attempt may succeed.
    Output(io::Error),
}

fn print(job: &Queued) -> Result<(), Failure> {
    let id = &job.ticket.key.id;
    let event = Envelope::parse(job.body.clone());
    let event = event.map_err(|error| Failure::Event(format!("{id}: {error}")))?;
    writeln!(io::stdout(), "{} {}", event.event_type(), event.id()).map_err(Failure::Output)
}

/// Retries an event after a pause, or buries it after its last attempt.
async fn end(
    inbox: &dyn Inbox,
    job: &Queued,
    error: &io::Error,
    now: SystemTime,
) -> Result<Finish, StoreError> {
    let mut jitter = [0; 8];
    OsEntropy.fill(&mut jitter);
    match WorkPolicy::default().after_failure(job.attempt, u64::from_le_bytes(jitter)) {
        WorkDecision::Retry { after } => inbox.retry_at(&job.ticket, now + after).await,
        WorkDecision::Bury => inbox.bury(&job.ticket, &error.to_string(), now).await,
    }
}
