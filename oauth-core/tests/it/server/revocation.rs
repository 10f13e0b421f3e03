//! The revocation endpoint.

use http::HeaderMap;

use super::fixture::{
    Fixture, Tokens, assert_error, basic, change, codes, post, reason, redemption, web_request,
};

/// O13, 63: revoking a refresh token ends its family before the response.
#[tokio::test]
async fn revoking_a_refresh_token_ends_the_chain() {
    for (revoked, hint) in [
        (0, "refresh_token"),
        (1, "refresh_token"),
        (1, "access_token"),
        (0, ""),
    ] {
        let fixture = Fixture::new();
        let first = fixture.sign_in().await;
        let second = Tokens::of(&fixture.refresh(&first.refresh).await);
        let token = [&first.refresh, &second.refresh][revoked];
        let answer = fixture
            .revoke_as("web", &[("token", token), ("token_type_hint", hint)])
            .await;
        assert_eq!(answer.response.status(), 200);
        // simple-oauth2 refuses a response without JSON
        assert_eq!(answer.response.headers()["content-type"], "application/json");
        assert_eq!(answer.response.body(), "{}");
        assert_eq!(answer.response.headers()["cache-control"], "no-store");
        assert_eq!(codes(&answer.events), ["family_revoked"]);
        for token in [&first.access, &first.refresh, &second.access, &second.refresh] {
            assert!(!fixture.is_active(token).await);
        }
        assert_error(&fixture.refresh(&second.refresh).await, 400, "invalid_grant");
    }
}

/// O13, O14, 62: revoking a JWT access token ends only that token, as introspection shows.
#[tokio::test]
async fn revoking_an_access_token_ends_it_alone() {
    let fixture = Fixture::new();
    let tokens = fixture.sign_in().await;
    let answer = fixture.revoke_as("web", &[("token", &tokens.access)]).await;
    assert_eq!(
        (answer.response.status().as_u16(), codes(&answer.events)),
        (200, vec!["access_token_revoked"])
    );
    assert!(!fixture.is_active(&tokens.access).await);
    assert!(fixture.is_active(&tokens.refresh).await);
    let service = Tokens::of(
        &fixture
            .token_as("service", &vec![("grant_type", "client_credentials")])
            .await,
    );
    assert_eq!(
        fixture
            .revoke_as("service", &[("token", &service.access)])
            .await
            .response
            .status(),
        200
    );
    let told = fixture.introspect_as("api", &[("token", &service.access)]).await;
    assert_eq!(told, serde_json::json!({ "active": false }));
}

/// O13, 63: unknown, malformed and already revoked tokens get 200.
#[tokio::test]
async fn any_token_is_answered_by_200() {
    let fixture = Fixture::new();
    let tokens = fixture.sign_in().await;
    assert_eq!(
        fixture
            .revoke_as("web", &[("token", &tokens.refresh)])
            .await
            .response
            .status(),
        200
    );
    for token in [
        tokens.refresh.as_str(),
        &tokens.access,
        "unknown",
        "caf\u{e9}",
        "\0",
    ] {
        for hint in ["refresh_token", "access_token", "saml2"] {
            let answer = fixture
                .revoke_as("web", &[("token", token), ("token_type_hint", hint)])
                .await;
            assert_eq!(answer.response.status(), 200, "{token:.20}");
            assert!(
                codes(&answer.events)
                    .iter()
                    .all(|code| *code == "access_token_revoked")
            );
        }
    }
}

/// O13, 61: a token of another client stays active, and the response is the same.
#[tokio::test]
async fn other_client_cannot_revoke_token() {
    let fixture = Fixture::new();
    let first = fixture.sign_in().await;
    let second = Tokens::of(&fixture.refresh(&first.refresh).await);
    for token in [&first.refresh, &second.refresh, &second.access] {
        for caller in ["other", "api"] {
            let answer = fixture.revoke_as(caller, &[("token", token)]).await;
            assert_eq!(answer.response.status(), 200);
            assert_eq!(answer.response.body(), "{}");
            assert_eq!(reason(&answer), "token_of_another_client");
        }
    }
    assert!(fixture.is_active(&second.access).await);
    assert!(fixture.is_active(&second.refresh).await);
}

