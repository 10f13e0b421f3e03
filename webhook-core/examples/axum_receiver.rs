//! Receives the webhooks of any listed provider in an axum service, and handles them in a worker.
//!
//! ```sh
//! export PROVIDER=shopify SECRET=… # `webhook --list` names the providers
//! cargo run -p webhook-core --example axum_receiver
//! ```
//!
//! The sender gets its response as soon as the event is queued, so the work may take longer than
//! the sender waits. The host webhook-receiver has work that is acknowledged in the transaction of
//! its rows.
#![expect(clippy::print_stdout, reason = "the example logs")]
#![expect(clippy::disallowed_methods, reason = "a secret is read from the environment")]

use std::{env, error::Error, sync::Arc, time::Duration};

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{Request, request::Parts};
use axum::{Router, response::Response, routing::any};
use webhook_core::memory::MemoryInbox;
use webhook_core::ports::{OsEntropy, SystemClock};
use webhook_core::receiver::{Queued, Receiver, WorkFailure, Worker, providers};

async fn webhooks(State(receiver): State<Receiver>, parts: Parts, body: Bytes) -> Response {
    receiver
        .receive(Request::from_parts(parts, body))
        .await
        .map(Body::from)
}

/// The work on an event. It must be idempotent, because it may run twice after a crash.
async fn handle(event: &Queued) -> Result<(), WorkFailure> {
    println!("{}: {} bytes", event.ticket.key.id, event.body.len());
    Ok(())
}

async fn work(inbox: Arc<MemoryInbox>) -> Result<(), Box<dyn Error>> {
    let worker = Worker::new(inbox, SystemClock, OsEntropy);
    loop {
        for event in worker.take(16).await? {
            worker.run(&event, handle(&event)).await?;
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
