//! The UserInfo endpoint, and the claims of ID tokens and introspection.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{Method, Request};
use oauth_core::grant::AccessTokenFormat;
use oauth_core::jose::{IdTokenClaims, IdTokenPolicy};
use oauth_core::memory::MemoryTokens;
use oauth_core::server::EndpointResponse;
use serde_json::{Value, json};

use super::fixture::{self, Fixture, ISSUER, Tokens, change, codes, reason, web_request, with_bearer};

const FORM: &str = "application/x-www-form-urlencoded";

fn request(method: Method, uri: &str, bearer: Option<&str>, form: Option<&str>) -> Request<Bytes> {
    let mut request = Request::builder().method(method).uri(uri);
    if let Some(token) = bearer {
        request = request.header(AUTHORIZATION, format!("Bearer {token}"));
    }
    if form.is_some() {
        request = request.header(CONTENT_TYPE, FORM);
    }
    request.body(form.unwrap_or_default().to_owned().into()).unwrap()
}

async fn asked(fixture: &Fixture, token: &str) -> EndpointResponse {
    fixture.server.userinfo(with_bearer(token)).await
}

async fn told(fixture: &Fixture, token: &str) -> Value {
    let answer = asked(fixture, token).await;
    assert_eq!(answer.response.status(), 200, "{answer:?}");
    assert!(answer.events.is_empty());
    fixture::json(&answer.response)
}

/// Checks that the body is empty; returns the challenge.
fn challenge(answer: &EndpointResponse) -> &str {
    assert!(answer.response.body().is_empty());
    assert_eq!(answer.response.headers()["cache-control"], "no-store");
    assert_eq!(codes(&answer.events), ["request_refused"]);
    answer.response.headers()["www-authenticate"].to_str().unwrap()
}

/// O18, 99, 100: the endpoint returns the claims of the user, for a token in the header or the
/// form.
#[tokio::test]
async fn userinfo_returns_claims_of_user() {
    let fixture = Fixture::new();
    let token = fixture.sign_in().await.access;
    let ada = json!({ "sub": "ada", "email": "ada@example.com", "name": "Ada Lovelace" });
    assert_eq!(told(&fixture, &token).await, ada);
    let mut lower_case = request(Method::GET, "/userinfo", None, None);
    let bearer = format!("bearer {token}").parse().unwrap();
    lower_case.headers_mut().insert(AUTHORIZATION, bearer);
    let form = format!("access_token={token}");
    for request in [
        lower_case,
        request(Method::POST, "/userinfo", Some(&token), None),
        request(Method::POST, "/userinfo", Some(&token), Some("extra=foobar")),
        request(Method::POST, "/userinfo", None, Some(&form)),
    ] {
        let answer = fixture.server.userinfo(request).await;
        assert_eq!(answer.response.status(), 200, "{answer:?}");
        assert_eq!(fixture::json(&answer.response), ada);
    }
}

/// O14, O18: an opaque token works as a JWT does, and ends with its family.
#[tokio::test]
async fn an_opaque_token_opens_userinfo() {
    let fixture = Fixture::with(Arc::new(MemoryTokens::new()), |builder| {
        builder.with_access_token_format(AccessTokenFormat::Opaque)
    });
    let tokens = fixture.sign_in().await;
    assert_eq!(told(&fixture, &tokens.access).await["sub"], "ada");
    let _revoked = fixture.revoke_as("web", &[("token", &tokens.refresh)]).await;
    assert_eq!(
        reason(&asked(&fixture, &tokens.access).await),
        "access_token_revoked"
    );
}

