//! Receives signed webhooks (Standard Webhooks) and prints one line for each new event.
//!
//! ```sh
//! cargo run -p webhook-receiver -- --secret whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw --listen 127.0.0.1:8090
//! ```
//!
//! The secret is better kept in the environment variable `WEBHOOK_SECRET`. The sender is answered as soon as its event
//! is claimed and queued; a worker does the rest. What is forged or stale is 400, what is repeated is acknowledged and
//! not queued again. This queue is in memory; the one of `store-sqlite` survives a crash.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "what it is for")]

mod options;

use std::time::{Duration, SystemTime};
use std::{error::Error, net::TcpListener, process::ExitCode, sync::Arc};

use http::{Response, StatusCode};
use http_body_util::Full;
use options::Options;
use tokio::{signal::ctrl_c, sync::Notify, time::timeout};
use webhook_core::receiver::{Inbox, Receiver, Verifier};
use webhook_core::{event::Envelope, memory::MemoryInbox, secret::SigningSecret};

const LEASE: Duration = Duration::from_secs(60);

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let options = Options::parse()?;
    let verifier = Verifier::standard_webhooks(SigningSecret::from_whsec(&options.secret)?);
    let (inbox, arrived) = (Arc::new(MemoryInbox::default()), Arc::new(Notify::new()));
    let receiver = Receiver::builder("sender", verifier, inbox.clone(), SystemTime::now).build()?;
    let listener = TcpListener::bind(options.listen)?;
    println!("listening on http://{}", listener.local_addr()?);
    tokio::spawn(work(inbox, Arc::clone(&arrived)));
    let handle = move |request| {
        let (receiver, arrived) = (receiver.clone(), Arc::clone(&arrived));
        async move {
            let response = receiver.receive(request).await;
            arrived.notify_one();
            response.map(Full::new)
        }
    };
    let refuse = |status: StatusCode| {
        let mut response = Response::default();
        *response.status_mut() = status;
        response
    };
    let interrupted = async { ctrl_c().await.unwrap_or(()) };
    Ok(adapter_hyper::serve(listener, handle, refuse, Default::default(), interrupted).await?)
}

/// Takes what is queued, and again what was taken and not finished within its lease.
async fn work(inbox: Arc<dyn Inbox>, arrived: Arc<Notify>) {
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
