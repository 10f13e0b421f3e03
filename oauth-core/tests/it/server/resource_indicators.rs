//! Resource indicators, RFC 8707.
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::sync::Arc;

use oauth_core::memory::MemoryTokens;

use super::fixture::{
    API, Fixture, Pairs, Tokens, assert_error, change, reason, redemption, redirected, web_request,
};

const FILES: &str = "https://files.example";

fn two_apis() -> Fixture {
    Fixture::with(Arc::new(MemoryTokens::new()), |builder| {
        builder.with_audience(FILES)
    })
}

fn asking<'a>(pairs: Pairs<'a>, resources: &[&'a str]) -> Pairs<'a> {
    let resources = resources.iter().map(|resource| ("resource", *resource));
    pairs.into_iter().chain(resources).collect()
}

async fn audience(fixture: &Fixture, token: &str) -> serde_json::Value {
    fixture.introspect(token).await["aud"].clone()
}

/// O14: without `resource` a token is for every API, with it for the named ones.
#[tokio::test]
async fn a_token_is_for_the_resources_that_were_asked_for() {
    let fixture = two_apis();
    for (resources, expected) in [
        (&[][..], serde_json::json!([API, FILES])),
        (&[FILES], serde_json::json!(FILES)),
        (&[FILES, FILES], serde_json::json!(FILES)),
        (&[FILES, API], serde_json::json!([API, FILES])),
    ] {
        let code = fixture.code_for(&asking(web_request(), resources)).await;
        let tokens = Tokens::of(&fixture.redeem(&code).await);
        assert_eq!(audience(&fixture, &tokens.access).await, expected);
        // and so along the chain
        let refreshed = Tokens::of(&fixture.refresh(&tokens.refresh).await);
        assert_eq!(audience(&fixture, &refreshed.access).await, expected);
    }
}

/// O9, 49: an access token may be for some of the granted resources, and the next one for all of
/// them.
#[tokio::test]
async fn a_narrower_resource_narrows_the_access_token_only() {
    let fixture = two_apis();
    let code = fixture.code().await;
    let redeemed = Tokens::of(&fixture.token(&asking(redemption(&code), &[API])).await);
    assert_eq!(audience(&fixture, &redeemed.access).await, API);
    let refresh = |token| vec![("grant_type", "refresh_token"), ("refresh_token", token)];
    let narrowed = Tokens::of(&fixture.token(&asking(refresh(&redeemed.refresh), &[FILES])).await);
    assert_eq!(audience(&fixture, &narrowed.access).await, FILES);
    let whole = Tokens::of(&fixture.refresh(&narrowed.refresh).await);
    assert_eq!(
        audience(&fixture, &whole.access).await,
        serde_json::json!([API, FILES])
    );
}

/// O26, 49: a resource beyond the grant is `invalid_target` and consumes neither code nor token.
#[tokio::test]
async fn a_resource_beyond_the_grant_is_refused_and_consumes_nothing() {
    let fixture = two_apis();
    let code = fixture.code_for(&asking(web_request(), &[API])).await;
    for wrong in [FILES, "https://api.example/", "https://evil.example", "caf\u{e9}"] {
        let answer = fixture.token(&asking(redemption(&code), &[API, wrong])).await;
        assert_error(&answer, 400, "invalid_target");
    }
    let tokens = Tokens::of(&fixture.redeem(&code).await);
    let refresh = vec![
        ("grant_type", "refresh_token"),
        ("refresh_token", tokens.refresh.as_str()),
    ];
    for wrong in [FILES, "caf\u{e9}"] {
        let answer = fixture.token(&asking(refresh.clone(), &[wrong])).await;
        assert_error(&answer, 400, "invalid_target");
    }
    assert!(fixture.is_active(&tokens.refresh).await);
    let alone = vec![("grant_type", "client_credentials")];
    let answer = fixture
        .token_as("service", &asking(alone.clone(), &["https://evil.example"]))
        .await;
    assert_error(&answer, 400, "invalid_target");
    let own = Tokens::of(&fixture.token_as("service", &asking(alone, &[FILES])).await);
    let told = fixture.introspect_as("service", &[("token", &own.access)]).await;
    assert_eq!(told["aud"], FILES);
}

/// O6, 42: a replayed code with a resource beyond the grant revokes nothing.
#[tokio::test]
async fn a_replay_for_a_foreign_resource_revokes_nothing() {
    let fixture = two_apis();
    let code = fixture.code_for(&asking(web_request(), &[API])).await;
    let tokens = Tokens::of(&fixture.redeem(&code).await);
    let answer = fixture.token(&asking(redemption(&code), &[FILES])).await;
    assert_error(&answer, 400, "invalid_target");
    assert!(fixture.is_active(&tokens.access).await);
}

/// O2: an unknown resource is refused by redirect; the host gets the known ones.
#[tokio::test]
async fn an_unknown_resource_is_refused_by_redirect() {
    let fixture = two_apis();
    for (wrong, expected) in [
        ("https://evil.example", "resource_exceeded"),
        ("https://api.example#fragment", "resource_exceeded"),
        ("caf\u{e9}", "resource_malformed"),
    ] {
        let answer = fixture.refused(&asking(web_request(), &[API, wrong])).await;
        let (_, query) = redirected(&answer.response);
        assert_eq!(query.optional("error"), Some("invalid_target"));
        assert_eq!(reason(&answer), expected);
    }
    let interaction = fixture
        .interact(&change(web_request(), "resource", Some(API)))
        .await;
    assert_eq!(interaction.details.resources, [API.parse().unwrap()]);
}
