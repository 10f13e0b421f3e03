//! Sign-ins of a web application's users: the cookie, the return of the browser, the sign-out.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::FutureExt;
use host_ports::testing::{ManualClock, SeededEntropy};
use http::{HeaderMap, Request, Response, Uri};
use oauth_core::client::{AuthorizationParams, NoIdTokens, Ports, SignInError, SignIns};
use oauth_core::jose::{SigningKey, SigningKeys};
use oauth_core::memory::{MemoryClients, MemoryInteractions, MemoryTokens};
use oauth_core::ports::{Clock, transport_fn};
use oauth_core::server::{Authentication, Authorize, Consent};
use oauth_core::store::RegisteredClient;
use oauth_core::vocabulary::RegisteredRedirectUri;
use oauth_core::{AuthorizationServer, Client, Provider, SessionCookie, Sessions};

const ISSUER: &str = "https://as.example";
const CALLBACK: &str = "https://app.example/callback";

struct World {
    server: AuthorizationServer,
    sign_ins: SignIns,
    clock: ManualClock,
}

fn world() -> World {
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
    let discovered = Provider::discover(&issuer, &**ports.transport());
    let provider = discovered.now_or_never().unwrap().unwrap();
    let client = Client::new(provider, "app".parse().unwrap());
    let cookie = SessionCookie::new("session").unwrap();
    let sessions = Sessions::new(MemoryTokens::new(), cookie, clock.clone(), entropy);
    let params = |scopes: &str| AuthorizationParams::new(CALLBACK.parse().unwrap(), scopes.parse().unwrap());
    let without = SignIns::new(client.clone(), params("email"), sessions.clone(), ports.clone());
    assert!(matches!(without, Err(NoIdTokens { .. })));
    World {
        sign_ins: SignIns::new(client, params("openid"), sessions, ports).unwrap(),
        server,
        clock,
    }
}

fn field<'a>(response: &'a Response<Bytes>, name: &str) -> &'a str {
    response.headers()[name].to_str().unwrap()
}

/// Adds the cookie of a response to the headers of a browser.
fn keep(browser: &mut HeaderMap, response: &Response<Bytes>) {
    let cookie = field(response, "set-cookie").split(';').next().unwrap();
    browser.append("cookie", cookie.parse().unwrap());
}

impl World {
    /// Starts a sign-in; returns the URI of the return of the browser.
    async fn start(&self, browser: &mut HeaderMap, consent: bool) -> Uri {
        let redirect = self.sign_ins.start(browser).await.unwrap();
        assert_eq!(redirect.status(), 303);
        keep(browser, &redirect);
        // the server supports pushed requests
        let url = field(&redirect, "location");
        assert!(url.contains("request_uri="), "{url}");
        let request = Request::get(url).body(Bytes::new()).unwrap();
        let Authorize::Interact(interaction) = self.server.authorize(request).await else {
            unreachable!("the request is valid")
        };
        let secret = interaction.browser.expose();
        let user = Authentication::new("ada".parse().unwrap(), self.clock.now());
        let consent = if consent {
            Consent::Granted(user)
        } else {
            Consent::Denied
        };
        let request = Request::post("/").body(()).unwrap();
        let resumed = self.server.resume(&request, &interaction.id, secret, consent);
        field(&resumed.await.response, "location").parse().unwrap()
    }
}

/// O1: a user signs in, has a session, and signs out by a form of this browser.
#[tokio::test]
async fn browser_signs_in_and_out() {
    let world = world();
    let sign_ins = &world.sign_ins;
    let mut browser = HeaderMap::new();
    let back = world.start(&mut browser, true).await;
    assert!(sign_ins.session(&browser).await.unwrap().is_none());
    let home = sign_ins.sign_in(&browser, &back, "/home").await.unwrap();
    assert_eq!((home.status().as_u16(), field(&home, "location")), (303, "/home"));
    keep(&mut browser, &home);
    let session = sign_ins.session(&browser).await.unwrap().unwrap();
    assert_eq!(session.record.subject.as_str(), "ada");

    let foreign = sign_ins
        .sign_out(&browser, b"csrf_token=x", "/")
        .await
        .unwrap_err();
    assert!(matches!(foreign, SignInError::ForeignForm));
    assert_eq!(foreign.into_response().status(), 403);
    let form = format!("csrf_token={}", *session.secret.csrf_token());
    assert!(
        session
            .secret
            .csrf_field()
            .contains(&*session.secret.csrf_token())
    );
    let out = sign_ins.sign_out(&browser, form.as_bytes(), "/").await.unwrap();
    assert!(field(&out, "set-cookie").contains("Max-Age=0"));
    assert!(sign_ins.session(&browser).await.unwrap().is_none());
}

/// O5: the cookie is for this host over TLS only.
#[tokio::test]
async fn cookie_of_sign_in_is_secure() {
    let redirect = world().sign_ins.start(&HeaderMap::new()).await.unwrap();
    let cookie = field(&redirect, "set-cookie");
    assert!(cookie.starts_with("__Host-sign-in=ss_"), "{cookie}");
    let attributes = "; Path=/; Max-Age=600; Secure; HttpOnly; SameSite=Lax";
    assert!(cookie.ends_with(attributes), "{cookie}");
    assert_eq!(field(&redirect, "cache-control"), "no-store");
}

