//! A small web app with sign-in by any OpenID Connect issuer, by default the payments service.
//!
//! ```sh
//! cargo run -p service &
//! cargo run -p oauth-login         # then open http://127.0.0.1:9999
//! OAUTH_CLIENT_SECRET=… cargo run -p oauth-login -- \
//!     --issuer https://accounts.example --client-id shop
//! ```
#![expect(clippy::print_stdout, reason = "what it is for")]

mod app;
mod options;
mod page;

use std::{error::Error, net::TcpListener, process::ExitCode, sync::Arc};

use host_transport_hyper::HyperTransport;
use oauth_core::client::{AuthorizationParams, Ports};
use oauth_core::ports::{OsEntropy, SystemClock};
use oauth_core::{Client, Provider};

use crate::{app::App, options::Options};

#[tokio::main]
async fn main() -> ExitCode {
    program::exit_code(run().await)
}

async fn run() -> Result<(), Box<dyn Error>> {
    let options = Options::parse()?;
    let transport = Arc::new(HyperTransport::new(options.addresses()));
    let provider = Provider::discover(&options.issuer, &*transport).await?;
    let keys = provider
        .keys(transport.clone())
        .ok_or("the issuer publishes no keys")?;
    let client = Client::new(provider, options.client_id).with_credentials(options.credentials);

    let listener = TcpListener::bind(options.listen)?;
    let here = format!("http://{}", listener.local_addr()?);
    let params = AuthorizationParams::new(format!("{here}/callback").parse()?, options.scopes);
    let app = Arc::new(App::new(
        client,
        params,
        keys,
        Ports::new(transport, OsEntropy, SystemClock),
    )?);
    println!("listening on {here}");
    let handle = move |request| {
        let app = Arc::clone(&app);
        async move { app.answer(&request).await }
    };
    Ok(host_adapter_hyper::serve(
        listener,
        handle,
        page::refused,
        Default::default(),
        program::stop_requested(),
    )
    .await?)
}
