//! Responses whose body is incomplete.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use host_ports::testing::{ManualClock, ScriptedTransport};
use http::{Request, Response};
use oauth_core::client::{CallError, Client, Discovery, DiscoveryError, Ports, Provider};
use oauth_core::jose::{KeySet, RemoteKeySet};
use oauth_core::ports::{OsEntropy, Truncated};
use oauth_core::resource::{ChallengeReason, Introspection, ResourceServer};

const ISSUER: &str = "https://as.example";
const KEYS: &str = r#"{"keys":[]}"#;
const TOKENS: &str = r#"{"access_token":"at-1","token_type":"Bearer"}"#;
const METADATA: &str = r#"{"issuer":"https://as.example","authorization_endpoint":"https://as.example/authorize",
    "token_endpoint":"https://as.example/token","jwks_uri":"https://as.example/jwks","response_types_supported":["code"],
    "code_challenge_methods_supported":["S256"]}"#;

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

/// A transport that returns this body once, complete or marked as truncated. Both parse: only the
/// mark differs.
fn transport(body: &'static str, is_cut: bool) -> ScriptedTransport {
    let mut response = Response::new(Bytes::from_static(body.as_bytes()));
    let json = http::HeaderValue::from_static("application/json");
    response.headers_mut().insert("content-type", json);
    if is_cut {
        response.extensions_mut().insert(Truncated);
    }
    ScriptedTransport::new([Ok(response)])
}

fn ports(transport: ScriptedTransport) -> Ports {
    Ports::new(transport, OsEntropy, ManualClock::new(now()))
}

fn client() -> Client {
    let endpoint = |path: &str| format!("{ISSUER}{path}").parse().unwrap();
    let provider = Provider::new(
        ISSUER.parse().unwrap(),
        endpoint("/authorize"),
        endpoint("/token"),
    );
    Client::new(provider, "web".parse().unwrap())
}

/// O22: a truncated key set is refused.
#[tokio::test]
async fn refuses_truncated_key_set() {
    for is_cut in [false, true] {
        let jwks = format!("{ISSUER}/jwks").parse().unwrap();
        let keys = RemoteKeySet::new(jwks, transport(KEYS, is_cut));
        assert_eq!(keys.keys(now()).await.is_err(), is_cut);
    }
}

/// O22: a truncated metadata document is refused.
#[tokio::test]
async fn refuses_truncated_metadata() {
    for is_cut in [false, true] {
        let found = Provider::discover(&ISSUER.parse().unwrap(), &transport(METADATA, is_cut)).await;
        match (found, is_cut) {
            (Ok(_), false) | (Err(DiscoveryError::Unreachable(_)), true) => {}
            (found, _) => panic!("{is_cut}: {found:?}"),
        }
    }
}

/// O9: a truncated token response is refused.
#[tokio::test]
async fn refuses_truncated_token_response() {
    for is_cut in [false, true] {
        let call = client().refresh(&"rt-1".parse().unwrap(), &"read:charges".parse().unwrap());
        match (call.send(&ports(transport(TOKENS, is_cut))).await, is_cut) {
            (Ok(tokens), false) => assert_eq!(tokens.access_token().expose(), "at-1"),
            (Err(CallError::Transport(_)), true) => {}
            (answer, _) => panic!("{is_cut}: {answer:?}"),
        }
    }
}

/// O14: a truncated introspection response lets no token pass.
#[tokio::test]
async fn refuses_truncated_introspection_response() {
    const ACTIVE: &str = r#"{"active":true,"scope":"read:charges","client_id":"web","token_type":"Bearer",
        "exp":1800000600,"iat":1800000000,"sub":"ada","aud":"https://api.example","iss":"https://as.example","jti":"1"}"#;
    for is_cut in [false, true] {
        let endpoint = format!("{ISSUER}/introspect").parse().unwrap();
        let (id, secret) = ("api".parse().unwrap(), "secret".parse().unwrap());
        let introspection = Introspection::new(endpoint, id, secret, transport(ACTIVE, is_cut));
        let (issuer, audience) = (ISSUER.parse().unwrap(), "https://api.example".parse().unwrap());
        let api = ResourceServer::new(issuer, audience, KeySet::new([]).unwrap());
        let api = api.with_introspection(introspection);
        let request = Request::get("/").header("authorization", "Bearer at-1");
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let refused = api.authenticate(&parts, now()).await.err();
        let expected = is_cut.then_some(ChallengeReason::Unavailable);
        assert_eq!(refused.map(|challenge| challenge.reason().clone()), expected);
    }
}

/// O9, O22: a truncated response is refused also if the host sends the request itself.
#[test]
fn refuses_truncated_response_without_transport_port() {
    let response = |body: &'static str| {
        let mut response = Response::new(Bytes::from_static(body.as_bytes()));
        let json = http::HeaderValue::from_static("application/json");
        response.headers_mut().insert("content-type", json);
        response
    };
    let cut = |body| {
        let mut response = response(body);
        response.extensions_mut().insert(Truncated);
        response
    };
    let refresh = || {
        let call = client().refresh(&"rt-1".parse().unwrap(), &"read:charges".parse().unwrap());
        call.start(&OsEntropy, now()).unwrap().1
    };
    assert!(refresh().finish(response(TOKENS), now()).is_ok());
    assert!(refresh().finish(cut(TOKENS), now()).is_err());
    let discovery = Discovery::new(ISSUER.parse().unwrap());
    assert!(discovery.finish(&response(METADATA)).unwrap().is_some());
    let refused = discovery.finish(&cut(METADATA));
    assert!(matches!(refused, Err(DiscoveryError::Unreachable(_))));
}
