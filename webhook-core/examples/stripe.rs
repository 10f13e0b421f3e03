//! Receives the webhooks of Stripe in an axum service.
//!
//! ```sh
//! export STRIPE_SECRET=whsec_… # of the endpoint in Stripe's dashboard, or of `stripe listen`
//! cargo run -p webhook-core --example stripe
//! ```
#![expect(clippy::print_stdout, reason = "the example logs")]
#![expect(clippy::disallowed_methods, reason = "a secret is read from the environment")]

use std::{env, error::Error};

use axum::{Router, http::StatusCode, response::IntoResponse, response::Response, routing::any};
use host_adapter_axum::Webhook;
use serde::Deserialize;
use webhook_core::receiver::{Intake, providers::STRIPE};
use webhook_core::{memory::MemoryClaims, ports::SystemClock};

/// Part of an event that this service needs.
#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    object: Object,
}

#[derive(Deserialize)]
struct Object {
    /// In the smallest unit of the currency, such as cents.
    amount: Option<i64>,
}

/// Runs once for each event, however often Stripe sends it.
async fn stripe(webhook: Webhook) -> Response {
    let Ok(event) = webhook.json::<Event>() else {
        // Stripe repeats the event and shows the failure in its dashboard
        return StatusCode::UNPROCESSABLE_ENTITY.into_response();
    };
    match (event.kind.as_str(), event.data.object.amount) {
        ("payment_intent.succeeded", Some(amount)) => println!("{} paid: {amount}", webhook.id()),
        (kind, _) => println!("{} ignored: {kind}", webhook.id()),
    }
    webhook.finish().await
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let verifier = STRIPE.verifier([env::var("STRIPE_SECRET")?])?;
    // a service uses a store that survives a restart, such as host-store-sqlite
    let intake = Intake::builder("stripe", verifier, MemoryClaims::default(), SystemClock).build()?;
    let router = Router::new().route("/stripe", any(stripe)).with_state(intake);
    let address = env::var("LISTEN").unwrap_or_else(|_| "127.0.0.1:8080".to_owned());
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("listening on http://{}/stripe", listener.local_addr()?);
    let served = axum::serve(listener, router).with_graceful_shutdown(program::stop_requested());
    Ok(served.await?)
}
