//! Receives signed webhooks (Standard Webhooks) and prints one line for each new event.
//!
//! ```sh
//! cargo run -p webhook-receiver -- --secret whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw --listen 127.0.0.1:8090
//! ```
//!
//! The secret is better kept in the environment variable `WEBHOOK_SECRET`. The sender is answered as soon as its event
//! is claimed and queued; a worker does the rest. What is forged or stale is 400, what is repeated is acknowledged and
//! not queued again. This queue is in memory; the one of `store-sqlite` survives a crash.
#![expect(clippy::print_stdout, reason = "its output is its purpose")]

use std::{env, error::Error, net::TcpListener, sync::Arc, time::Duration, time::SystemTime};

use http::{Response, StatusCode};
use http_body_util::Full;
use tokio::{signal::ctrl_c, sync::Notify, time::timeout};
use webhook_core::receiver::{Inbox, Receiver, Verifier};
use webhook_core::{event::Envelope, memory::MemoryInbox, secret::SigningSecret};

const LEASE: Duration = Duration::from_secs(60);
const USAGE: &str = "usage: webhook-receiver [--secret whsec_…] [--listen 127.0.0.1:8090]";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (secret, listen) = options()?;
    let verifier = Verifier::standard_webhooks(SigningSecret::from_whsec(&secret)?);
    let (inbox, arrived) = (Arc::new(MemoryInbox::default()), Arc::new(Notify::new()));
    let receiver = Receiver::builder("sender", verifier, inbox.clone(), SystemTime::now).build()?;
    let listener = TcpListener::bind(listen)?;
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
        let jobs = inbox.take(64, SystemTime::now(), LEASE).await.unwrap_or_default();
        if jobs.is_empty() {
            timeout(LEASE, arrived.notified()).await.ok();
        }
        for job in jobs {
            match Envelope::parse(job.body) {
                Ok(event) => println!("{} {}", event.event_type(), event.id()),
                Err(error) => println!("{}: {error}", job.ticket.key.id),
            }
            inbox.finish(&job.ticket).await.ok();
        }
    }
}

fn options() -> Result<(String, String), &'static str> {
    let mut secret = env::var("WEBHOOK_SECRET").ok();
    let mut listen = String::from("127.0.0.1:8090");
    let mut arguments = env::args().skip(1);
    while let Some(flag) = arguments.next() {
        match (flag.as_str(), arguments.next()) {
            ("--secret", Some(value)) => secret = Some(value),
            ("--listen", Some(value)) => listen = value,
            _ => return Err(USAGE),
        }
    }
    Ok((secret.ok_or(USAGE)?, listen))
}
