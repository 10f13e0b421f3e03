//! Redeeming authorization codes.

use std::time::Duration;

use oauth_core::jose::{AccessTokenClaims, AccessTokenPolicy, IdTokenClaims, IdTokenPolicy};
use oauth_core::vocabulary::{Scopes, Subject};

use super::fixture::{
    API, CALLBACK, Fixture, ISSUER, Tokens, assert_error, basic, change, codes, json, post, reason,
    redemption, web_request, wrong_verifier,
};

/// O6, O7, O8, 1, 3, 35, 38, 39: a redemption with the verifier of RFC 7636 appendix B gives the
/// complete token response.
#[tokio::test]
async fn code_is_redeemed_for_tokens() {
    let fixture = Fixture::new();
    let code = fixture.code().await;
    let answer = fixture.redeem(&code).await;
    let tokens = Tokens::of(&answer);
    assert_eq!(tokens.body["token_type"], "Bearer");
    assert_eq!(tokens.body["expires_in"], 600);
    assert_eq!(tokens.body["scope"], "openid read:charges write:charges");
    assert!(tokens.refresh.starts_with("rt_") && tokens.refresh.len() == 46);
    assert_eq!(answer.response.headers()["pragma"], "no-cache");
    assert_eq!(codes(&answer.events), ["tokens_issued"]);
    let mut names: Vec<_> = tokens
        .body
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "access_token",
            "expires_in",
            "id_token",
            "refresh_token",
            "scope",
            "token_type"
        ]
    );
}

/// O8: the token response to the byte: `scope` is one string, `expires_in` a number.
#[tokio::test]
async fn token_response_matches_to_the_byte() {
    let fixture = Fixture::new();
    let answer = fixture
        .token_as("service", &vec![("grant_type", "client_credentials")])
        .await;
    let access = Tokens::of(&answer).access;
    let expected = format!(
        r#"{{"access_token":"{access}","token_type":"Bearer","expires_in":600,"scope":"read:charges write:charges"}}"#
    );
    assert_eq!(answer.response.body(), expected.as_bytes());
}

/// O14: the access token is an `at+jwt` for the API, with a unique `jti`.
#[tokio::test]
async fn the_access_token_is_a_jwt_for_the_api() {
    let fixture = Fixture::new();
    let tokens = fixture.sign_in().await;
    let policy = AccessTokenPolicy::new(ISSUER.parse().unwrap(), API.parse().unwrap());
    let claims = AccessTokenClaims::verify(&tokens.access, &fixture.keys(), &policy, fixture.now()).unwrap();
    assert_eq!(claims.terms.subject.as_str(), "ada");
    assert_eq!(claims.terms.client_id.as_str(), "web");
    assert_eq!(
        claims.terms.scopes.to_string(),
        "openid read:charges write:charges"
    );
    assert_eq!(claims.terms.expires_at, fixture.now() + Duration::from_secs(600));
    assert_eq!(claims.auth_time, Some(fixture.now() - Duration::from_secs(5)));
    let other = fixture.sign_in().await;
    let other = AccessTokenClaims::verify(&other.access, &fixture.keys(), &policy, fixture.now()).unwrap();
    assert_ne!(claims.jti, other.jti);
}

/// O18: the ID token names the user, is for this client, and is no access token.
#[tokio::test]
async fn the_id_token_names_the_user_to_the_client() {
    let fixture = Fixture::new();
    let tokens = fixture.sign_in().await;
    let id_token = tokens.body["id_token"].as_str().unwrap();
    let policy = IdTokenPolicy::new(ISSUER.parse().unwrap(), "web".parse().unwrap())
        .with_nonce("n-0S6_WzA2Mj".parse().unwrap())
        .with_access_token(tokens.access.parse().unwrap());
    let claims = IdTokenClaims::verify(id_token, &fixture.keys(), &policy, fixture.now()).unwrap();
    assert_eq!(claims.subject.as_str(), "ada");
    assert_eq!(claims.email.as_deref(), Some("ada@example.com"));
    assert_eq!(claims.name.as_deref(), Some("Ada Lovelace"));
    assert_eq!(claims.auth_time, Some(fixture.now() - Duration::from_secs(5)));

    let policy = AccessTokenPolicy::new(ISSUER.parse().unwrap(), "web".parse().unwrap());
    assert!(AccessTokenClaims::verify(id_token, &fixture.keys(), &policy, fixture.now()).is_err());
    assert!(!fixture.is_active(id_token).await);
}

/// O8: without `openid` there is no ID token, without the refresh grant no refresh token.
#[tokio::test]
async fn an_id_token_needs_openid_and_a_refresh_token_its_grant() {
    let fixture = Fixture::new();
    let request = change(web_request(), "scope", Some("read:charges"));
    let code = fixture
        .code_for(&change(request, "client_id", Some("once")))
        .await;
    let tokens = Tokens::of(&fixture.token_as("once", &redemption(&code)).await);
    assert!(tokens.body.get("id_token").is_none());
    assert!(tokens.body.get("refresh_token").is_none());
    assert!(!tokens.access.is_empty());
}

