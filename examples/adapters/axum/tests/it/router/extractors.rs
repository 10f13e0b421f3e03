//! The extractors, and their rejections.

use std::time::{Duration, SystemTime};

use axum::Router;
use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use futures_util::{StreamExt, stream};
use host_adapter_axum::{Admission, Caller, Paged, Reason, Refusal, Whole};
use http::{HeaderMap, Method, Request};
use http_conventions::errors::ReceivedProblem;
use http_conventions::ports::Clock as _;
use oauth_core::dpop::Proof;
use oauth_core::jose::SigningKey;
use oauth_core::ports::OsEntropy;
use oauth_core::vocabulary::Confirmation;
use tower_service::Service;

use super::fixture::{BASE, Running, request, whole};

/// H14: a caller needs a valid token, and its scopes decide what it may do.
#[tokio::test]
async fn a_caller_is_known_by_a_valid_token() {
    let running = Running::new();
    let (good, other) = (running.bearer("read:charges"), running.bearer("write:charges"));
    let realm = r#"Bearer realm="https://api.example""#;
    let ask = async |authorization: Option<&str>| {
        let fields: Vec<_> = authorization
            .iter()
            .map(|value| ("authorization", *value))
            .collect();
        let answer = running.ask(request("GET", "/charges", &fields, "")).await;
        let challenge = answer.headers().get("www-authenticate").cloned();
        (
            answer.status().as_u16(),
            challenge.map(|value| value.to_str().unwrap().to_owned()),
        )
    };
    assert_eq!(ask(Some(&good)).await, (200, None));
    assert_eq!(ask(None).await, (401, Some(realm.to_owned())));
    assert_eq!(
        ask(Some("Bearer x y")).await,
        (400, Some(format!("{realm}, error=\"invalid_request\"")))
    );
    assert_eq!(
        ask(Some("Bearer x")).await,
        (401, Some(format!("{realm}, error=\"invalid_token\"")))
    );
    let wanted = format!("{realm}, error=\"insufficient_scope\", scope=\"read:charges\"");
    assert_eq!(ask(Some(&other)).await, (403, Some(wanted)));
    running.clock.advance(Duration::from_secs(700));
    assert_eq!(
        ask(Some(&good)).await.0,
        401,
        "expired by the clock of the conventions"
    );
}

/// A request with a bound token and a proof of its key.
fn presented(
    key: &SigningKey,
    token: &str,
    method: &Method,
    nonce: Option<&str>,
    now: SystemTime,
) -> Request<Body> {
    let url = "https://api.example/charges".parse().unwrap();
    let proof = Proof::new(method.clone(), url, &OsEntropy, now).with_access_token(token);
    let proof = match nonce {
        Some(nonce) => proof.with_nonce(nonce),
        None => proof,
    };
    let (proof, scheme) = (proof.sign(key).unwrap(), format!("DPoP {token}"));
    let fields = [("authorization", scheme.as_str()), ("dpop", proof.expose())];
    request(method.as_str(), "/charges", &fields, "")
}

