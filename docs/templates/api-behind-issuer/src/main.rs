//! An API that accepts the access tokens of an issuer: Keycloak, Auth0, Okta, Entra, or any other
//! with discovery.
//!
//! The keys of the issuer are found by discovery and kept. A request without a valid token gets 401
//! with a challenge, one without the scope 403. Every error is a problem document (RFC 9457).

use std::{env, error::Error, net::TcpListener};

use axum::{Extension, Router, routing::get};
use host_adapter_axum::{AccessTokenLayer, ConventionsLayer, Limits, serve_router};
use host_ports::address::AddressPolicy;
use host_transport_hyper::HyperTransport;
use http_conventions::Conventions;
use http_conventions::ports::{OsEntropy, SystemClock};
use oauth_core::{ResourceServer, resource::AuthenticatedToken};

async fn charges(Extension(caller): Extension<AuthenticatedToken>) -> String {
    format!("charges of {}\n", caller.subject())
}

fn setting(name: &str) -> Result<String, String> {
    env::var(name).map_err(|_| format!("{name} is not set"))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (issuer, audience) = (setting("ISSUER")?, setting("AUDIENCE")?);
    let mut addresses = AddressPolicy::new();
    if issuer.starts_with("http://") {
        // an issuer on this machine, for development
        addresses = addresses.danger_allow_loopback();
    }
    let transport = HyperTransport::new(addresses);
    let api = ResourceServer::discover(issuer.parse()?, audience.parse()?, transport).await?;
    let guard = AccessTokenLayer::new(api)
        .with_scopes("read:charges".parse()?)
        .with_log(|challenge| eprintln!("refused: {}", challenge.diagnosis()));
    let problems = format!("{}/problems/", audience.trim_end_matches('/'));
    let conventions = Conventions::builder(&problems, SystemClock, OsEntropy).build()?;
    let router = Router::new()
        .route("/charges", get(charges))
        .route_layer(guard)
        .route("/health", get(async || "fine\n"))
        .layer(ConventionsLayer::new(conventions));
    let address = env::var("LISTEN").unwrap_or_else(|_| "127.0.0.1:8090".to_owned());
    let listener = TcpListener::bind(address)?;
    println!("listening on http://{}", listener.local_addr()?);
    let stopped = async { tokio::signal::ctrl_c().await.unwrap_or_default() };
    Ok(serve_router(listener, router, Limits::default(), stopped).await?)
}
