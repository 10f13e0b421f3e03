//! An authorization server, and the notes of its users behind it.

mod clock;
mod server;

use std::{env, error::Error};

use axum::body::Body;
use axum::extract::{FromRef, Request, State};
use axum::http::{HeaderMap, StatusCode, Uri, header::SET_COOKIE};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::{Router, routing::any, routing::get};
use host_adapter_axum::Whole;
use oauth_core::params::Params;
use oauth_core::ports::Clock;
use oauth_core::resource::Challenge;
use oauth_core::secret::TokenHash;
use oauth_core::server::{Authentication, Authorize, Consent, EndpointResponse};
use oauth_core::vocabulary::Scope;
use oauth_core::{AuthorizationServer, ResourceServer};
use tokio::net::TcpListener;

use crate::clock::FastClock;

#[derive(Clone, FromRef)]
struct App {
    server: AuthorizationServer,
    api: ResourceServer,
    clock: FastClock,
    /// The scope that the API requires.
    needed: Scope,
}

/// Checks an authorization request, and sends the browser to the page for sign-in and consent.
async fn authorize(State(server): State<AuthorizationServer>, Whole(request): Whole) -> Response {
    match server.authorize(request).await {
        Authorize::Respond(response) => send(response),
        Authorize::Interact(interaction) => {
            let page = Redirect::to(&format!("/sign-in?{}", interaction.id));
            ([(SET_COOKIE, interaction.set_cookie)], page).into_response()
        }
    }
}

async fn page(State(server): State<AuthorizationServer>, headers: HeaderMap, uri: Uri) -> Response {
    let id = uri.query().unwrap_or_default();
    let browser = server.browser_secret(id, &headers);
    let Ok(Some(asked)) = server.interaction(id, browser.expose()).await else {
        return (StatusCode::BAD_REQUEST, "This page has expired. Start again.").into_response();
    };
    let page = Html(format!(
        "<form method='post'><h1>Sign in to {}</h1><p>It asks for: {}</p>\
         User <input name='user'> Password <input name='password' type='password'>\
         <button name='decision' value='allow'>Sign in and allow</button>\
         <button name='decision' value='deny'>Deny</button></form>",
        asked.client_id.as_str(),
        asked.scopes
    ));
    page.into_response()
}

/// Takes the form of the page.
async fn decide(State(app): State<App>, Whole(request): Whole) -> Response {
    let id = request.uri().query().unwrap_or_default();
    let browser = app.server.browser_secret(id, request.headers());
    let Ok(form) = Params::parse(request.body()) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let field = |name| form.optional(name).unwrap_or_default();
    // a service verifies the hash of a password
    let is_ada =
        field("user") == "ada" && TokenHash::new(field("password")).matches(&TokenHash::new("correct horse"));
    let consent = match (field("decision"), "ada".parse()) {
        ("allow", Ok(ada)) if is_ada => Consent::Granted(Authentication::new(ada, app.clock.now())),
        ("allow", _) => return Redirect::to(&format!("/sign-in?{id}")).into_response(),
        _ => Consent::Denied,
    };
    send(app.server.resume(&request, id, browser.expose(), consent).await)
}

/// Serves all endpoints without a page.
async fn serve(State(server): State<AuthorizationServer>, Whole(request): Whole) -> Response {
    let served = server.serve(request).await.map(send);
    served.ok_or(StatusCode::NOT_FOUND).into_response()
}

/// Logs the events of a response as JSON.
fn send(response: EndpointResponse) -> Response {
    for event in &response.events {
        eprintln!("{}", serde_json::json!(event));
    }
    response.response.map(Body::from)
}

async fn notes(State(app): State<App>, request: Request) -> Result<String, Response> {
    let (parts, _) = request.into_parts();
    let caller = app.api.authenticate(&parts, app.clock.now()).await;
    let caller = caller.map_err(refuse)?;
    caller.require(&app.needed).map_err(refuse)?;
    Ok(format!("notes of {}", caller.subject()))
}

fn refuse(challenge: Challenge) -> Response {
    challenge.into_response().map(Body::from)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (here, lifetime) = (env::var("LISTEN")?, env::var("LIFETIME")?.parse()?);
    let clock = FastClock::new(env::var("SPEED")?.parse()?);
    let (server, api) = server::new(&format!("http://{here}"), lifetime, clock.clone())?;
    let app = App {
        server,
        api,
        clock,
        needed: server::NOTES.parse()?,
    };
    let router = Router::new()
        .route("/authorize", any(authorize))
        .route("/sign-in", get(page).post(decide))
        .route("/notes", get(notes))
        .fallback(serve)
        .with_state(app);
    let listener = TcpListener::bind(&here).await?;
    println!("listening on http://{here}");
    Ok(axum::serve(listener, router).await?)
}