/// O20, H18: a script of another origin can read the nonce for its next proof; without CORS rules
/// the refusal has the nonce alone.
#[tokio::test]
async fn script_reads_the_nonce_of_a_refusal() {
    let running = Running::new();
    let (now, resources) = (running.clock.now(), running.resources_with_nonces());
    let own = SigningKey::generate_es256(&OsEntropy).unwrap();
    let bound = Confirmation::Jkt(own.public_key().thumbprint());
    let token = running.token("read:charges", Some(bound));
    let router = Router::new()
        .route("/charges", get(async |_: Caller| "charges"))
        .layer(host_adapter_axum::ConventionsLayer::new(super::conventions(
            &running.clock,
        )))
        .with_state(resources.clone());
    let made = |nonce: Option<&str>| presented(&own, &token, &Method::GET, nonce, now);
    let ask = async |request: Request<Body>| whole(router.clone().call(request).await.unwrap()).await;
    let exposes = |headers: &HeaderMap| {
        let exposed = headers["access-control-expose-headers"].to_str().unwrap();
        let exposed = exposed.to_ascii_lowercase();
        ["dpop-nonce", "www-authenticate"]
            .iter()
            .all(|name| exposed.split(", ").any(|exposed| exposed == *name))
    };

    let refused = ask(made(None)).await;
    assert_eq!(refused.status(), 401);
    assert!(exposes(refused.headers()), "{refused:?}");
    let nonce = refused.headers()["dpop-nonce"].to_str().unwrap();
    assert_eq!(ask(made(Some(nonce))).await.status(), 200);
    let asks = [("access-control-request-method", "GET")];
    let preflight = ask(request("OPTIONS", "/charges", &asks, "")).await;
    let allowed = preflight.headers()["access-control-allow-headers"].to_str();
    assert!(allowed.unwrap().split(", ").any(|name| name == "dpop"));

    let parts = made(None).into_parts().0;
    let challenge = resources.authenticate(&parts, now).await.unwrap_err();
    let bare = Refusal::from(challenge).into_response();
    assert!(exposes(bare.headers()), "{bare:?}");
    assert_eq!(bare.headers().get_all("www-authenticate").iter().count(), 1);
}

/// O20, DP10, DP16: every response of a handler has the next nonce before the old one expires, and
/// is not cached.
#[tokio::test]
async fn next_nonce_is_on_every_response() {
    let running = Running::new();
    let own = SigningKey::generate_es256(&OsEntropy).unwrap();
    let bound = Confirmation::Jkt(own.public_key().thumbprint());
    let token = running.token("read:charges", Some(bound));
    let cached = async |_: Caller| ([("cache-control", "private, max-age=60")], "charges");
    let forbidden = async |Caller(ada): Caller| {
        let refused = ada.require(&"write:charges".parse().unwrap());
        refused.map_err(Refusal::from)
    };
    let broken = async |_: Caller| -> &'static str { panic!("the handler has a bug") };
    let finished = async |_: Option<Caller>, Admission(exchange): Admission| {
        exchange.finish(Ok(http::Response::default())).map(Body::from)
    };
    let router = Router::new()
        .route(
            "/charges",
            get(cached).post(forbidden).put(broken).patch(finished),
        )
        .layer(host_adapter_axum::ConventionsLayer::new(super::conventions(
            &running.clock,
        )))
        .with_state(running.resources_with_nonces());
    let present = async |method: Method, nonce: &str| {
        let request = presented(&own, &token, &method, Some(nonce), running.clock.now());
        let answer = whole(router.clone().call(request).await.unwrap()).await;
        let text = |name: &str| Some(answer.headers().get(name)?.to_str().unwrap().to_owned());
        (
            answer.status().as_u16(),
            text("dpop-nonce"),
            text("cache-control").unwrap(),
        )
    };
    let (_, old, _) = present(Method::GET, "none").await;
    let old = old.unwrap();
    let (status, none, cache) = present(Method::GET, &old).await;
    assert_eq!((status, none, cache.as_str()), (200, None, "private, max-age=60"));
    running.clock.advance(Duration::from_secs(60));
    let methods = [
        (Method::GET, 200),
        (Method::POST, 403),
        (Method::PUT, 500),
        (Method::PATCH, 200),
    ];
    for (method, expected) in methods {
        let (status, new, cache) = present(method.clone(), &old).await;
        assert_eq!((status, cache.as_str()), (expected, "no-store"), "{method}");
        assert!(new.is_some_and(|new| new != old), "{method}");
    }
}

/// H14: an optional caller may send no token, but an invalid token is refused.
#[tokio::test]
async fn optional_caller_rejects_invalid_token() {
    let running = Running::new();
    let good = running.bearer("read:charges");
    for (path, authorization, status, body) in [
        ("/maybe", None, 200, "false"),
        ("/maybe", Some(good.as_str()), 200, "true"),
        ("/maybe", Some("Bearer x"), 401, ""),
        ("/maybe", Some("Basic eDp5"), 401, ""),
        ("/maybe?access_token=x", None, 400, ""),
    ] {
        let fields: Vec<_> = authorization
            .iter()
            .map(|value| ("authorization", *value))
            .collect();
        let answer = running.ask(request("GET", path, &fields, "")).await;
        assert_eq!(answer.status(), status, "{path} {authorization:?}");
        if status == 200 {
            assert_eq!(answer.body(), body);
        }
    }
}

