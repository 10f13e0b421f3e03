//! Receives signed webhooks (Standard Webhooks), counts the events of each type exactly once, and
//! prints a line for each new event. Only the counts are exactly once: after a crash, a line may be
//! printed again, because the output is outside the database.
//!
//! ```sh
//! cargo run -p webhook-receiver -- --database receiver.sqlite \
//!     --secret whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw --listen 127.0.0.1:8090
//! ```
//!
//! Prefer the environment variable `WEBHOOK_SECRET` for the secret. The sender gets its response as
//! soon as the event is claimed and queued; a worker processes it, and acknowledges it in the
//! transaction that counts it. A forged or stale request gets 400; a duplicate is acknowledged and
//! not queued again. Without `--database`, the queue and the counts are in memory.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "what it is for")]

mod options;
mod worker;

use std::{error::Error, net::TcpListener, process::ExitCode, sync::Arc};
use webhook_core::ports::SystemClock;

use bytes::Bytes;
use host_store_sqlite::Database;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use options::Options;
use tokio::sync::Notify;
use webhook_core::receiver::{Receiver, Verifier};
use webhook_core::secret::SigningSecret;

#[tokio::main]
async fn main() -> ExitCode {
    program::exit_code(run().await)
}

async fn run() -> Result<(), Box<dyn Error>> {
    let options = Options::parse()?;
    let verifier = Verifier::standard_webhooks(SigningSecret::from_whsec(&options.secret)?);
    let database = match &options.database {
        Some(file) => Database::open(file)?,
        None => Database::open_in_memory()?,
    };
    database.migrate("receiver", worker::TABLES).await?;
    let arrived = Arc::new(Notify::new());
    let receiver = Receiver::builder("sender", verifier, database.clone(), SystemClock).build()?;
    let listener = TcpListener::bind(options.listen)?;
    println!("listening on http://{}", listener.local_addr()?);
    let work = worker::work(database, Arc::clone(&arrived));
    let handle = move |request| {
        let (receiver, arrived) = (receiver.clone(), Arc::clone(&arrived));
        async move {
            let response = receiver.receive(request).await;
            arrived.notify_one();
            response.map(Full::new)
        }
    };
    let refuse = |_: &Request<()>, status: StatusCode| {
        Response::builder()
            .status(status)
            .body(Bytes::new())
            .unwrap_or_default()
    };
    tokio::select! {
        served = host_adapter_hyper::serve(listener, handle, refuse, Default::default(), program::stop_requested()) => Ok(served?),
        failed = work => Err(failed.into()),
    }
}
