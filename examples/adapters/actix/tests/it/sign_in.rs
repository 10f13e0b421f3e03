//! Login with an OpenID provider: its routes, and the session of a handler.
#![expect(clippy::unwrap_used, reason = "a failure ends the test")]

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use actix_web::{App, HttpResponse, body, test, web};
use bytes::Bytes;
use host_adapter_actix::{SignedIn, sign_in_routes};
use host_ports::testing::{ManualClock, SeededEntropy};
use http::Request;
use oauth_core::client::{AuthorizationParams, Ports, SignIns};
use oauth_core::error::diagnosis;
use oauth_core::jose::{SigningKey, SigningKeys};
use oauth_core::memory::{MemoryClients, MemoryInteractions, MemoryTokens};
use oauth_core::ports::{Clock, transport_fn};
use oauth_core::server::{Authentication, Authorize, Consent};
use oauth_core::store::RegisteredClient;
use oauth_core::vocabulary::RegisteredRedirectUri;
use oauth_core::{AuthorizationServer, Client, Provider, SessionCookie, Sessions};

const ISSUER: &str = "https://as.example";
const CALLBACK: &str = "https://app.example/back/here";

/// An app and its provider, without a network.
struct World {
    server: AuthorizationServer,
    sign_ins: SignIns,
    clock: ManualClock,
    log: Arc<Mutex<Vec<String>>>,
    /// The cookies of the browser.
    cookies: Vec<(String, String)>,
}

impl World {
    async fn new() -> Self {
        let clock = ManualClock::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000));
        let entropy = SeededEntropy::new(7);
        let app = RegisteredClient::public("app".parse().unwrap())
            .with_redirect_uri(RegisteredRedirectUri::exact(CALLBACK).unwrap())
            .with_scopes("openid".parse().unwrap());
        let server = AuthorizationServer::builder(ISSUER)
            .with_clients(MemoryClients::from_iter([app]))
            .with_interactions(MemoryInteractions::new())
            .with_tokens(MemoryTokens::new())
            .with_clock(clock.clone())
            .with_entropy(entropy.clone())
            .with_signing_keys(SigningKeys::new(SigningKey::generate_es256(&entropy).unwrap()))
            .with_audience(ISSUER)
            .build()
            .unwrap();
        let peer = server.clone();
        let transport = transport_fn(move |request: Request<Bytes>| {
            let peer = peer.clone();
            async move { Ok(peer.serve(request).await.unwrap().response) }
        });
        let ports = Ports::new(transport, entropy.clone(), clock.clone());
        let issuer = ISSUER.parse().unwrap();
        let provider = Provider::discover(&issuer, &**ports.transport()).await;
        let client = Client::new(provider.unwrap(), "app".parse().unwrap());
        let cookie = SessionCookie::new("session").unwrap();
        let sessions = Sessions::new(MemoryTokens::new(), cookie, clock.clone(), entropy);
        let params = AuthorizationParams::new(CALLBACK.parse().unwrap(), "openid".parse().unwrap());
        Self {
            sign_ins: SignIns::new(client, params, sessions, ports).unwrap(),
            server,
            clock,
            log: Arc::default(),
            cookies: Vec::new(),
        }
    }

    /// Sends a request of the browser; returns the status, `Location` and the body.
    async fn send(&mut self, method: &str, path: &str, form: Option<String>) -> (u16, String, String) {
        let log = Arc::clone(&self.log);
        let log = move |error: &_| log.lock().unwrap().push(diagnosis(error));
        let app = App::new()
            .configure(sign_in_routes(&self.sign_ins, log))
            .route("/", web::get().to(home))
            .route("/notes", web::post().to(add));
        let service = test::init_service(app).await;
        let mut call = test::TestRequest::with_uri(path).method(method.parse().unwrap());
        let cookies: Vec<_> = self
            .cookies
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        call = call.insert_header(("cookie", cookies.join("; ")));
        if let Some(form) = form {
            call = call.insert_header(("content-type", "application/x-www-form-urlencoded"));
            call = call.set_payload(form);
        }
        let response = test::call_service(&service, call.to_request()).await;
        for set in response.headers().get_all("set-cookie") {
            let (name, value) = set.to_str().unwrap().split_once('=').unwrap();
            let value = value.split(';').next().unwrap();
            self.cookies.retain(|(kept, _)| kept != name);
            self.cookies.push((name.to_owned(), value.to_owned()));
        }
        let location = response.headers().get("location");
        let location = location
            .map_or("", |location| location.to_str().unwrap())
            .to_owned();
        let status = response.status().as_u16();
        let content = body::to_bytes(response.into_body()).await.unwrap();
        (status, location, String::from_utf8(content.to_vec()).unwrap())
    }

    /// Starts a sign-in; returns the path and query of the browser's return.
    async fn start(&mut self) -> String {
        let (status, url, _) = self.send("GET", "/login", None).await;
        assert_eq!(status, 303);
        let request = Request::get(url).body(Bytes::new()).unwrap();
        let Authorize::Interact(interaction) = self.server.authorize(request).await else {
            unreachable!("the request is valid")
        };
        let user = Authentication::new("ada".parse().unwrap(), self.clock.now());
        let secret = interaction.browser.expose();
        let request = Request::post("/").body(()).unwrap();
        let consent = Consent::Granted(user);
        let resumed = self
            .server
            .resume(&request, &interaction.id, secret, consent)
            .await;
        let back = resumed.response.headers()["location"].to_str().unwrap();
        back.strip_prefix("https://app.example").unwrap().to_owned()
    }
}

