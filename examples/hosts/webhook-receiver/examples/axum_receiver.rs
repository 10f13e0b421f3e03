//! Receives the webhooks of any listed provider in an axum service, and handles them in a worker.
//!
//! ```sh
//! export PROVIDER=shopify SECRET=… # `webhook --list` names the providers
//! cargo run -p webhook-receiver --example axum_receiver
//! ```
//!
//! The sender gets its response as soon as the event is queued, so the work may take longer than
//! the sender waits.
#![expect(clippy::print_stdout, reason = "what it is for")]

use std::{env, error::Error, sync::Arc, time::Duration, time::SystemTime};

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{Request, request::Parts};
use axum::{Router, response::Response, routing::any};
use webhook_core::receiver::{Inbox, Receiver, providers};
use webhook_core::{memory::MemoryInbox, ports::SystemClock};

const LEASE: Duration = Duration::from_secs(60);

async fn webhooks(State(receiver): State<Receiver>, parts: Parts, body: Bytes) -> Response {
    receiver
        .receive(Request::from_parts(parts, body))
        .await
        .map(Body::from)
}

/// Handles queued events. The work must be idempotent, because it may run twice after a crash.
async fn work(inbox: Arc<MemoryInbox>) -> Result<(), Box<dyn Error>> {
    loop {
        for job in inbox.take(16, SystemTime::now(), LEASE).await? {
            println!("{}: {} bytes", job.ticket.key.id, job.body.len());
            inbox.finish(&job.ticket).await?;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let provider = providers::named(&env::var("PROVIDER")?).ok_or("unknown provider")?;
    let mut verifier = provider.verifier([env::var("SECRET")?])?;
    if let Ok(url) = env::var("URL") {
        // for providers that sign their receiver's URL, such as Twilio
        verifier = verifier.with_url(&url);
    }
    // a service uses a store that survives a restart, such as host-store-sqlite
    let inbox = Arc::new(MemoryInbox::default());
    let receiver = Receiver::builder(provider.name(), verifier, Arc::clone(&inbox), SystemClock).build()?;
    let router = Router::new()
        .route("/webhooks", any(webhooks))
        .with_state(receiver);
    let address = env::var("LISTEN").unwrap_or_else(|_| "127.0.0.1:8080".to_owned());
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("listening on http://{}/webhooks", listener.local_addr()?);
    let served = axum::serve(listener, router).with_graceful_shutdown(program::stop_requested());
    tokio::select! {
        served = served => Ok(served?),
        failed = work(inbox) => failed,
    }
}
