//! The layer that requires an access token, in a router without the conventions.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use axum::{Extension, Router, routing::get};
use host_adapter_axum::AccessTokenLayer;
use http_conventions::ports::Clock as _;
use oauth_core::dpop::Proof;
use oauth_core::jose::{IssuerProfile, SigningKey};
use oauth_core::ports::OsEntropy;
use oauth_core::resource::{AuthenticatedToken, ResourceServer};
use oauth_core::vocabulary::Confirmation;
use tower_service::Service;

use super::fixture::{Running, request};

async fn name(Extension(caller): Extension<AuthenticatedToken>) -> String {
    caller.subject().to_string()
}

/// A guarded route in a nested router, and the log.
fn guarded(running: &Running, api: ResourceServer) -> (Router, Arc<Mutex<Vec<String>>>) {
    let log = Arc::new(Mutex::new(Vec::new()));
    let written = Arc::clone(&log);
    let layer = AccessTokenLayer::new(api)
        .with_scopes("read:charges".parse().unwrap())
        .with_clock(running.clock.clone())
        .with_log(move |challenge| written.lock().unwrap().push(challenge.diagnosis()));
    let routes = Router::new()
        .route("/charges", get(name))
        .route_layer(layer)
        .route("/open", get(async || "open"));
    (Router::new().nest("/v1", routes), log)
}

async fn ask(router: &mut Router, path: &str, fields: &[(&str, &str)]) -> Response {
    router.call(request("GET", path, fields, "")).await.unwrap()
}

/// H14: the layer refuses requests without a sufficient token, and logs the cause.
#[tokio::test]
async fn layer_requires_token_and_scope() {
    let running = Running::new();
    let (mut router, log) = guarded(&running, running.resources());
    let (good, other) = (running.bearer("read:charges"), running.bearer("write:charges"));
    for (token, status, challenge) in [
        (None, 401, r#"Bearer realm="https://api.example""#),
        (
            Some("Bearer x.y.z"),
            401,
            r#"Bearer realm="https://api.example", error="invalid_token""#,
        ),
        (
            Some(&*other),
            403,
            r#"Bearer realm="https://api.example", error="insufficient_scope", scope="read:charges""#,
        ),
    ] {
        let fields: Vec<_> = token.iter().map(|token| ("authorization", *token)).collect();
        let refused = ask(&mut router, "/v1/charges", &fields).await;
        assert_eq!(refused.status(), status);
        assert_eq!(refused.headers()["www-authenticate"], challenge);
        assert_eq!(refused.headers()["content-type"], "application/problem+json");
    }
    let logged = log.lock().unwrap().join("; ");
    assert_eq!(
        logged,
        "no access token; invalid access token: the token is malformed; insufficient scope"
    );
    let fields = [("authorization", &*good)];
    assert_eq!(ask(&mut router, "/v1/charges", &fields).await.status(), 200);
    assert_eq!(ask(&mut router, "/v1/open", &[]).await.status(), 200);
    running.clock.advance(Duration::from_secs(700));
    assert_eq!(ask(&mut router, "/v1/charges", &fields).await.status(), 401);
}

/// H14, O31: the layer refuses a caller without one of the roles, and logs the role.
#[tokio::test]
async fn layer_requires_roles() {
    let running = Running::new();
    let api = running.resources().with_issuer_profile(IssuerProfile::auth0());
    let log = Arc::new(Mutex::new(Vec::new()));
    let written = Arc::clone(&log);
    let layer = AccessTokenLayer::new(api)
        .with_role("clerk")
        .with_role("admin")
        .with_clock(running.clock.clone())
        .with_log(move |challenge| written.lock().unwrap().push(challenge.diagnosis()));
    let mut router = Router::new().route("/charges", get(name)).route_layer(layer);
    for (roles, status) in [
        (&["admin", "clerk", "guest"][..], 200),
        (&["clerk"], 403),
        (&["admin"], 403),
        (&[], 403),
    ] {
        let bearer = format!("Bearer {}", running.token_with_permissions(roles));
        let response = ask(&mut router, "/charges", &[("authorization", &bearer)]).await;
        assert_eq!(response.status(), status, "{roles:?}");
        let challenge = response.headers().get("www-authenticate");
        let expected = r#"Bearer realm="https://api.example", error="insufficient_scope""#;
        assert_eq!(
            challenge.is_some_and(|challenge| challenge == expected),
            status == 403
        );
    }
    let missing = ["admin", "clerk", "clerk"].map(|role| format!("missing role `{role}`"));
    assert_eq!(*log.lock().unwrap(), missing);
}

/// H14, O20: a proof names the path that the client requested, and the response has the nonce.
#[tokio::test]
async fn layer_verifies_proof_in_nested_router() {
    let running = Running::new();
    let (mut router, _) = guarded(&running, running.resources_with_nonces());
    let key = SigningKey::generate_es256(&OsEntropy).unwrap();
    let bound = Confirmation::Jkt(key.public_key().thumbprint());
    let token = running.token("read:charges", Some(bound));
    let mut nonce: Option<String> = None;
    for wanted in [401, 200] {
        let url = "https://api.example/v1/charges".parse().unwrap();
        let proof =
            Proof::new(http::Method::GET, url, &OsEntropy, running.clock.now()).with_access_token(&token);
        let proof = match &nonce {
            Some(nonce) => proof.with_nonce(nonce),
            None => proof,
        };
        let (proof, scheme) = (proof.sign(&key).unwrap(), format!("DPoP {token}"));
        let fields = [("authorization", &*scheme), ("dpop", proof.expose())];
        let response: http::Response<Body> = ask(&mut router, "/v1/charges", &fields).await;
        assert_eq!(response.status(), wanted);
        let sent = response.headers().get("dpop-nonce");
        nonce = sent.map(|nonce| nonce.to_str().unwrap().to_owned()).or(nonce);
    }
}