/// O5: a response is accepted once, from the browser that started the sign-in.
#[tokio::test]
async fn rejects_response_in_another_browser_and_twice() {
    let world = world();
    let (mut mallory, mut browser) = (HeaderMap::new(), HeaderMap::new());
    world.start(&mut mallory, true).await;
    let back = world.start(&mut browser, true).await;
    for other in [&mallory, &HeaderMap::new()] {
        let refused = world.sign_ins.finish(other, &back).await.unwrap_err();
        assert!(matches!(refused, SignInError::Unknown));
        assert_eq!(refused.into_response().status(), 400);
    }
    // the sign-in is still pending
    let user = world.sign_ins.finish(&browser, &back).await.unwrap();
    assert_eq!(user.identity.subject.as_str(), "ada");
    let again = world.sign_ins.finish(&browser, &back).await.unwrap_err();
    assert!(matches!(again, SignInError::Unknown));
}

/// O5: two tabs of one browser sign in independently.
#[tokio::test]
async fn two_tabs_sign_in_independently() {
    let world = world();
    let mut browser = HeaderMap::new();
    let first = world.start(&mut browser, true).await;
    let second = world.start(&mut browser, true).await;
    assert!(world.sign_ins.finish(&browser, &second).await.is_ok());
    assert!(world.sign_ins.finish(&browser, &first).await.is_ok());
}

/// O3: a refusal and a late response end the sign-in, without the cause in the response.
#[tokio::test]
async fn rejects_denied_and_late_response() {
    let world = world();
    let mut browser = HeaderMap::new();
    let denied = world.start(&mut browser, false).await;
    let refused = world.sign_ins.finish(&browser, &denied).await.unwrap_err();
    assert!(matches!(refused, SignInError::Callback(_)));
    let back = world.start(&mut browser, true).await;
    world.clock.advance(Duration::from_secs(600));
    let late = world.sign_ins.finish(&browser, &back).await.unwrap_err();
    assert!(matches!(late, SignInError::Callback(_)));
    let response = late.into_response();
    assert_eq!(response.status(), 400);
    assert_eq!(field(&response, "content-type"), "text/plain; charset=utf-8");
    assert!(!String::from_utf8_lossy(response.body()).contains("minutes"));
}

/// O5: above the capacity a new sign-in is refused, until the pending ones have expired.
#[tokio::test]
async fn capacity_limits_pending_sign_ins() {
    let world = world();
    let sign_ins = world.sign_ins.clone().with_capacity(1);
    assert!(sign_ins.start(&HeaderMap::new()).await.is_ok());
    let refused = sign_ins.start(&HeaderMap::new()).await.unwrap_err();
    assert!(matches!(refused, SignInError::TooMany));
    assert_eq!(refused.into_response().status(), 503);
    world.clock.advance(Duration::from_secs(600));
    assert!(sign_ins.start(&HeaderMap::new()).await.is_ok());
}

/// O38: `serve` dispatches by the requested path, and leaves pages to the host.
#[tokio::test]
async fn serve_dispatches_by_path() {
    let world = world();
    for (method, path, wanted) in [
        ("POST", "/token", Some(400)),
        ("POST", "/par", Some(400)),
        ("POST", "/oauth/introspect", Some(400)),
        ("POST", "/oauth/revoke", Some(400)),
        ("GET", "/userinfo", Some(401)),
        ("GET", "/.well-known/jwks.json", Some(200)),
        ("GET", "/.well-known/openid-configuration", Some(200)),
        ("GET", "/.well-known/oauth-authorization-server", Some(200)),
        ("GET", "/authorize", None),
        ("GET", "/end_session", None),
        ("GET", "/token/", None),
        ("GET", "/", None),
    ] {
        let request = Request::builder().method(method).uri(path);
        let served = world.server.serve(request.body(Bytes::new()).unwrap()).await;
        let status = served.map(|served| served.response.status().as_u16());
        assert_eq!(status, wanted, "{path}");
    }
}

/// O24: the cookie of an interaction identifies its browser; without it, the secret matches none.
#[tokio::test]
async fn cookie_of_interaction_binds_its_browser() {
    let world = world();
    let redirect = world.sign_ins.start(&HeaderMap::new()).await.unwrap();
    let request = Request::get(field(&redirect, "location"))
        .body(Bytes::new())
        .unwrap();
    let Authorize::Interact(interaction) = world.server.authorize(request).await else {
        unreachable!("the request is valid")
    };
    let set_cookie = interaction.set_cookie.to_str().unwrap();
    let (pair, attributes) = set_cookie.split_once("; ").unwrap();
    assert_eq!(attributes, "Path=/; Max-Age=600; Secure; HttpOnly; SameSite=Lax");
    assert!(pair.starts_with(&format!("__Host-interaction-{}=", interaction.id)));
    let mut browser = HeaderMap::new();
    browser.insert("cookie", format!("theme=dark; {pair}").parse().unwrap());
    let found = world.server.browser_secret(&interaction.id, &browser);
    let details = world.server.interaction(&interaction.id, found.expose()).await;
    assert!(details.unwrap().is_some());
    let missing = world.server.browser_secret(&interaction.id, &HeaderMap::new());
    assert_eq!(missing.expose(), "");
    let details = world.server.interaction(&interaction.id, missing.expose()).await;
    assert!(details.unwrap().is_none());
}