/// O13: an unauthenticated caller is refused for any token; a public client revokes its own tokens
/// by its id.
#[tokio::test]
async fn only_a_known_caller_may_revoke() {
    let fixture = Fixture::new();
    let tokens = fixture.sign_in().await;
    let token = ("token", tokens.refresh.as_str());
    for request in [
        post(HeaderMap::new(), &[token]),
        post(HeaderMap::new(), &[token, ("client_id", "web")]),
        post(basic("unregistered"), &[token]),
    ] {
        assert_error(&fixture.server.revoke(request).await, 401, "invalid_client");
    }
    assert!(fixture.is_active(&tokens.refresh).await);

    let uri = "http://127.0.0.1:51004/callback";
    let request = change(
        change(web_request(), "client_id", Some("native")),
        "redirect_uri",
        Some(uri),
    );
    let code = fixture.code_for(&request).await;
    let as_native = |pairs: Vec<_>| post(HeaderMap::new(), &[pairs, vec![("client_id", "native")]].concat());
    let redemption = change(redemption(&code), "redirect_uri", Some(uri));
    let tokens = Tokens::of(&fixture.server.token(as_native(redemption)).await);
    let answer = fixture
        .server
        .revoke(as_native(vec![("token", &tokens.refresh)]))
        .await;
    assert_eq!(
        (answer.response.status().as_u16(), codes(&answer.events)),
        (200, vec!["family_revoked"])
    );
}

/// O36: the issuer's own API refuses a JWT as soon as the token or its family is revoked, and a JWT
/// that the store does not know; if the store fails, it accepts nothing.
#[tokio::test]
async fn own_api_refuses_revoked_jwt_at_once() {
    use super::fixture::{API, ISSUER, with_bearer};
    use oauth_core::ResourceServer;
    use oauth_core::resource::ChallengeReason;

    let fixture = Fixture::new();
    let api = |keys_of: &Fixture| {
        let (issuer, audience) = (ISSUER.parse().unwrap(), API.parse().unwrap());
        ResourceServer::new(issuer, audience, keys_of.keys())
    };
    let own = api(&fixture).with_token_store(fixture.tokens.clone());
    let plain = api(&fixture);
    let call = async |api: &ResourceServer, token: &str| {
        let (parts, _) = with_bearer(token).into_parts();
        let called = api.authenticate(&parts, fixture.now()).await;
        called.map(drop).map_err(|refused| refused.reason().clone())
    };
    let (alone, family) = (fixture.sign_in().await, fixture.sign_in().await);
    for tokens in [&alone, &family] {
        assert_eq!(call(&own, &tokens.access).await, Ok(()));
    }
    for token in [&alone.access, &family.refresh] {
        let answer = fixture.revoke_as("web", &[("token", token)]).await;
        assert_eq!(answer.response.status(), 200);
    }
    for tokens in [&alone, &family] {
        assert_eq!(
            call(&own, &tokens.access).await,
            Err(ChallengeReason::InactiveToken)
        );
        // without the store, a JWT is valid until it expires
        assert_eq!(call(&plain, &tokens.access).await, Ok(()));
    }
    let elsewhere = api(&fixture).with_token_store(oauth_core::memory::MemoryTokens::new());
    let token = fixture.sign_in().await.access;
    assert_eq!(
        call(&elsewhere, &token).await,
        Err(ChallengeReason::InactiveToken)
    );
}

/// O36: if the token store fails, the issuer's own API accepts no token and answers 503.
#[tokio::test]
async fn own_api_without_its_store_accepts_no_token() {
    use super::fixture::{API, ISSUER, with_bearer};
    use http::StatusCode;
    use oauth_core::ResourceServer;
    use oauth_core::memory::MemoryTokens;
    use oauth_core::store::SessionStore;
    use oauth_core_conformance::faults::{Fault, Faulty};
    use std::sync::Arc;

    let fixture = Fixture::new();
    let token = fixture.sign_in().await.access;
    let memory: Arc<dyn SessionStore> = Arc::new(MemoryTokens::new());
    let failing = Faulty::new(memory, |_, _| Some(Fault::LostCall));
    let (issuer, audience) = (ISSUER.parse().unwrap(), API.parse().unwrap());
    let api = ResourceServer::new(issuer, audience, fixture.keys()).with_token_store(failing);
    let (parts, _) = with_bearer(&token).into_parts();
    let refused = api.authenticate(&parts, fixture.now()).await.unwrap_err();
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
}
