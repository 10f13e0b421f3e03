//! Receives the webhooks of any listed provider in an actix-web service.
//!
//! ```sh
//! export PROVIDER=shopify SECRET=… # `webhook --list` names the providers
//! cargo run -p webhook-core --example actix_receiver
//! ```
#![expect(clippy::print_stdout, reason = "the example logs")]
#![expect(clippy::disallowed_methods, reason = "a secret is read from the environment")]

use std::{env, error::Error, net::TcpListener};

use actix_web::{App, HttpResponse, HttpServer, web};
use host_adapter_actix::Webhook;
use webhook_core::receiver::{Intake, providers};
use webhook_core::{memory::MemoryClaims, ports::SystemClock};

/// Runs once for each event, however often the provider sends it.
async fn handle(webhook: Webhook) -> HttpResponse {
    println!("{}: {} bytes", webhook.id(), webhook.body().len());
    webhook.finish().await
}

#[actix_web::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let provider = providers::named(&env::var("PROVIDER")?).ok_or("unknown provider")?;
    let mut verifier = provider.verifier([env::var("SECRET")?])?;
    if let Ok(url) = env::var("URL") {
        // for providers that sign their receiver's URL, such as Twilio
        verifier = verifier.with_url(&url);
    }
    // a service uses a store that survives a restart, such as host-store-sqlite
    let intake = Intake::builder(provider.name(), verifier, MemoryClaims::default(), SystemClock).build()?;
    let address = env::var("LISTEN").unwrap_or_else(|_| "127.0.0.1:8080".to_owned());
    let listener = TcpListener::bind(address)?;
    println!("listening on http://{}/webhooks", listener.local_addr()?);
    // actix-web ends on Ctrl-C and on SIGTERM after its open requests
    let app = move || {
        App::new()
            .app_data(web::Data::new(intake.clone()))
            .route("/webhooks", web::to(handle))
    };
    Ok(HttpServer::new(app).workers(1).listen(listener)?.run().await?)
}
