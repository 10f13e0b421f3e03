//! An existing axum service that accepts the access tokens of Keycloak.
//!
//! ```sh
//! cargo run -p oauth-core --example protect_api_axum -- \
//!     http://127.0.0.1:8080/realms/shop shop-api 127.0.0.1:8090
//! ```
//!
//! The arguments are the issuer (the URL of the realm), the audience of this API, and the address
//! to listen on. The issuer must run, because its keys are found by discovery. Then
//! `curl -i http://127.0.0.1:8090/charges` gets 401 with a challenge. With
//! `-H "Authorization: Bearer $TOKEN"` it gets the charges, or 403 if the token lacks the scope
//! `read:charges`. `/health` stays open.
//!
//! The log names the cause of each refusal, which the response does not reveal. If it says "add an
//! audience mapper", the tokens lack the audience: in Keycloak, open the client scope of
//! `read:charges`, add a mapper of the type *Audience*, and enter `shop-api`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the example logs")]

use std::{env, error::Error};

use axum::{Extension, Router, routing::get};
use host_adapter_axum::AccessTokenLayer;
use host_ports::address::AddressPolicy;
use host_transport_hyper::HyperTransport;
use oauth_core::resource::AuthenticatedToken;
use oauth_core::{IssuerProfile, ResourceServer};
use tokio::net::TcpListener;

async fn charges(Extension(caller): Extension<AuthenticatedToken>) -> String {
    format!("charges of {}, roles {:?}\n", caller.subject(), caller.roles())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let mut argument = |name| arguments.next().ok_or(format!("missing argument: {name}"));
    let (issuer, audience) = (argument("issuer")?.parse()?, argument("audience")?.parse()?);
    // https on port 443, and this machine; the methods of the policy allow other ports and networks
    let transport = HyperTransport::new(AddressPolicy::new().danger_allow_loopback());
    let api = ResourceServer::discover(issuer, audience, transport)
        .await?
        .with_issuer_profile(IssuerProfile::keycloak());
    let guard = AccessTokenLayer::new(api)
        .with_scopes("read:charges".parse()?)
        .with_log(|challenge| eprintln!("refused: {}", challenge.diagnosis()));
    let router = Router::new()
        .route("/charges", get(charges))
        .route_layer(guard)
        .route("/health", get(async || "fine\n"));
    let listener = TcpListener::bind(argument("address")?).await?;
    println!("listening on http://{}", listener.local_addr()?);
    Ok(axum::serve(listener, router).await?)
}