/// O6, 47, 49: scopes that the client has lost since the consent are not granted; if none is left,
/// the code is refused and not used up.
#[tokio::test]
async fn withdrawn_scopes_are_not_granted_for_code() {
    let fixture = Fixture::new();
    let allow = async |scopes: &str| {
        let scopes: Scopes = scopes.parse().unwrap();
        fixture.change_client("web", |web| web.with_scopes(scopes)).await;
    };
    let code = fixture.code().await;
    allow("email").await;
    let answer = fixture.redeem(&code).await;
    assert_error(&answer, 400, "invalid_scope");
    assert_eq!(reason(&answer), "scope_exceeded");
    allow("read:charges").await;
    let tokens = Tokens::of(&fixture.redeem(&code).await);
    assert_eq!(tokens.body["scope"], "read:charges");
    assert_eq!(fixture.introspect(&tokens.access).await["scope"], "read:charges");
    assert!(tokens.body.get("id_token").is_none());
}

/// O6, 13: a public client redeems with `client_id` and PKCE.
#[tokio::test]
async fn a_public_client_redeems_without_a_secret() {
    let fixture = Fixture::new();
    let uri = "http://127.0.0.1:51004/callback";
    let request = change(
        change(web_request(), "client_id", Some("native")),
        "redirect_uri",
        Some(uri),
    );
    let code = fixture.code_for(&request).await;
    let pairs = change(
        redemption(&code),
        "redirect_uri",
        Some("http://127.0.0.1:51005/callback"),
    );
    let pairs = [pairs, vec![("client_id", "native")]].concat();
    let answer = fixture.server.token(post(http::HeaderMap::new(), &pairs)).await;
    assert_eq!(reason(&answer), "redirect_uri_mismatch");
    let pairs = change(pairs, "redirect_uri", Some(uri));
    Tokens::of(&fixture.server.token(post(http::HeaderMap::new(), &pairs)).await);
}

/// O6: `redirect_uri` is optional, and must be equal if it is sent.
#[tokio::test]
async fn a_redirect_uri_is_optional_and_exact() {
    let fixture = Fixture::new();
    let code = fixture.code().await;
    for uri in [
        "https://app.example/callback",
        "https://app.example/callback?tenant=1#",
        "https://evil.com",
    ] {
        let answer = fixture
            .token(&change(redemption(&code), "redirect_uri", Some(uri)))
            .await;
        assert_error(&answer, 400, "invalid_grant");
        assert_eq!(reason(&answer), "redirect_uri_mismatch");
    }
    Tokens::of(
        &fixture
            .token(&change(redemption(&code), "redirect_uri", None))
            .await,
    );
}

/// O6, O7, 36, 39, 43: a missing, malformed or wrong verifier is refused and does not consume the
/// code.
#[tokio::test]
async fn wrong_verifier_is_refused_without_consuming_code() {
    let fixture = Fixture::new();
    let code = fixture.code().await;
    let wrong = wrong_verifier();
    let (short, long) = ("v".repeat(42), "v".repeat(129));
    for (verifier, expected) in [
        (None, "code_verifier_missing"),
        (Some(""), "code_verifier_missing"),
        (Some(wrong.expose()), "code_verifier_mismatch"),
        (Some(super::fixture::CHALLENGE), "code_verifier_mismatch"),
        (Some(&*short), "code_verifier_malformed"),
        (Some(&*long), "code_verifier_malformed"),
        (
            Some("dBjftJeZ4CVP+mB92K27uhbUJU1p1r/wW1gFWFOEjXk"),
            "code_verifier_malformed",
        ),
    ] {
        let answer = fixture
            .token(&change(redemption(&code), "code_verifier", verifier))
            .await;
        assert_error(&answer, 400, "invalid_grant");
        assert_eq!(reason(&answer), expected, "{verifier:?}");
    }
    Tokens::of(&fixture.redeem(&code).await);
}

/// O6, 35: a code expires after 60 seconds, to the nanosecond.
#[tokio::test]
async fn a_code_expires_after_sixty_seconds() {
    let fixture = Fixture::new();
    let (early, late) = (fixture.code().await, fixture.code().await);
    fixture
        .clock
        .advance(Duration::from_secs(60) - Duration::from_nanos(1));
    Tokens::of(&fixture.redeem(&early).await);
    fixture.clock.advance(Duration::from_nanos(1));
    let answer = fixture.redeem(&late).await;
    assert_error(&answer, 400, "invalid_grant");
    assert_eq!(reason(&answer), "code_expired");
}

/// O6, 43: another client can neither redeem a code nor consume it.
#[tokio::test]
async fn other_client_cannot_use_or_consume_code() {
    let fixture = Fixture::new();
    let code = fixture.code().await;
    let answer = fixture.token_as("other", &redemption(&code)).await;
    assert_error(&answer, 400, "invalid_grant");
    assert_eq!(reason(&answer), "code_of_another_client");
    Tokens::of(&fixture.redeem(&code).await);
}

