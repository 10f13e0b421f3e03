//! A shop's storefront: login at an OpenID provider, orders of the user, stock of the warehouse.

mod error;
mod login;
mod orders;
mod stock;

use std::{env, error::Error, sync::Arc};

use axum::extract::State;
use axum::response::Html;
use axum::{Router, routing::get, routing::post};
use openidconnect::core::{CoreClient, CoreProviderMetadata};
use openidconnect::{
    ClientId, ClientSecret, EndpointMaybeSet, EndpointNotSet, EndpointSet, IssuerUrl, RedirectUrl, reqwest,
};
use tokio::net::TcpListener;
use tower_sessions::cookie::SameSite;
use tower_sessions::{Expiry, MemoryStore, Session, SessionManagerLayer};

use crate::{error::AppError, login::User, stock::Warehouse};

type Oidc = CoreClient<
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

struct App {
    oidc: Oidc,
    http: reqwest::Client,
    api: String,
    warehouse: Warehouse,
}

async fn home(session: Session) -> Result<Html<String>, AppError> {
    let Some(user) = session.get::<User>("user").await? else {
        return Ok(Html("<a href='/login'>Sign in</a>".to_owned()));
    };
    let form = "<form method='post' action='/logout'><button>Sign out</button></form>";
    let (name, email) = (escape(&user.name), escape(&user.email));
    Ok(Html(format!("Signed in as <b>{name}</b> ({email}){form}")))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

async fn stock(State(app): State<Arc<App>>) -> Result<String, AppError> {
    app.warehouse.levels(&app.http, &app.api).await
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (issuer, here, api) = (env::var("ISSUER")?, env::var("LISTEN")?, env::var("API")?);
    let (client_id, secret) = (env::var("CLIENT_ID")?, env::var("CLIENT_SECRET")?);
    let http = reqwest::Client::builder()
        // following redirects opens the client to SSRF
        .redirect(reqwest::redirect::Policy::none())
        .build()?;
    let metadata = CoreProviderMetadata::discover_async(IssuerUrl::new(issuer)?, &http).await?;
    let token_uri = metadata
        .token_endpoint()
        .cloned()
        .ok_or("the provider has no token endpoint")?;
    let oidc = CoreClient::from_provider_metadata(
        metadata,
        ClientId::new(client_id.clone()),
        Some(ClientSecret::new(secret.clone())),
    )
    .set_redirect_uri(RedirectUrl::new(format!("http://{here}/callback"))?);
    let warehouse = Warehouse::new(client_id, secret, token_uri);
    let app = Arc::new(App {
        oidc,
        http,
        api,
        warehouse,
    });
    let sessions = SessionManagerLayer::new(MemoryStore::default())
        .with_name("session")
        // plain HTTP on a loopback address
        .with_secure(false)
        .with_same_site(SameSite::Lax)
        .with_expiry(Expiry::OnInactivity(time::Duration::hours(1)));
    let router = Router::new()
        .route("/", get(home))
        .route("/login", get(login::start))
        .route("/callback", get(login::callback))
        .route("/logout", post(login::logout))
        .route("/orders", get(orders::list))
        .route("/stock", get(stock))
        .layer(sessions)
        .with_state(app);
    let listener = TcpListener::bind(&here).await?;
    println!("listening on http://{here}");
    Ok(axum::serve(listener, router).await?)
}
