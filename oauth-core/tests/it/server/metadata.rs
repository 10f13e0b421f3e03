//! The metadata documents and the key set.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use host_ports::testing::SeededEntropy;
use http::{Method, Request};
use oauth_core::client::{Discovery, WellKnown};
use oauth_core::jose::{Jwk, KeySet, SigningKey, SigningKeys};
use oauth_core::memory::MemoryTokens;
use oauth_core::server::{AuthorizationServer, ConfigMistake, EndpointPaths};
use serde_json::{Value, json};

use super::fixture::Fixture;

/// O22: the document has the members of RFC 8414 and OpenID Connect Discovery.
#[test]
fn metadata_list_offered_features() {
    let fixture = Fixture::new();
    let response = fixture.server.metadata(&get());
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "application/json");
    let document: Value = serde_json::from_slice(response.body()).unwrap();
    let expected = json!({
        "issuer": "https://auth.example",
        "authorization_endpoint": "https://auth.example/authorize",
        "pushed_authorization_request_endpoint": "https://auth.example/par",
        "require_pushed_authorization_requests": false,
        "token_endpoint": "https://auth.example/token",
        "introspection_endpoint": "https://auth.example/oauth/introspect",
        "revocation_endpoint": "https://auth.example/oauth/revoke",
        "userinfo_endpoint": "https://auth.example/userinfo",
        "end_session_endpoint": "https://auth.example/end_session",
        "jwks_uri": "https://auth.example/.well-known/jwks.json",
        "scopes_supported": ["openid", "read:charges", "write:charges"],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query", "fragment", "form_post"],
        "grant_types_supported": ["authorization_code", "client_credentials", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
        "introspection_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
        "revocation_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
        "authorization_response_iss_parameter_supported": true,
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["EdDSA"],
        "claims_supported": [
            "acr", "amr", "aud", "auth_time", "email", "exp", "iat", "iss", "name", "nonce", "sid", "sub",
        ],
        "prompt_values_supported": ["none", "login", "consent", "select_account"],
        "request_parameter_supported": false,
        "request_uri_parameter_supported": false,
        "backchannel_logout_supported": false,
        "backchannel_logout_session_supported": false,
        "tls_client_certificate_bound_access_tokens": false,
    });
    assert_eq!(document, expected);
}

