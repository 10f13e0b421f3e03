//! Receives the webhooks of GitHub in an axum service.
//!
//! ```sh
//! export GITHUB_SECRET=… # the secret that you gave GitHub for the webhook
//! cargo run -p webhook-core --example github
//! ```
//!
//! GitHub signs the body alone: neither the id nor the type of an event. So this service detects
//! duplicates by the content, and reads from the body whatever matters.
#![expect(clippy::print_stdout, reason = "the example logs")]
#![expect(clippy::disallowed_methods, reason = "a secret is read from the environment")]

use std::{env, error::Error};

use axum::{Router, http::HeaderName, response::Response, routing::any};
use host_adapter_axum::Webhook;
use serde::Deserialize;
use webhook_core::receiver::{Intake, providers::GITHUB};
use webhook_core::{memory::MemoryClaims, ports::SystemClock};

const EVENT: HeaderName = HeaderName::from_static("x-github-event");

#[derive(Deserialize)]
struct Push {
    r#ref: String,
    after: String,
}

async fn github(webhook: Webhook) -> Response {
    // the header is not signed: it only chooses how the signed body is read
    let kind = webhook.unsigned_header(&EVENT).unwrap_or_default();
    match (kind, webhook.json::<Push>()) {
        ("push", Ok(push)) => println!("{} pushed: {} to {}", webhook.id(), push.after, push.r#ref),
        _ => println!("{} ignored", webhook.id()),
    }
    webhook.finish().await
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let verifier = GITHUB.verifier([env::var("GITHUB_SECRET")?])?;
    // a service uses a store that survives a restart, such as host-store-sqlite
    let intake = Intake::builder("github", verifier, MemoryClaims::default(), SystemClock).build()?;
    let router = Router::new().route("/github", any(github)).with_state(intake);
    let address = env::var("LISTEN").unwrap_or_else(|_| "127.0.0.1:8080".to_owned());
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("listening on http://{}/github", listener.local_addr()?);
    let served = axum::serve(listener, router).with_graceful_shutdown(program::stop_requested());
    Ok(served.await?)
}
