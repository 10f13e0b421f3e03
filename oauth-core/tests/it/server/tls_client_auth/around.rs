//! Certificates beside other credentials, metadata and aliases.

use std::num::NonZeroU32;
use std::time::SystemTime;

use oauth_core::attempts::AttemptPolicy;
use oauth_core::dpop::{HEADER, Proof};
use oauth_core::jose::SigningKey;
use oauth_core::memory::{MemoryAttempts, MemoryReplays};
use oauth_core::ports::OsEntropy;
use oauth_core::store::SenderConstraint;
use serde_json::{Value, json as value};

use super::*;
use crate::server::fixture::{basic, change, redemption, web_request};

/// O6, O19, 5, 6, 12: a client has one method. A certificate beside a secret, right or wrong, is
/// refused without revealing whether the client is registered for certificates, and two other
/// methods stay refused.
#[tokio::test]
async fn a_certificate_beside_another_method_does_not_authenticate() {
    let fixture = fixture().await;
    let certificate = certified([dns("robot.example")]);
    let with = |headers: HeaderMap, pairs: &[(&str, &str)]| {
        let pairs = [&[CLIENT_CREDENTIALS], pairs].concat();
        fixture
            .server
            .token(over(post(headers, &pairs), Some(&certificate)))
    };
    let by_secret = [("client_id", "robot"), ("client_secret", "guessed")];
    let by_assertion = [("client_id", "robot"), ("client_assertion", "a.b.c")];
    let mismatch = "client_authentication_method_mismatch";
    assert_refused(&with(HeaderMap::new(), &by_secret).await, mismatch);
    assert_refused(&with(basic("robot"), &[]).await, mismatch);
    assert_refused(
        &with(HeaderMap::new(), &by_assertion).await,
        "unsupported_client_authentication",
    );
    let unknown = [("client_id", "unregistered"), ("client_secret", "guessed")];
    assert_refused(&with(HeaderMap::new(), &unknown).await, "client_unknown");
    for pairs in [by_secret, by_assertion] {
        let answer = with(basic("robot"), &pairs).await;
        assert_error(&answer, 400, "invalid_request");
        assert_eq!(reason(&answer), "several_client_authentications");
    }
}

/// O6, O19, 6, 12, MT2: a client with a secret may connect with any certificate, and cannot use one
/// in place of the secret.
#[tokio::test]
async fn certificate_does_not_replace_registered_method() {
    let fixture = fixture().await;
    let certificate = certified([dns("service.example"), subject("CN=service")]);
    assert_refused(
        &ask(&fixture, "service", Some(&certificate)).await,
        "client_authentication_method_mismatch",
    );
    let by_secret = post(basic("service"), &[CLIENT_CREDENTIALS]);
    Tokens::of(&fixture.server.token(over(by_secret, Some(&certificate))).await);
    // a public client may connect with any certificate
    let native = ask(&fixture, "native", Some(&certificate)).await;
    assert_eq!(reason(&native), "grant_type_not_allowed");
}

/// O19, 12: a method that the server does not offer is refused.
#[tokio::test]
async fn method_that_is_not_offered_is_refused() {
    let (of_robot, of_probe) = (certified([dns("robot.example")]), self_signed("of the probe"));
    let neither = fixture_with(|builder| builder.with_certificate_bound_tokens()).await;
    let names = fixture_with(|builder| builder.with_tls_client_auth()).await;
    let own = fixture_with(|builder| builder.with_self_signed_tls_client_auth()).await;
    let mismatch = "client_authentication_method_mismatch";
    for fixture in [&neither, &own] {
        assert_refused(&ask(fixture, "robot", Some(&of_robot)).await, mismatch);
    }
    for fixture in [&neither, &names] {
        assert_refused(&ask(fixture, "probe", Some(&of_probe)).await, mismatch);
    }
    Tokens::of(&ask(&names, "robot", Some(&of_robot)).await);
    Tokens::of(&ask(&own, "probe", Some(&of_probe)).await);
}

/// O27, 12, 14: failed certificates and secrets do not count for a client of `tls_client_auth`,
/// because a certificate cannot be guessed.
#[tokio::test]
async fn certificate_client_never_waits_for_failed_attempts() {
    let one = AttemptPolicy::new(NonZeroU32::MIN, Duration::from_secs(600));
    let fixture = fixture_with(|builder| {
        builder
            .with_tls_client_auth()
            .with_attempts(MemoryAttempts::new(), one)
    })
    .await;
    for _ in 0..3 {
        let other = certified([dns("other.example")]);
        let by_secret = post(basic("robot"), &[CLIENT_CREDENTIALS]);
        for answer in [
            ask(&fixture, "robot", Some(&other)).await,
            ask(&fixture, "robot", None).await,
            fixture.server.token(by_secret).await,
        ] {
            assert_ne!(answer.response.status(), 200);
        }
    }
    let by_secret = fixture
        .server
        .token(post(basic("robot"), &[CLIENT_CREDENTIALS]))
        .await;
    assert_eq!(by_secret.response.status(), 429);
    let own = certified([dns("robot.example")]);
    Tokens::of(&ask(&fixture, "robot", Some(&own)).await);
}

fn document(fixture: &Fixture) -> Value {
    let request = Request::get("/").body(Bytes::new()).unwrap();
    serde_json::from_slice(fixture.server.metadata(&request).body()).unwrap()
}

