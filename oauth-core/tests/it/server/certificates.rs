//! Tokens that are bound to the certificate of their client.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Request};
use oauth_core::memory::MemoryTokens;
use oauth_core::mtls::ClientCertificate;
use oauth_core::server::EndpointResponse;
use oauth_core::store::SenderConstraint;
use serde_json::{Value, json};

use super::fixture::{
    CHALLENGE, Fixture, SCOPE, Tokens, VERIFIER, assert_error, basic, codes, post, reason, redemption,
    with_bearer,
};

async fn fixture() -> Fixture {
    let tokens = Arc::new(MemoryTokens::new());
    let fixture = Fixture::with(tokens, |builder| builder.with_certificate_bound_tokens());
    for id in ["web", "native"] {
        fixture
            .change_client(id, |client| {
                client.with_sender_constraint(SenderConstraint::MutualTls)
            })
            .await;
    }
    fixture
}

fn over(mut request: Request<Bytes>, certificate: Option<&[u8]>) -> Request<Bytes> {
    if let Some(der) = certificate {
        request.extensions_mut().insert(ClientCertificate::from_der(der));
    }
    request
}

async fn redeem(fixture: &Fixture, code: &str, certificate: Option<&[u8]>) -> EndpointResponse {
    let request = post(basic("web"), &redemption(code));
    fixture.server.token(over(request, certificate)).await
}

/// O12, O19, MT1, MT2: a client that is registered for it gets tokens bound to its certificate, and
/// none without one. Tokens of other clients are not bound.
#[tokio::test]
async fn tokens_are_bound_to_the_certificate_of_their_client() {
    let fixture = fixture().await;
    let code = fixture.code().await;
    let answer = redeem(&fixture, &code, None).await;
    assert_error(&answer, 400, "invalid_grant");
    assert_eq!(reason(&answer), "sender_unconfirmed");
    let tokens = Tokens::of(&redeem(&fixture, &code, Some(b"own")).await);
    assert_eq!(tokens.body["token_type"], "Bearer");
    let cnf = json!(ClientCertificate::from_der(b"own").confirmation());
    let told = fixture.introspect(&tokens.access).await;
    assert_eq!((&told["token_type"], &told["cnf"]), (&json!("Bearer"), &cnf));

    let pairs = [("grant_type", "client_credentials")];
    let answer = fixture
        .server
        .token(over(post(basic("service"), &pairs), Some(b"own")))
        .await;
    let told = fixture
        .introspect_as("api", &[("token", &Tokens::of(&answer).access)])
        .await;
    assert_eq!((&told["active"], &told["cnf"]), (&json!(true), &Value::Null));

    let name = "tls_client_certificate_bound_access_tokens";
    for (fixture, expected) in [(fixture, true), (Fixture::new(), false)] {
        let request = Request::get("/").body(Bytes::new()).unwrap();
        let document = fixture.server.metadata(&request);
        let document: Value = serde_json::from_slice(document.body()).unwrap();
        assert_eq!(document[name], expected);
    }
}

/// O19, MT2: a server without mutual TLS ignores certificates.
#[tokio::test]
async fn certificate_is_ignored_without_mutual_tls() {
    let fixture = Fixture::new();
    fixture
        .change_client("web", |client| {
            client.with_sender_constraint(SenderConstraint::MutualTls)
        })
        .await;
    let code = fixture.code().await;
    let answer = redeem(&fixture, &code, Some(b"own")).await;
    assert_eq!(reason(&answer), "sender_unconfirmed");
}

/// O18, O19, MT3: a bound token opens the UserInfo endpoint only with its certificate.
#[tokio::test]
async fn userinfo_needs_certificate_of_bound_token() {
    let fixture = fixture().await;
    let code = fixture.code().await;
    let token = Tokens::of(&redeem(&fixture, &code, Some(b"own")).await).access;
    let ask = async |certificate: Option<&[u8]>| {
        fixture
            .server
            .userinfo(over(with_bearer(&token), certificate))
            .await
    };
    assert_eq!(ask(Some(b"own")).await.response.status(), 200);
    for certificate in [None, Some(&b"other"[..])] {
        let answer = ask(certificate).await;
        assert_eq!(answer.response.status(), 401);
        assert_eq!(reason(&answer), "access_token_of_another_certificate");
    }
}

/// O19, 50, MT4: the refresh token of a public client works only with its certificate.
#[tokio::test]
async fn stolen_refresh_token_needs_its_certificate() {
    let fixture = fixture().await;
    let code = fixture
        .code_for(&vec![
            ("response_type", "code"),
            ("client_id", "native"),
            ("redirect_uri", "http://127.0.0.1:51004/callback"),
            ("scope", SCOPE),
            ("state", "s"),
            ("nonce", "n"),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
        ])
        .await;
    let ask = async |pairs: &[(&str, &str)], certificate: Option<&[u8]>| {
        let pairs = [pairs, &[("client_id", "native")]].concat();
        let request = over(post(HeaderMap::new(), &pairs), certificate);
        fixture.server.token(request).await
    };
    let code = [
        ("grant_type", "authorization_code"),
        ("code", &code),
        ("code_verifier", VERIFIER),
    ];
    let tokens = Tokens::of(&ask(&code, Some(b"own")).await);
    let refresh = [
        ("grant_type", "refresh_token"),
        ("refresh_token", &tokens.refresh),
    ];
    for certificate in [None, Some(&b"other"[..])] {
        let answer = ask(&refresh, certificate).await;
        assert_error(&answer, 400, "invalid_grant");
        assert_eq!(reason(&answer), "refresh_token_of_another_key");
        assert_eq!(codes(&answer.events), ["request_refused"]);
    }
    assert_eq!(ask(&refresh, Some(b"own")).await.response.status(), 200);
}