/// O18, 3, 99: two tokens, a token in the query or in the body of a GET, and a malformed one are
/// refused.
#[tokio::test]
async fn userinfo_token_in_query_or_twice_is_refused() {
    let fixture = Fixture::new();
    let token = fixture.sign_in().await.access;
    let (form, query) = (
        format!("access_token={token}"),
        format!("/userinfo?access_token={token}"),
    );
    let twice = format!("{form}&{form}");
    let long = format!("{form}&pad={}", "x".repeat(64 * 1024));
    let mut two_headers = request(Method::GET, "/userinfo", Some(&token), None);
    let bearer = two_headers.headers()[AUTHORIZATION].clone();
    two_headers.headers_mut().append(AUTHORIZATION, bearer);
    for (request, status, expected) in [
        (
            request(Method::GET, &query, None, None),
            400,
            "access_token_malformed",
        ),
        (
            request(Method::GET, &query, Some(&token), None),
            400,
            "access_token_malformed",
        ),
        (
            request(Method::POST, "/userinfo", Some(&token), Some(&form)),
            400,
            "access_token_malformed",
        ),
        (
            request(Method::GET, "/userinfo", Some("a b"), None),
            400,
            "access_token_malformed",
        ),
        (two_headers, 400, "access_token_malformed"),
        (
            request(Method::POST, "/userinfo", None, Some(&twice)),
            400,
            "parameter_repeated",
        ),
        (
            request(Method::POST, "/userinfo", None, Some("access_token=%ff")),
            400,
            "malformed_parameters",
        ),
        (
            request(Method::POST, "/userinfo", None, Some(&long)),
            413,
            "body_too_large",
        ),
    ] {
        let answer = fixture.server.userinfo(request).await;
        assert_eq!(answer.response.status(), status, "{expected}");
        assert_eq!(reason(&answer), expected);
        let expected = format!("Bearer realm=\"{ISSUER}\", error=\"invalid_request\"");
        assert_eq!(challenge(&answer), expected);
    }
}

/// O18, 99, 100: a request without a token gets a challenge without an error.
#[tokio::test]
async fn userinfo_without_a_token_is_challenged_without_an_error() {
    let fixture = Fixture::new();
    let token = fixture.sign_in().await.access;
    let form = format!("access_token={token}");
    let mut text = request(Method::POST, "/userinfo", None, Some(&form));
    text.headers_mut()
        .insert(CONTENT_TYPE, "text/plain".parse().unwrap());
    let mut basic = request(Method::GET, "/userinfo", None, None);
    *basic.headers_mut() = fixture::basic("web");
    for request in [
        request(Method::GET, "/userinfo", None, None),
        request(Method::GET, "/userinfo", None, Some(&form)),
        request(Method::POST, "/userinfo", None, Some("access_token=")),
        text,
        basic,
    ] {
        let answer = fixture.server.userinfo(request).await;
        assert_eq!(answer.response.status(), 401);
        assert_eq!(challenge(&answer), format!("Bearer realm=\"{ISSUER}\""));
        assert_eq!(reason(&answer), "access_token_missing");
    }
    let answer = fixture
        .server
        .userinfo(request(Method::PUT, "/userinfo", Some(&token), None))
        .await;
    assert_eq!(answer.response.status(), 405);
    assert_eq!(answer.response.headers()["allow"], "GET, HEAD, POST");
}

/// O18, 61, 62, 63, 74, 102: every invalid token gets the same response.
#[tokio::test]
async fn invalid_tokens_get_same_userinfo_refusal() {
    let fixture = Fixture::new();
    let refused = async |token: &str, expected: &str| {
        let answer = asked(&fixture, token).await;
        assert_eq!(answer.response.status(), 401, "{expected}");
        let invalid = format!("Bearer realm=\"{ISSUER}\", error=\"invalid_token\"");
        assert_eq!(challenge(&answer), invalid, "{expected}");
        assert_eq!(reason(&answer), expected);
    };
    let tokens = fixture.sign_in().await;
    refused("unknown", "access_token_unknown").await;
    refused(&tokens.refresh, "access_token_unknown").await;
    refused(tokens.body["id_token"].as_str().unwrap(), "access_token_unknown").await;
    told(&fixture, &tokens.access).await;
    let _revoked = fixture.revoke_as("web", &[("token", &tokens.access)]).await;
    refused(&tokens.access, "access_token_revoked").await;

    let tokens = fixture.sign_in().await;
    let _revoked = fixture.revoke_as("web", &[("token", &tokens.refresh)]).await;
    refused(&tokens.access, "access_token_revoked").await;

    let tokens = fixture.sign_in().await;
    fixture
        .clock
        .advance(Duration::from_secs(600) - Duration::from_nanos(1));
    told(&fixture, &tokens.access).await;
    fixture.clock.advance(Duration::from_nanos(1));
    refused(&tokens.access, "access_token_expired").await;

    let tokens = fixture.sign_in().await;
    assert!(fixture.clients.remove(&"web".parse().unwrap()));
    refused(&tokens.access, "client_unknown").await;
}