/// O19, O22, 12: the metadata name the offered methods and the mTLS aliases.
#[tokio::test]
async fn metadata_name_certificate_methods_and_aliases() {
    let told = document(
        &fixture_with(|builder| {
            builder
                .with_tls_client_auth()
                .with_self_signed_tls_client_auth()
                .with_mtls_endpoint_aliases("https://mtls.auth.example/t/")
        })
        .await,
    );
    let secrets = ["client_secret_basic", "client_secret_post"];
    let certificates = ["tls_client_auth", "self_signed_tls_client_auth"];
    for (endpoint, public) in [
        ("token", &["none"][..]),
        ("revocation", &["none"]),
        ("introspection", &[]),
    ] {
        assert_eq!(
            told[format!("{endpoint}_endpoint_auth_methods_supported")],
            value!([&secrets[..], &certificates, public].concat())
        );
    }
    assert_eq!(
        told["mtls_endpoint_aliases"],
        value!({
            "token_endpoint": "https://mtls.auth.example/t/token",
            "pushed_authorization_request_endpoint": "https://mtls.auth.example/t/par",
            "introspection_endpoint": "https://mtls.auth.example/t/oauth/introspect",
            "revocation_endpoint": "https://mtls.auth.example/t/oauth/revoke",
            "userinfo_endpoint": "https://mtls.auth.example/t/userinfo",
        })
    );
    // binding of tokens is offered separately
    assert_eq!(told["tls_client_certificate_bound_access_tokens"], false);
    let told = document(&fixture_with(|builder| builder.with_self_signed_tls_client_auth()).await);
    assert_eq!(
        told["introspection_endpoint_auth_methods_supported"],
        value!([secrets[0], secrets[1], "self_signed_tls_client_auth"])
    );
    assert_eq!(told["mtls_endpoint_aliases"], Value::Null);
}

/// O19, O20, 12, DP9: a DPoP proof may name the alias of its endpoint, and no URL of another
/// server.
#[tokio::test]
async fn proof_may_name_alias_of_endpoint() {
    let fixture = fixture_with(|builder| {
        builder
            .with_tls_client_auth()
            .with_replays(MemoryReplays::new())
            .with_mtls_endpoint_aliases("https://mtls.auth.example")
    })
    .await;
    let (key, own) = (
        SigningKey::generate_es256(&OsEntropy).unwrap(),
        certified([dns("robot.example")]),
    );
    let now: SystemTime = fixture.now();
    let ask = async |uri: &str| {
        let proof = Proof::new(http::Method::POST, uri.parse().unwrap(), &OsEntropy, now);
        let mut request = over(named("robot"), Some(&own));
        let proof = proof.sign(&key).unwrap().to_header();
        request.headers_mut().insert(HEADER, proof);
        let again = fixture.server.token(request.clone()).await;
        (again, fixture.server.token(request).await)
    };
    for uri in ["https://auth.example/token", "https://mtls.auth.example/token"] {
        let (answer, again) = ask(uri).await;
        assert_eq!(Tokens::of(&answer).body["token_type"], "DPoP", "{uri}");
        assert_eq!(reason(&again), "dpop_proof_replayed");
    }
    for uri in ["https://mtls.auth.example/par", "https://evil.example/token"] {
        assert_eq!(reason(&ask(uri).await.0), "dpop_proof_for_another_uri");
    }
}

/// O19, 12: the base of the aliases is a URL that could be an issuer.
#[test]
fn aliases_are_below_a_url() {
    for base in [
        "",
        "mtls.auth.example",
        "http://mtls.auth.example",
        "https://mtls.auth.example/?a",
    ] {
        let built = oauth_core::server::AuthorizationServer::builder("https://auth.example")
            .with_mtls_endpoint_aliases(base)
            .build();
        let mistakes = built.unwrap_err().to_string();
        assert!(mistakes.contains("mtls endpoint aliases"), "{base}: {mistakes}");
    }
}

/// O19, 12, MT2, MT3: bound tokens of a client with a certificate are refreshed with its
/// certificate, and after a rotation with the next one.
#[tokio::test]
async fn a_refresh_token_outlives_the_certificate_of_its_client() {
    let fixture =
        fixture_with(|builder| builder.with_tls_client_auth().with_certificate_bound_tokens()).await;
    fixture
        .change_client("robot", |robot| {
            robot.with_sender_constraint(SenderConstraint::MutualTls)
        })
        .await;
    let request = web_request();
    let code = fixture
        .code_for(&change(request, "client_id", Some("robot")))
        .await;
    let mut last: Option<String> = None;
    let mut bound = Vec::new();
    for der in ["of last year", "of this year"] {
        let certificate = self_signed(der).with_verified_names([dns("robot.example")]);
        let pairs = match &last {
            None => redemption(&code),
            Some(token) => vec![("grant_type", "refresh_token"), ("refresh_token", token)],
        };
        let pairs = [pairs, vec![("client_id", "robot")]].concat();
        let request = over(post(HeaderMap::new(), &pairs), Some(&certificate));
        let tokens = Tokens::of(&fixture.server.token(request).await);
        let told = fixture.introspect_as("api", &[("token", &tokens.access)]).await;
        assert_eq!(told["cnf"], value!(certificate.confirmation()));
        bound.push(told["cnf"].clone());
        last = Some(tokens.refresh);
    }
    assert_ne!(bound[0], bound[1]);
}
