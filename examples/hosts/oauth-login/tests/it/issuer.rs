//! An issuer that signs in every user as Ada and grants all consent: oauth-core's server on
//! loopback.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use oauth_core::memory::{MemoryClients, MemoryInteractions, MemoryTokens};
use oauth_core::ports::{OsEntropy, SystemClock};
use oauth_core::server::{Authentication, Authorize, Consent, path};
use oauth_core::vocabulary::RegisteredRedirectUri;
use oauth_core::{AuthorizationServer, RegisteredClient, Scopes, SigningKey, SigningKeys};

/// Starts it and returns its URL; it runs until the test ends.
pub(crate) fn start() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let issuer = format!("http://{}", listener.local_addr().unwrap());
    let scopes: Scopes = "openid email profile".parse().unwrap();
    // the port of the app is not known in advance
    let native = RegisteredClient::public("native".parse().unwrap())
        .with_redirect_uri(RegisteredRedirectUri::loopback_any_port("http://127.0.0.1/callback").unwrap())
        .with_scopes(scopes.clone());
    let server = AuthorizationServer::builder(&issuer)
        .with_clients(MemoryClients::from_iter([native]))
        .with_interactions(MemoryInteractions::new())
        .with_tokens(MemoryTokens::new())
        .with_clock(SystemClock)
        .with_entropy(OsEntropy)
        .with_signing_keys(SigningKeys::new(
            SigningKey::generate_ed25519(&OsEntropy).unwrap(),
        ))
        .with_audience(&issuer)
        .with_scopes(scopes)
        .build()
        .unwrap();
    let server = Arc::new(server);
    let handle = move |request| {
        let server = Arc::clone(&server);
        async move { answer(&server, request).await.map(Full::new) }
    };
    let refuse = |_: &Request<()>, _| Response::new(Bytes::new());
    tokio::spawn(host_adapter_hyper::serve(
        listener,
        handle,
        refuse,
        Default::default(),
        std::future::pending(),
    ));
    issuer
}

async fn answer(server: &AuthorizationServer, request: Request<Bytes>) -> Response<Bytes> {
    match request.uri().path() {
        path::OPENID_METADATA => server.metadata(&request),
        path::JWKS => server.jwks(&request),
        path::PAR => server.par(request).await.response,
        path::TOKEN => server.token(request).await.response,
        path::REVOKE => server.revoke(request).await.response,
        path::AUTHORIZE => match server.authorize(request).await {
            Authorize::Interact(interaction) => {
                let ada = Authentication::new("ada".parse().unwrap(), SystemTime::now())
                    .with_name("Ada <b>")
                    .with_email("ada@example.com");
                let browser = interaction.browser.expose();
                let granted = Consent::Granted(ada);
                server
                    .resume(&Request::new(()), &interaction.id, browser, granted)
                    .await
                    .response
            }
            Authorize::Respond(answer) => answer.response,
        },
        _ => {
            let mut response = Response::new(Bytes::new());
            *response.status_mut() = StatusCode::NOT_FOUND;
            response
        }
    }
}
