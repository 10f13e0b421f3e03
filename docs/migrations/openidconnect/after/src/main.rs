//! A shop's storefront: login at an OpenID provider, orders of the user, stock of the warehouse.

mod error;
mod login;
mod orders;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{env, error::Error, sync::Arc};

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Html;
use axum::{Router, routing::get, routing::post};
use host_ports::address::AddressPolicy;
use host_transport_hyper::HyperTransport;
use oauth_core::client::{AuthorizationParams, ClientCredentials, Ports, SignIns, TokenSource};
use oauth_core::ports::{OsEntropy, SystemClock};
use oauth_core::store::SessionId;
use oauth_core::{Client, Provider, SessionCookie, Sessions, memory::MemoryTokens};
use tokio::net::TcpListener;

use crate::{error::AppError, login::User};

struct App {
    sign_ins: SignIns,
    users: Mutex<HashMap<SessionId, User>>,
    ports: Ports,
    api: String,
    warehouse: TokenSource,
}

impl App {
    fn users(&self) -> MutexGuard<'_, HashMap<SessionId, User>> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn home(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<Html<String>, AppError> {
    let session = app.sign_ins.session(&headers).await?;
    let users = app.users();
    let Some((session, user)) =
        session.and_then(|session| users.get(&session.record.id).map(|user| (session, user)))
    else {
        return Ok(Html("<a href='/login'>Sign in</a>".to_owned()));
    };
    let field = session.secret.csrf_field();
    let form = format!("<form method='post' action='/logout'>{field}<button>Sign out</button></form>");
    let (name, email) = (escape(&user.name), escape(&user.email));
    Ok(Html(format!("Signed in as <b>{name}</b> ({email}){form}")))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

async fn stock(State(app): State<Arc<App>>) -> Result<String, AppError> {
    orders::read(&app.warehouse, format!("{}/stock", app.api)).await
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (issuer, here, api) = (env::var("ISSUER")?, env::var("LISTEN")?, env::var("API")?);
    let (client_id, secret) = (env::var("CLIENT_ID")?, env::var("CLIENT_SECRET")?);
    // public https addresses, and this machine
    let transport = HyperTransport::new(AddressPolicy::new().danger_allow_loopback());
    let provider = Provider::discover(&issuer.parse()?, &transport).await?;
    let client =
        Client::new(provider, client_id.parse()?).with_credentials(ClientCredentials::Basic(secret.parse()?));
    let redirect_uri = format!("http://{here}/callback").parse()?;
    let params = AuthorizationParams::new(redirect_uri, "openid email orders:read".parse()?);
    // plain HTTP on a loopback address
    let cookie = SessionCookie::new("session")?.danger_over_plain_http();
    let sessions = Sessions::new(MemoryTokens::new(), cookie, SystemClock, OsEntropy);
    let ports = Ports::new(transport, OsEntropy, SystemClock);
    let app = Arc::new(App {
        warehouse: TokenSource::from_call(client.client_credentials(&"stock:read".parse()?), ports.clone()),
        sign_ins: SignIns::new(client, params, sessions, ports.clone())?,
        users: Mutex::default(),
        ports,
        api,
    });
    let router = Router::new()
        .route("/", get(home))
        .route("/login", get(login::start))
        .route("/callback", get(login::callback))
        .route("/logout", post(login::logout))
        .route("/orders", get(orders::list))
        .route("/stock", get(stock))
        .with_state(app);
    let listener = TcpListener::bind(&here).await?;
    println!("listening on http://{here}");
    Ok(axum::serve(listener, router).await?)
}