/// H10: page sizes follow the rules of the conventions.
#[tokio::test]
async fn a_page_is_within_its_rules() {
    let running = Running::new();
    let ask = async |query: &str| {
        running
            .ask(request("GET", &format!("/page{query}"), &[], ""))
            .await
    };
    assert_eq!(ask("").await.body(), "5");
    assert_eq!(ask("?limit=50").await.body(), "50");
    for query in ["?limit=51", "?limit=0", "?limit=x", "?limit=1&limit=2"] {
        let refused = ask(query).await;
        assert_eq!(refused.status(), 400);
        let problem = ReceivedProblem::parse(refused.body()).unwrap();
        assert_eq!(problem.type_uri(), format!("{BASE}invalid-page-request"));
    }
}

/// A route outside the layer reports the mistake in the log, and not to the client.
#[tokio::test]
async fn extractor_without_layer_is_reported_in_the_log() {
    let (mut parts, ()) = Request::new(()).into_parts();
    let refusal = Admission::from_request_parts(&mut parts, &()).await.unwrap_err();
    assert!(matches!(refusal.reason(), Reason::NoConventions));
    let refusal: Refusal = Paged::from_request_parts(&mut parts, &()).await.unwrap_err();
    assert_eq!(refusal.status(), 500);
    let mut router = Router::new().route("/", get(async |_: Admission| "never"));
    let answer = whole(router.call(Request::new(Body::empty())).await.unwrap()).await;
    assert_eq!(answer.status(), 500);
    assert!(!answer.body().escape_ascii().to_string().contains("onventions"));
}

/// The reason of a refused token is available to the handler, and not sent to the caller.
#[tokio::test]
async fn a_refusal_keeps_its_reason_for_the_log() {
    let running = Running::new();
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let log = std::sync::Arc::clone(&seen);
    let noted = async move |caller: Result<Caller, Refusal>| {
        if let Err(refusal) = &caller {
            log.lock().unwrap().push(format!("{:?}", refusal.reason()));
        }
        caller.map(|_| ())
    };
    let layer = host_adapter_axum::ConventionsLayer::new(super::conventions(&running.clock));
    let mut router = Router::new()
        .route("/", get(noted))
        .layer(layer)
        .with_state(running.desk.clone());
    let forged = request("GET", "/", &[("authorization", "Bearer e30.e30.e30")], "");
    let answer = whole(router.call(forged).await.unwrap()).await;
    assert_eq!(answer.status(), 401);
    let seen = seen.lock().unwrap();
    assert!(
        seen[0].starts_with("Caller(") && seen[0].contains("InvalidToken("),
        "{seen:?}"
    );
}

/// H13, H19: incomplete content is 400 and stalled content is 408, also without conventions.
#[tokio::test(start_paused = true)]
async fn incomplete_content_is_refused() {
    let mut router = Router::new().route("/", post(async |Whole(request): Whole| request.into_body()));
    let broken = stream::iter([Ok("half"), Err(std::io::Error::other("reset"))]);
    let stalled = stream::iter([Ok::<_, std::io::Error>("half")]).chain(stream::pending());
    let endless = stream::repeat_with(|| Ok::<_, std::io::Error>("x".repeat(1 << 20)));
    for (body, status) in [
        (Body::from("all of it"), 200),
        (Body::from_stream(broken), 400),
        (Body::from_stream(stalled), 408),
        (Body::from_stream(endless.take(50)), 413),
    ] {
        let answer = router.call(request("POST", "/", &[], body)).await.unwrap();
        assert_eq!(answer.status(), status);
    }
}
