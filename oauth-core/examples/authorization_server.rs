//! A complete small authorization server and OpenID provider in axum, with stores in memory.
//!
//! ```sh
//! cargo run -p oauth-core --example authorization_server -- \
//!     http://127.0.0.1:8080 http://127.0.0.1:9999/callback
//! ```
//!
//! The arguments are the issuer, at which the server listens, and the redirect URI of its client
//! `demo-web` with the secret `demo-secret`. The example `login_axum` is such a client: the browser
//! shows a page that asks for a password and for consent. The user is `ada`, the password `correct
//! horse`. `/.well-known/openid-configuration` lists the endpoints; the log has the events as JSON.
//! A service adds TLS, stores of a database, stored signing keys, hashed passwords, and a limit for
//! guesses (`oauth_core::attempts`).
#![expect(clippy::print_stdout, reason = "the example logs")]

use std::{env, error::Error};

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri, header::CONTENT_SECURITY_POLICY, header::SET_COOKIE};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::{Router, routing::any, routing::get};
use host_adapter_axum::Whole;
use oauth_core::jose::{SigningKey, SigningKeys};
use oauth_core::memory::{MemoryClients, MemoryInteractions, MemoryTokens};
use oauth_core::ports::{Clock, OsEntropy, SystemClock};
use oauth_core::server::{Authentication, Authorize, Consent, EndpointResponse};
use oauth_core::store::{ClientSecrets, RegisteredClient};
use oauth_core::{AuthorizationServer, params::Params, secret::TokenHash, vocabulary::RegisteredRedirectUri};
use tokio::net::TcpListener;

/// Checks an authorization request, and sends the browser to the sign-in page.
async fn authorize(State(server): State<AuthorizationServer>, Whole(request): Whole) -> Response {
    match server.authorize(request).await {
        Authorize::Respond(response) => send(response),
        Authorize::Interact(interaction) => {
            let page = Redirect::to(&format!("/sign-in?{}", interaction.id));
            ([(SET_COOKIE, interaction.set_cookie)], page).into_response()
        }
    }
}

/// Shows the sign-in page, which also asks for consent.
async fn sign_in(State(server): State<AuthorizationServer>, headers: HeaderMap, uri: Uri) -> Response {
    let id = uri.query().unwrap_or_default();
    let browser = server.browser_secret(id, &headers);
    let Ok(Some(details)) = server.interaction(id, browser.expose()).await else {
        return (StatusCode::BAD_REQUEST, "This page has expired. Start again.").into_response();
    };
    // both are from the registration of the client, and have no characters that HTML escapes
    let (client, scopes) = (details.client_id.as_str(), details.scopes);
    let page = Html(format!(
        "<form method='post'><h1>Sign in to {client}</h1><p>It asks for: {scopes}</p>\
         User <input name='user'> Password <input name='password' type='password'>\
         <button name='decision' value='allow'>Sign in and allow</button>\
         <button name='decision' value='deny'>Deny</button></form>"
    ));
    ([(CONTENT_SECURITY_POLICY, "frame-ancestors 'none'")], page).into_response()
}

/// Takes the form of the sign-in page. The cookie of the interaction protects it against CSRF.
async fn decide(State(server): State<AuthorizationServer>, Whole(request): Whole) -> Response {
    let id = request.uri().query().unwrap_or_default();
    let browser = server.browser_secret(id, request.headers());
    let Ok(form) = Params::parse(request.body()) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    // a service verifies the hash of a password; this comparison takes constant time
    let password = TokenHash::new(form.optional("password").unwrap_or_default());
    let is_ada = form.optional("user") == Some("ada") && password.matches(&TokenHash::new("correct horse"));
    let consent = match (form.optional("decision"), "ada".parse()) {
        (Some("allow"), Ok(ada)) if is_ada => Consent::Granted(Authentication::new(ada, SystemClock.now())),
        (Some("allow"), _) => return Redirect::to(&format!("/sign-in?{id}")).into_response(),
        _ => Consent::Denied,
    };
    let resumed = server.resume(&request, id, browser.expose(), consent);
    send(resumed.await)
}

/// Serves all endpoints without a page: token, UserInfo, discovery, JWKS and others.
async fn serve(State(server): State<AuthorizationServer>, Whole(request): Whole) -> Response {
    let served = server.serve(request).await.map(send);
    served.ok_or(StatusCode::NOT_FOUND).into_response()
}

/// Logs the events of a response.
fn send(response: EndpointResponse) -> Response {
    for event in &response.events {
        println!("{}", serde_json::json!(event));
    }
    response.response.map(Body::from)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let mut argument = |name| arguments.next().ok_or(format!("missing argument: {name}"));
    let (issuer, redirect_uri) = (argument("issuer")?, argument("redirect URI")?);
    let secrets = ClientSecrets::new(&"demo-secret".parse()?);
    let client = RegisteredClient::confidential("demo-web".parse()?, secrets)
        .with_redirect_uri(RegisteredRedirectUri::exact(&redirect_uri)?)
        .with_scopes("openid email profile".parse()?);
    let server = AuthorizationServer::builder(&issuer)
        .with_clients(MemoryClients::from_iter([client]))
        .with_interactions(MemoryInteractions::new())
        .with_tokens(MemoryTokens::new())
        .with_clock(SystemClock)
        .with_entropy(OsEntropy)
        .with_signing_keys(SigningKeys::new(SigningKey::generate_es256(&OsEntropy)?))
        .with_audience(&issuer)
        .build()?;
    let router = Router::new()
        .route(&server.paths().authorize, any(authorize))
        .route("/sign-in", get(sign_in).post(decide))
        .fallback(serve)
        .with_state(server);
    let listener = TcpListener::bind(issuer.trim_start_matches("http://")).await?;
    println!("listening on {issuer}");
    Ok(axum::serve(listener, router).await?)
}