/// O38: the metadata and the proofs follow the configured paths; unusable paths are configuration
/// errors.
#[tokio::test]
async fn metadata_follow_configured_paths() {
    let paths = EndpointPaths::default()
        .with_authorize("/oauth/authorize")
        .with_token("/oauth/token")
        .with_jwks("/keys");
    let configured = paths.clone();
    let fixture = Fixture::with(Arc::new(MemoryTokens::new()), |builder| {
        let builder = builder.with_replays(oauth_core::memory::MemoryReplays::new());
        builder.with_paths(configured)
    });
    assert_eq!(*fixture.server.paths(), paths);
    let response = fixture.server.metadata(&get());
    let document: Value = serde_json::from_slice(response.body()).unwrap();
    let expected = json!({
        "authorization_endpoint": "https://auth.example/oauth/authorize",
        "token_endpoint": "https://auth.example/oauth/token",
        "jwks_uri": "https://auth.example/keys",
        "userinfo_endpoint": "https://auth.example/userinfo",
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(document.get(name), Some(value), "{name}");
    }

    let builder = AuthorizationServer::builder("https://auth.example");
    let wrong = EndpointPaths::default().with_par("par").with_revoke("/token");
    let error = builder.with_paths(wrong).build().unwrap_err();
    for mistake in [ConfigMistake::InvalidPath("par"), ConfigMistake::PathsConflict] {
        assert!(error.mistakes().contains(&mistake), "{mistake}");
    }
}

/// O22, 77: a retired key is published until its last token has expired, beside the current and the
/// next one.
#[test]
fn a_retired_key_is_published_until_its_last_token_expired() {
    let [first, second, third] =
        [7, 8, 9].map(|seed| SigningKey::generate_es256(&SeededEntropy::new(seed)).unwrap());
    let (start, life) = (Fixture::new().now(), Duration::from_secs(600));
    let rotating = SigningKeys::new(first.clone())
        .with_next(second.clone())
        .rotate(start, life)
        .with_next(third.clone());
    let fixture = Fixture::with(Arc::new(MemoryTokens::new()), |builder| {
        builder.with_signing_keys(rotating)
    });
    let published = || -> Vec<String> {
        keys(&fixture)
            .iter()
            .map(|key| key.thumbprint().to_string())
            .collect()
    };
    let [first, second, third] = [first, second, third].map(|key| key.key_id().to_owned());
    fixture.clock.set(start + life - Duration::from_nanos(1));
    assert_eq!(published(), [&second, &third, &first].map(String::as_str));
    fixture.clock.set(start + life);
    assert_eq!(published(), [&second, &third].map(String::as_str));
}

/// O22: the key set has no private members.
#[test]
fn the_key_set_is_public() {
    let fixture = Fixture::new();
    let document: Value = serde_json::from_slice(fixture.server.jwks(&get()).body()).unwrap();
    for key in document["keys"].as_array().unwrap() {
        let members = key.as_object().unwrap();
        assert!(
            ["d", "p", "q", "dp", "dq", "qi", "k"]
                .iter()
                .all(|name| !members.contains_key(*name))
        );
        assert!(members.contains_key("kid"));
    }
}

/// O22: for an issuer with a path, RFC 8414 puts the well-known part before the path and OpenID
/// Connect Discovery behind it. A final slash is dropped, and the endpoints are below the path.
#[test]
fn issuer_with_path_serves_both_metadata_urls() {
    let both = |before: &str, behind: &str| {
        ["oauth-authorization-server", "openid-configuration"]
            .map(|name| format!("{before}/.well-known/{name}{behind}"))
    };
    for (issuer, base, tenant) in [
        ("https://auth.example", "https://auth.example", ""),
        ("https://auth.example/", "https://auth.example", ""),
        ("https://auth.example/a/b", "https://auth.example/a/b", "/a/b"),
        (
            "https://auth.example:8443/a/",
            "https://auth.example:8443/a",
            "/a",
        ),
        ("http://[::1]:8080/a", "http://[::1]:8080/a", "/a"),
    ] {
        let fixture = Fixture::of_issuer(issuer);
        let mut expected = both("", tenant).to_vec();
        if !tenant.is_empty() {
            expected.extend(both(tenant, ""));
        }
        assert_eq!(fixture.server.metadata_paths(), expected, "{issuer}");
        let document: Value = serde_json::from_slice(fixture.server.metadata(&get()).body()).unwrap();
        assert_eq!(document["issuer"], issuer);
        for (endpoint, path) in [("token_endpoint", "/token"), ("userinfo_endpoint", "/userinfo")] {
            assert_eq!(document[endpoint], format!("{base}{path}"));
        }
    }
}

/// O22: other methods than GET and HEAD are refused.
#[test]
fn other_methods_are_refused() {
    let fixture = Fixture::new();
    for method in [Method::POST, Method::DELETE] {
        let request = Request::builder()
            .method(method)
            .uri("/")
            .body(Bytes::new())
            .unwrap();
        for response in [fixture.server.metadata(&request), fixture.server.jwks(&request)] {
            assert_eq!(response.status(), 405);
            assert_eq!(response.headers()["allow"], "GET, HEAD");
        }
    }
}

fn keys(fixture: &Fixture) -> Vec<Jwk> {
    KeySet::parse(fixture.server.jwks(&get()).body())
        .unwrap()
        .iter()
        .cloned()
        .collect()
}

fn get() -> Request<Bytes> {
    Request::get("/").body(Bytes::new()).unwrap()
}

/// O22, 94: the client of this crate discovers this server, at either URL.
#[test]
fn a_client_discovers_this_server() {
    for issuer in [
        "https://auth.example",
        "https://auth.example/a/b",
        "https://auth.example/a/",
    ] {
        let fixture = Fixture::of_issuer(issuer);
        let (server, paths) = (fixture.server.clone(), fixture.server.metadata_paths());
        let discovery = Discovery::new(issuer.parse().unwrap());
        let base = issuer.trim_end_matches('/');
        for document in WellKnown::ALL {
            let request = discovery.request(document);
            assert_eq!(request.uri().host(), Some("auth.example"));
            assert!(paths.iter().any(|path| path == request.uri().path()), "{issuer}");
            let provider = discovery.finish(&server.metadata(&request)).unwrap().unwrap();
            assert_eq!(provider.issuer().as_str(), issuer);
            assert_eq!(
                provider.jwks_uri().unwrap().to_string(),
                format!("{base}/.well-known/jwks.json")
            );
            assert_eq!(
                provider
                    .pushed_authorization_request_endpoint()
                    .unwrap()
                    .to_string(),
                format!("{base}/par")
            );
        }
    }
}
