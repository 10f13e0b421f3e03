//! An authorization server that issues access tokens to services, by client credentials.
//!
//! Discovery, JWKS, token, introspection and revocation endpoints run. Clients, tokens and the
//! signing key are in memory: a restart invalidates all tokens. `oauth-core` has an example with a
//! page for sign-in and consent.

use std::{env, error::Error, net::TcpListener};

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use host_adapter_axum::{Limits, Whole, serve_router};
use oauth_core::AuthorizationServer;
use oauth_core::jose::{SigningKey, SigningKeys};
use oauth_core::memory::{MemoryClients, MemoryInteractions, MemoryTokens};
use oauth_core::ports::{OsEntropy, SystemClock};
use oauth_core::store::{ClientSecrets, GrantType, RegisteredClient};

/// Serves all endpoints, and logs their events.
async fn serve(State(server): State<AuthorizationServer>, Whole(request): Whole) -> Response {
    let Some(served) = server.serve(request).await else {
        return StatusCode::NOT_FOUND.into_response();
    };
    for event in &served.events {
        println!("{}", serde_json::json!(event));
    }
    served.response.map(Body::from)
}

fn setting(name: &str) -> Result<String, String> {
    env::var(name).map_err(|_| format!("{name} is not set"))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (issuer, audience) = (setting("ISSUER")?, setting("AUDIENCE")?);
    let secrets = ClientSecrets::new(&setting("CLIENT_SECRET")?.parse()?);
    let client = RegisteredClient::confidential(setting("CLIENT_ID")?.parse()?, secrets)
        .with_grant_types([GrantType::ClientCredentials])
        .with_scopes(setting("SCOPES")?.parse()?);
    let server = AuthorizationServer::builder(&issuer)
        .with_clients(MemoryClients::from_iter([client]))
        .with_interactions(MemoryInteractions::new())
        .with_tokens(MemoryTokens::new())
        .with_clock(SystemClock)
        .with_entropy(OsEntropy)
        .with_signing_keys(SigningKeys::new(SigningKey::generate_es256(&OsEntropy)?))
        .with_audience(&audience)
        .build()?;
    let router = Router::new().fallback(serve).with_state(server);
    let address = env::var("LISTEN").unwrap_or_else(|_| "127.0.0.1:8081".to_owned());
    let listener = TcpListener::bind(address)?;
    println!("listening on http://{}", listener.local_addr()?);
    let stopped = async { tokio::signal::ctrl_c().await.unwrap_or_default() };
    Ok(serve_router(listener, router, Limits::default(), stopped).await?)
}
