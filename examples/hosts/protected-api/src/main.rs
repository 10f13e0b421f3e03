//! An API protected by the access tokens of another authorization server: JWTs and opaque tokens,
//! bearer or DPoP-bound, by scope.
//!
//! ```sh
//! cargo run -p service -- --api http://127.0.0.1:8090
//! CLIENT_SECRET=demo-api-secret cargo run -p protected-api
//! ```
//!
//! `/.well-known/oauth-protected-resource` describes the requirements of the API (RFC 9728), and
//! each challenge names that document. Every refusal is a problem document (RFC 9457).
#![expect(clippy::print_stdout, reason = "what it is for")]

mod charges;
mod issuer;
mod options;

use std::{error::Error, net::TcpListener, process::ExitCode, sync::Arc};

use host_adapter_axum::{ConventionsLayer, Limits, serve_router};
use http_conventions::{
    pipeline::Conventions,
    ports::{OsEntropy, SystemClock},
};
use oauth_core::{dpop::NonceKey, memory::MemoryReplays};
use options::Options;

#[tokio::main]
async fn main() -> ExitCode {
    program::exit_code(run().await)
}

async fn run() -> Result<(), Box<dyn Error>> {
    let options = Options::parse()?;
    let listener = TcpListener::bind(&options.listen)?;
    println!("listening on http://{}", listener.local_addr()?);
    let replays = Arc::new(MemoryReplays::new());
    let guard = issuer::guard(&options)
        .await?
        .with_dpop(options.url.parse()?, replays.clone())
        .with_dpop_nonces(&NonceKey::generate(&OsEntropy))
        .with_metadata(charges::SCOPES.parse()?);
    let problems = format!("{}/problems/", options.url);
    let conventions = Conventions::builder(&problems, Arc::new(SystemClock), Arc::new(OsEntropy)).build()?;
    let router = charges::router(guard)?.layer(ConventionsLayer::new(conventions));
    tokio::select! {
        served = serve_router(listener, router, Limits::default(), program::stop_requested()) => Ok(served?),
        failed = charges::forget(replays) => Err(failed.into()),
    }
}
