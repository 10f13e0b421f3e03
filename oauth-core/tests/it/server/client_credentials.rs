//! The client credentials grant.

use http::HeaderMap;
use oauth_core::jose::{AccessTokenClaims, AccessTokenPolicy};
use oauth_core::store::GrantType;

use super::fixture::{API, Fixture, ISSUER, Tokens, assert_error, codes, post};

/// O11, 57, 59: the client gets an access token for itself, without a refresh token or an ID token.
#[tokio::test]
async fn a_confidential_client_gets_an_access_token_and_nothing_else() {
    let fixture = Fixture::new();
    let answer = fixture
        .token_as(
            "service",
            &vec![("grant_type", "client_credentials"), ("scope", "read:charges")],
        )
        .await;
    let tokens = Tokens::of(&answer);
    assert_eq!(codes(&answer.events), ["tokens_issued"]);
    let mut names: Vec<_> = tokens
        .body
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["access_token", "expires_in", "scope", "token_type"]);
    let told = fixture.introspect_as("api", &[("token", &tokens.access)]).await;
    assert_eq!(told["sub"], "service");
    assert_eq!(told["client_id"], "service");
    assert_eq!(told["scope"], "read:charges");
    assert!(told.get("username").is_none());
}

/// O11, 59: without `scope` the client gets all of its scopes but `openid`, because there is no
/// user.
#[tokio::test]
async fn openid_is_never_granted_to_a_client_itself() {
    let fixture = Fixture::new();
    let tokens = Tokens::of(
        &fixture
            .token_as("service", &vec![("grant_type", "client_credentials")])
            .await,
    );
    assert_eq!(tokens.body["scope"], "read:charges write:charges");
    let pairs = vec![
        ("grant_type", "client_credentials"),
        ("scope", "openid read:charges"),
    ];
    assert_error(&fixture.token_as("service", &pairs).await, 400, "invalid_scope");
}

/// O11: scopes beyond the registered ones are refused.
#[tokio::test]
async fn a_client_cannot_ask_for_more_than_it_may_have() {
    let fixture = Fixture::new();
    for scope in [
        "admin",
        "read:charges admin",
        "read",
        "\"",
        "read:charges\twrite:charges",
    ] {
        let pairs = vec![("grant_type", "client_credentials"), ("scope", scope)];
        assert_error(&fixture.token_as("service", &pairs).await, 400, "invalid_scope");
    }
}

/// O11, 57: a public client is refused, even if it is registered for the grant.
#[tokio::test]
async fn public_client_gets_no_client_credentials_grant() {
    let fixture = Fixture::new();
    fixture
        .change_client("native", |native| native.with_grant_types(GrantType::ALL))
        .await;
    let pairs = [("grant_type", "client_credentials"), ("client_id", "native")];
    let answer = fixture.server.token(post(HeaderMap::new(), &pairs)).await;
    assert_error(&answer, 400, "unauthorized_client");
}

/// O17, 4, 81: a client can have hundreds of scopes and request all of them, and the API accepts
/// the token.
#[tokio::test]
async fn token_with_hundreds_of_scopes_is_accepted() {
    let fixture = Fixture::new();
    let scopes: Vec<_> = (0..500).map(|index| format!("read:things-{index}")).collect();
    let scopes = scopes.join(" ");
    fixture
        .change_client("service", |service| service.with_scopes(scopes.parse().unwrap()))
        .await;
    for asked in [None, Some(scopes.as_str())] {
        let pairs = [("grant_type", "client_credentials")]
            .into_iter()
            .chain(asked.map(|scopes| ("scope", scopes)));
        let tokens = Tokens::of(&fixture.token_as("service", &pairs.collect()).await);
        let policy = AccessTokenPolicy::new(ISSUER.parse().unwrap(), API.parse().unwrap());
        let claims = AccessTokenClaims::verify(&tokens.access, &fixture.keys(), &policy, fixture.now());
        assert_eq!(claims.unwrap().terms.scopes, scopes.parse().unwrap());
    }
}