/// O6, 42: a replay that fails another check revokes nothing, so that the code alone cannot end the
/// sign-in of its owner.
#[tokio::test]
async fn replay_with_other_fault_revokes_nothing() {
    let fixture = Fixture::new();
    let code = fixture.code().await;
    let tokens = Tokens::of(&fixture.redeem(&code).await);
    let wrong = wrong_verifier();
    let attacks = [
        fixture.token_as("other", &redemption(&code)).await,
        fixture
            .token(&change(redemption(&code), "code_verifier", None))
            .await,
        fixture
            .token(&change(redemption(&code), "code_verifier", Some(wrong.expose())))
            .await,
        fixture
            .token(&change(
                redemption(&code),
                "redirect_uri",
                Some("https://evil.com"),
            ))
            .await,
    ];
    for answer in &attacks {
        assert_error(answer, 400, "invalid_grant");
        assert_eq!(codes(&answer.events), ["request_refused"]);
    }
    assert!(fixture.is_active(&tokens.access).await);
    assert!(fixture.is_active(&tokens.refresh).await);
}

/// O6, 41: a replay with valid credentials revokes the family, because two parties have the code.
#[tokio::test]
async fn valid_replay_revokes_family() {
    for late in [1, 61, 3_600, 29 * 24 * 3_600] {
        let fixture = Fixture::new();
        let code = fixture.code().await;
        let first = Tokens::of(&fixture.redeem(&code).await);
        let second = Tokens::of(&fixture.refresh(&first.refresh).await);
        let bystander = fixture.sign_in().await;
        fixture.clock.advance(Duration::from_secs(late));
        fixture.tokens.purge_tokens(fixture.now()).await.unwrap();
        let answer = fixture.redeem(&code).await;
        assert_error(&answer, 400, "invalid_grant");
        assert_eq!(
            codes(&answer.events),
            ["code_replayed", "family_revoked", "request_refused"],
            "after {late} s"
        );
        for token in [&first.access, &second.access, &first.refresh, &second.refresh] {
            assert!(!fixture.is_active(token).await);
        }
        assert_error(&fixture.refresh(&second.refresh).await, 400, "invalid_grant");
        if late < 600 {
            assert!(fixture.is_active(&bystander.access).await);
        }
        // a third redemption finds nothing left to revoke
        assert_eq!(
            codes(&fixture.redeem(&code).await.events),
            ["code_replayed", "request_refused"]
        );
    }
}

/// O6, O26, 56: every fault of a code gets the same response.
#[tokio::test]
async fn refusals_of_a_code_are_indistinguishable() {
    let fixture = Fixture::new();
    let code = fixture.code().await;
    let spent = fixture.code().await;
    Tokens::of(&fixture.redeem(&spent).await);
    let answers = [
        fixture.redeem("ac_unknown").await,
        fixture.redeem(&spent).await,
        fixture.token_as("other", &redemption(&code)).await,
        fixture
            .token(&change(
                redemption(&code),
                "redirect_uri",
                Some("https://evil.com"),
            ))
            .await,
        fixture
            .token(&change(redemption(&code), "code_verifier", None))
            .await,
        fixture.redeem("caf\u{e9}").await,
    ];
    for answer in &answers {
        assert_error(answer, 400, "invalid_grant");
        assert_eq!(
            json(&answer.response),
            serde_json::json!({ "error": "invalid_grant" })
        );
    }
}

/// O3, O6: the redirect URI of the token request must be that of the authorization request.
#[tokio::test]
async fn redirect_uri_must_be_that_of_request() {
    let fixture = Fixture::new();
    let other = "https://app.example/second";
    let registered = oauth_core::vocabulary::RegisteredRedirectUri::exact(other).unwrap();
    fixture
        .change_client("web", |web| web.with_redirect_uri(registered))
        .await;
    let code = fixture
        .code_for(&change(web_request(), "redirect_uri", Some(other)))
        .await;
    let answer = fixture
        .token(&change(redemption(&code), "redirect_uri", Some(CALLBACK)))
        .await;
    assert_eq!(reason(&answer), "redirect_uri_mismatch");
    Tokens::of(
        &fixture
            .token(&change(redemption(&code), "redirect_uri", Some(other)))
            .await,
    );
}

/// O6, 3: the code is read from the form, never from the query.
#[tokio::test]
async fn a_query_is_not_read() {
    let fixture = Fixture::new();
    let code = fixture.code().await;
    let query = oauth_core::params::encode(redemption(&code));
    let mut request = post(basic("web"), &[("grant_type", "authorization_code")]);
    *request.uri_mut() = format!("/token?{query}").parse().unwrap();
    assert_error(&fixture.server.token(request).await, 400, "invalid_request");
}

/// O12: the subject of a token is the one that the host set.
#[tokio::test]
async fn introspection_names_the_user() {
    let fixture = Fixture::new();
    let tokens = fixture.sign_in().await;
    let subject: Subject = "ada".parse().unwrap();
    assert_eq!(fixture.introspect(&tokens.access).await["sub"], subject.as_str());
}
