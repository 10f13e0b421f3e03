//! Login with any OpenID Connect provider, in axum.
//!
//! ```sh
//! # a provider to try it with
//! cargo run -p oauth-core --example authorization_server -- \
//!     http://127.0.0.1:8080 http://127.0.0.1:9999/callback
//! CLIENT_SECRET=demo-secret cargo run -p oauth-core --example login_axum -- \
//!     http://127.0.0.1:8080 demo-web 127.0.0.1:9999
//! ```
//!
//! The arguments are the issuer, the client id and the address to listen on. Register
//! `http://127.0.0.1:9999/callback` as the redirect URI at the provider. Then open
//! `http://127.0.0.1:9999` in a browser: the link leads to the sign-in page of the provider, and
//! back to a page that shows the user, with a button to sign out.
//!
//! The sessions are in memory, and the cookies are those of plain HTTP on a loopback address. A
//! service takes a store of a database, and drops `danger_over_plain_http`. A provider whose
//! metadata do not list PKCE, such as Entra ID, needs
//! `Discovery::danger_take_silence_for_s256`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the example logs")]
#![expect(clippy::disallowed_methods, reason = "a secret is read from the environment")]

use std::{env, error::Error};

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{self, HeaderMap, Uri};
use axum::response::{Html, Response};
use axum::{Router, routing::get, routing::post};
use host_ports::address::AddressPolicy;
use host_transport_hyper::HyperTransport;
use oauth_core::client::{AuthorizationParams, ClientCredentials, Ports, SignInError, SignIns};
use oauth_core::error::diagnosis;
use oauth_core::ports::{OsEntropy, SystemClock};
use oauth_core::{Client, Provider, SessionCookie, Sessions, memory::MemoryTokens};
use tokio::net::TcpListener;

async fn home(State(app): State<SignIns>, headers: HeaderMap) -> Html<String> {
    let Ok(Some(session)) = app.session(&headers).await else {
        return Html("<a href='/login'>Sign in</a>".to_owned());
    };
    let user = session.record.subject.as_str().replace('<', "&lt;");
    let field = session.secret.csrf_field();
    let form = format!("<form method='post' action='/sign-out'>{field}<button>Sign out</button></form>");
    Html(format!("Signed in as <b>{user}</b>{form}"))
}

async fn login(State(app): State<SignIns>, headers: HeaderMap) -> Response {
    page(app.start(&headers).await)
}

/// Takes the response of the provider, and starts a session of this app.
async fn callback(State(app): State<SignIns>, headers: HeaderMap, uri: Uri) -> Response {
    page(app.sign_in(&headers, &uri, "/").await)
}

async fn sign_out(State(app): State<SignIns>, headers: HeaderMap, form: Bytes) -> Response {
    page(app.sign_out(&headers, &form, "/").await)
}

/// Logs the causes of an error; the browser sees only the first line.
fn page(done: Result<http::Response<Bytes>, SignInError>) -> Response {
    let logged = done.inspect_err(|error| eprintln!("{}", diagnosis(error)));
    let response = logged.unwrap_or_else(SignInError::into_response);
    response.map(Body::from)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let mut argument = |name| arguments.next().ok_or(format!("missing argument: {name}"));
    let (issuer, client_id, here) = (argument("issuer")?, argument("client id")?, argument("address")?);
    // https on port 443, and this machine; the methods of the policy allow other ports and networks
    let transport = HyperTransport::new(AddressPolicy::new().danger_allow_loopback());
    let provider = Provider::discover(&issuer.parse()?, &transport).await?;
    let secret = ClientCredentials::Basic(env::var("CLIENT_SECRET")?.parse()?);
    let client = Client::new(provider, client_id.parse()?).with_credentials(secret);
    let redirect_uri = format!("http://{here}/callback").parse()?;
    let params = AuthorizationParams::new(redirect_uri, "openid".parse()?);
    let cookie = SessionCookie::new("session")?.danger_over_plain_http();
    let sessions = Sessions::new(MemoryTokens::new(), cookie, SystemClock, OsEntropy);
    let ports = Ports::new(transport, OsEntropy, SystemClock);
    let app = SignIns::new(client, params, sessions, ports)?;
    let router = Router::new()
        .route("/", get(home))
        .route("/login", get(login))
        .route("/callback", get(callback))
        .route("/sign-out", post(sign_out))
        .with_state(app);
    println!("listening on http://{here}");
    Ok(axum::serve(TcpListener::bind(here).await?, router).await?)
}