/// O18, 101: the endpoint requires the scope `openid`: tokens of a client itself and narrowed
/// tokens are refused.
#[tokio::test]
async fn userinfo_needs_the_scope_openid() {
    let fixture = Fixture::new();
    let itself = fixture
        .token_as("service", &vec![("grant_type", "client_credentials")])
        .await;
    let narrowed = fixture
        .token(&vec![
            ("grant_type", "refresh_token"),
            ("refresh_token", &fixture.sign_in().await.refresh),
            ("scope", "read:charges"),
        ])
        .await;
    for answer in [itself, narrowed] {
        let token = Tokens::of(&answer).access;
        let answer = asked(&fixture, &token).await;
        assert_eq!(answer.response.status(), 403);
        let expected = format!("Bearer realm=\"{ISSUER}\", error=\"insufficient_scope\", scope=\"openid\"");
        assert_eq!(challenge(&answer), expected);
        assert_eq!(reason(&answer), "openid_missing");
    }
}

/// O12, O18: with the policy, each claim needs its scope: in the ID token, at the UserInfo endpoint
/// and in introspection.
#[tokio::test]
async fn claims_can_be_tied_to_scopes() {
    let fixture = Fixture::with(Arc::new(MemoryTokens::new()), |builder| {
        builder.with_claims_by_scope()
    });
    fixture
        .change_client("web", |web| {
            web.with_scopes("openid email profile".parse().unwrap())
        })
        .await;
    let (email, name) = (Some("ada@example.com"), Some("Ada Lovelace"));
    for (scope, email, name) in [
        ("openid", None, None),
        ("openid email", email, None),
        ("openid profile", None, name),
        ("email openid profile", email, name),
    ] {
        let code = fixture
            .code_for(&change(web_request(), "scope", Some(scope)))
            .await;
        let tokens = Tokens::of(&fixture.redeem(&code).await);
        let policy = IdTokenPolicy::new(ISSUER.parse().unwrap(), "web".parse().unwrap());
        let id_token = tokens.body["id_token"].as_str().unwrap();
        let claims = IdTokenClaims::verify(id_token, &fixture.keys(), &policy, fixture.now()).unwrap();
        assert_eq!(
            (claims.email.as_deref(), claims.name.as_deref()),
            (email, name),
            "{scope}"
        );
        let told = told(&fixture, &tokens.access).await;
        assert_eq!(
            (told["email"].as_str(), told["name"].as_str()),
            (email, name),
            "{scope}"
        );
        for token in [&tokens.access, &tokens.refresh] {
            let username = fixture.introspect(token).await["username"].clone();
            assert_eq!(username.as_str(), email.or(name), "{scope}");
        }
    }
}

/// O12, O18: a narrowed token shows fewer claims than the grant allows.
#[tokio::test]
async fn narrowed_token_shows_fewer_claims() {
    let fixture = Fixture::with(Arc::new(MemoryTokens::new()), |builder| {
        builder.with_claims_by_scope()
    });
    let code = fixture
        .code_for(&change(web_request(), "scope", Some("openid email")))
        .await;
    let refresh = Tokens::of(&fixture.redeem(&code).await).refresh;
    let narrow = [
        ("grant_type", "refresh_token"),
        ("refresh_token", &refresh),
        ("scope", "openid"),
    ];
    let tokens = Tokens::of(&fixture.token(&narrow.to_vec()).await);
    assert_eq!(told(&fixture, &tokens.access).await, json!({ "sub": "ada" }));
    let policy = IdTokenPolicy::new(ISSUER.parse().unwrap(), "web".parse().unwrap());
    let id_token = tokens.body["id_token"].as_str().unwrap();
    let claims = IdTokenClaims::verify(id_token, &fixture.keys(), &policy, fixture.now()).unwrap();
    assert_eq!(claims.email, None);
    assert!(fixture.introspect(&tokens.access).await.get("username").is_none());
}
