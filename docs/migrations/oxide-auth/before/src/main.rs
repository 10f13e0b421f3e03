//! An authorization server, and the notes of its users behind it.

mod server;

use std::sync::{Arc, Mutex, PoisonError};
use std::{env, error::Error};

use axum::extract::State;
use axum::{Router, routing::get, routing::post};
use oxide_auth::endpoint::{
    AccessTokenFlow, AuthorizationFlow, OwnerConsent, QueryParameter, RefreshFlow, ResourceFlow, Solicitation,
};
use oxide_auth::frontends::simple::endpoint::{FnSolicitor, Vacant};
use oxide_auth_axum::{OAuthRequest, OAuthResource, OAuthResponse, WebError};
use tokio::net::TcpListener;

use crate::server::Server;

type App = Arc<Mutex<Server>>;

/// Checks an authorization request, and shows the page for sign-in and consent.
async fn authorize(State(app): State<App>, request: OAuthRequest) -> Result<OAuthResponse, WebError> {
    let solicitor = FnSolicitor(|_: &mut OAuthRequest, asked: Solicitation| match page(&asked) {
        Ok(page) => OwnerConsent::InProgress(page),
        Err(error) => OwnerConsent::Error(error),
    });
    let mut server = app.lock().unwrap_or_else(PoisonError::into_inner);
    AuthorizationFlow::prepare(server.endpoint(solicitor))?.execute(request)
}

fn page(asked: &Solicitation) -> Result<OAuthResponse, WebError> {
    let grant = asked.pre_grant();
    // the form is sent to the URL of the request, with its parameters
    let page = OAuthResponse::default().body(&format!(
        "<form method='post'><h1>Sign in to {}</h1><p>It asks for: {}</p>\
         User <input name='user'> Password <input name='password' type='password'>\
         <button name='decision' value='allow'>Sign in and allow</button>\
         <button name='decision' value='deny'>Deny</button></form>",
        grant.client_id, grant.scope
    ));
    page.content_type("text/html")
}

/// Takes the form of the page.
async fn decide(State(app): State<App>, request: OAuthRequest) -> Result<OAuthResponse, WebError> {
    let field = |name| {
        request
            .body()
            .and_then(|form| form.unique_value(name))
            .unwrap_or_default()
    };
    // a service verifies the hash of a password
    let is_ada = field("user") == "ada" && field("password") == "correct horse";
    let is_allowed = field("decision") == "allow";
    let solicitor =
        FnSolicitor(
            move |_: &mut OAuthRequest, asked: Solicitation| match (is_allowed, is_ada) {
                (true, true) => OwnerConsent::Authorized("ada".to_owned()),
                (true, false) => match page(&asked) {
                    Ok(page) => OwnerConsent::InProgress(page),
                    Err(error) => OwnerConsent::Error(error),
                },
                (false, _) => OwnerConsent::Denied,
            },
        );
    let mut server = app.lock().unwrap_or_else(PoisonError::into_inner);
    AuthorizationFlow::prepare(server.endpoint(solicitor))?.execute(request)
}

async fn token(State(app): State<App>, request: OAuthRequest) -> Result<OAuthResponse, WebError> {
    let grant_type = request.body().and_then(|form| form.unique_value("grant_type"));
    let mut server = app.lock().unwrap_or_else(PoisonError::into_inner);
    let endpoint = server.endpoint(Vacant);
    match grant_type.as_deref() {
        Some("refresh_token") => RefreshFlow::prepare(endpoint)?.execute(request),
        _ => AccessTokenFlow::prepare(endpoint)?.execute(request),
    }
}

async fn notes(
    State(app): State<App>,
    request: OAuthResource,
) -> Result<String, Result<OAuthResponse, WebError>> {
    let mut server = app.lock().unwrap_or_else(PoisonError::into_inner);
    let grant = ResourceFlow::prepare(server.endpoint(Vacant))
        .map_err(Err)?
        .execute(request.into())?;
    Ok(format!("notes of {}", grant.owner_id))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (here, lifetime) = (env::var("LISTEN")?, env::var("LIFETIME")?);
    let app = Arc::new(Mutex::new(Server::new(lifetime.parse()?)?));
    let router = Router::new()
        .route("/authorize", get(authorize).post(decide))
        .route("/token", post(token))
        .route("/notes", get(notes))
        .with_state(app);
    let listener = TcpListener::bind(&here).await?;
    println!("listening on http://{here}");
    Ok(axum::serve(listener, router).await?)
}