/// The subject and the CSRF token of the session.
async fn home(user: SignedIn) -> String {
    format!("{} {}", user.record.subject, *user.secret.csrf_token())
}

#[derive(serde::Deserialize)]
struct Note {
    text: String,
    csrf_token: String,
}

async fn add(user: SignedIn, form: web::Form<Note>) -> HttpResponse {
    if !user.secret.is_csrf_token(&form.csrf_token) {
        return HttpResponse::Forbidden().finish();
    }
    HttpResponse::Ok().body(form.into_inner().text)
}

/// O1: the routes sign a user in and out, and handlers get the session.
#[actix_web::test]
async fn routes_sign_in_and_out() {
    let mut world = World::new().await;
    let back = world.start().await;
    let (status, location, _) = world.send("GET", &back, None).await;
    assert_eq!((status, location.as_str()), (303, "/"));
    let (status, _, page) = world.send("GET", "/", None).await;
    let (user, token) = page.split_once(' ').unwrap();
    assert_eq!((status, user), (200, "ada"));

    // the form is read after the session
    let form = Some(format!("text=milk&csrf_token={token}"));
    assert_eq!(world.send("POST", "/notes", form).await.2, "milk");
    let forged = Some("text=milk&csrf_token=x".to_owned());
    assert_eq!(world.send("POST", "/notes", forged).await.0, 403);

    assert_eq!(world.send("POST", "/sign-out", Some(String::new())).await.0, 403);
    let form = Some(format!("csrf_token={token}"));
    let (status, location, _) = world.send("POST", "/sign-out", form).await;
    assert_eq!((status, location.as_str()), (303, "/"));
    assert_eq!(world.send("GET", "/", None).await.0, 303);
    assert_eq!(
        *world.log.lock().unwrap(),
        ["the form was not made for this browser"]
    );
}

/// O1: without a session a page leads to the login, and no other request reaches its handler.
#[actix_web::test]
async fn visitor_is_sent_to_the_login() {
    let mut world = World::new().await;
    let (status, location, _) = world.send("GET", "/", None).await;
    assert_eq!((status, location.as_str()), (303, "/login"));
    let form = Some("text=milk&csrf_token=x".to_owned());
    assert_eq!(world.send("POST", "/notes", form).await.0, 403);
}

/// O5: a response of the provider is accepted once, and its failure is logged.
#[actix_web::test]
async fn second_return_of_the_browser_is_refused() {
    let mut world = World::new().await;
    let back = world.start().await;
    assert_eq!(world.send("GET", &back, None).await.0, 303);
    let (status, _, text) = world.send("GET", &back, None).await;
    assert_eq!(status, 400);
    assert!(text.starts_with("Signing in or out failed: "), "{text}");
    let logged = "the sign-in began in another browser or too long ago";
    assert_eq!(*world.log.lock().unwrap(), [logged]);
}

/// X3: an app without sign-ins in its data answers 500.
#[actix_web::test]
async fn app_without_sign_ins_answers_500() {
    let app = App::new().route("/", web::get().to(home));
    let service = test::init_service(app).await;
    let call = test::TestRequest::get().to_request();
    assert_eq!(test::call_service(&service, call).await.status().as_u16(), 500);
}
