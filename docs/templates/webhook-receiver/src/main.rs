//! Receives signed webhooks of any listed provider, and handles each event once.
//!
//! The sender gets its response as soon as the event is in the database. A worker takes it from
//! there, and acknowledges it in the transaction of its own rows. A forged or stale request gets
//! 400; a duplicate is acknowledged and not queued again.

use std::{env, error::Error, net::TcpListener, sync::Arc, time::Duration};

use axum::{Router, body::Body, extract::State, response::Response, routing::any};
use host_adapter_axum::{Limits, Whole, serve_router};
use host_store_sqlite::{Database, DatabaseError, inbox};
use tokio::{sync::Notify, time::timeout};
use webhook_core::ports::{OsEntropy, SystemClock};
use webhook_core::receiver::{Queued, Receipt, Receiver, WorkFailure, Worker, providers};

/// Tables of this service, in the database of the queue.
const TABLES: &[&str] = &["CREATE TABLE event (id TEXT PRIMARY KEY, body BLOB NOT NULL) STRICT"];

#[derive(Clone)]
struct Webhooks {
    receiver: Receiver,
    arrived: Arc<Notify>,
}

async fn receive(State(webhooks): State<Webhooks>, Whole(request): Whole) -> Response {
    let response = webhooks.receiver.receive(request).await;
    webhooks.arrived.notify_one();
    response.map(Body::from)
}

/// The work on an event: stores it, and acknowledges it in the same transaction. Replace the
/// statement by your own.
async fn handle(database: &Database, event: &Queued) -> Result<Receipt, WorkFailure> {
    let (ticket, body) = (event.ticket.clone(), event.body.to_vec());
    let work = database.write(move |transaction| -> Result<_, WorkFailure> {
        let id = ticket.key.id.as_str();
        let inserted =
            transaction.execute("INSERT INTO event (id, body) VALUES (?1, ?2)", (id, body));
        inserted.map_err(DatabaseError::from)?;
        Ok(inbox::complete_in(transaction, &ticket)??)
    });
    work.await
}

/// Handles queued events until the process ends. A failed event is retried after a pause.
async fn work(database: Database, arrived: Arc<Notify>) {
    let worker = Worker::new(database.clone(), SystemClock, OsEntropy);
    loop {
        let events = worker.take(16).await.unwrap_or_else(|error| {
            eprintln!("the queue is not available: {error}");
            Vec::new()
        });
        if events.is_empty() {
            // also takes events whose pause has ended
            timeout(Duration::from_secs(1), arrived.notified())
                .await
                .ok();
        }
        for event in &events {
            let outcome = worker
                .run_in_transaction(event, handle(&database, event))
                .await;
            println!("{}: {outcome:?}", event.ticket.key.id);
        }
    }
}

fn setting(name: &str, default: &str) -> String {
    env::var(name).unwrap_or_else(|_| default.to_owned())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let secret = env::var("WEBHOOK_SECRET").map_err(|_| "WEBHOOK_SECRET is not set")?;
    let provider = providers::named(&setting("WEBHOOK_PROVIDER", "standard-webhooks"));
    let provider = provider.ok_or("WEBHOOK_PROVIDER is not the name of a listed provider")?;
    let database = Database::open(&setting("DATABASE", "webhooks.sqlite"))?;
    database.migrate("webhooks", TABLES).await?;
    let verifier = provider.verifier([secret])?;
    let receiver = Receiver::builder(provider.name(), verifier, database.clone(), SystemClock)
        .with_failure_log(|error| eprintln!("the event was not stored: {error}"))
        .build()?;
    let arrived = Arc::new(Notify::new());
    tokio::spawn(work(database, Arc::clone(&arrived)));
    let router = Router::new()
        .route("/webhooks", any(receive))
        .with_state(Webhooks { receiver, arrived });
    let listener = TcpListener::bind(setting("LISTEN", "127.0.0.1:8080"))?;
    println!("listening on http://{}", listener.local_addr()?);
    let stopped = async { tokio::signal::ctrl_c().await.unwrap_or_default() };
    Ok(serve_router(listener, router, Limits::default(), stopped).await?)
}
