//! A resource server with the published keys (JWKS) of its issuer.

use std::error::Error as _;

use http::request::Parts;
use oauth_core::resource::{AuthenticatedToken, Challenge, ChallengeReason, ResourceServer};

use super::*;

fn api(issuer: &Issuer) -> ResourceServer {
    ResourceServer::new(ISSUER.parse().unwrap(), API.parse().unwrap(), issuer.keys())
}

async fn present(
    api: &ResourceServer,
    token: &str,
    now: SystemTime,
) -> Result<AuthenticatedToken, Challenge> {
    let request = Request::get("/v1/charges").header("authorization", format!("Bearer {token}"));
    let (parts, ()): (Parts, ()) = request.body(()).unwrap().into_parts();
    api.authenticate(&parts, now).await
}

/// O15, O22, 77: an API keeps working while its issuer rotates keys, without a restart.
#[tokio::test]
async fn an_api_survives_the_rotation_of_its_issuer() {
    let issuer = Issuer::publishing(&[1]);
    let api = api(&issuer);
    let mut at = now();
    for seed in 1..20 {
        issuer.publishes(&[seed, seed.saturating_sub(1)]);
        let principal = present(&api.clone(), &token(seed, at), at).await.unwrap();
        assert_eq!(principal.subject().as_str(), "ada");
        assert!(present(&api, &token(seed, at), at).await.is_ok());
        at += MINUTE;
    }
    assert_eq!(issuer.asked(), 19);
}

/// O15, O16, 77: a token of an unknown key is invalid, whether or not newer keys can be fetched.
#[tokio::test]
async fn token_of_unknown_key_is_invalid() {
    let issuer = Issuer::publishing(&[1]);
    let api = api(&issuer);
    for answer in [
        published(&[1]),
        published(&[1]),
        StubResponse(0, "", String::new()),
    ] {
        issuer.says(answer);
        for later in [Duration::ZERO, MINUTE, HOUR + MINUTE] {
            let refused = present(&api, &token(99, now() + later), now() + later)
                .await
                .unwrap_err();
            assert_eq!(
                refused.reason(),
                &ChallengeReason::InvalidToken(JwtError::UnknownKey)
            );
            let response = refused.into_response();
            assert_eq!(response.status(), 401);
            assert_eq!(
                response.headers()["www-authenticate"],
                r#"Bearer realm="https://api.example", error="invalid_token""#
            );
        }
    }
}

/// O15, O22: without any keys a request gets 503, not `invalid_token`, so that the client retries.
#[tokio::test]
async fn without_keys_requests_get_503() {
    let issuer = Issuer::with(StubResponse(0, "", String::new()), 1000);
    let api = api(&issuer);
    for token in [token(1, now()), token(99, now())] {
        let refused = present(&api, &token, now()).await.unwrap_err();
        assert_eq!(refused.reason(), &ChallengeReason::Unavailable);
        assert!(refused.source().is_some());
        let response = refused.into_response();
        assert_eq!(response.status(), 503);
        assert_eq!(response.headers()["retry-after"], "5");
        assert!(!response.headers().contains_key("www-authenticate"));
    }
    // a malformed token is still invalid
    let request = Request::get("/v1/charges").body(()).unwrap().into_parts().0;
    assert_eq!(api.authenticate(&request, now()).await.unwrap_err().status(), 401);
    issuer.publishes(&[1]);
    let later = now() + Duration::from_secs(5);
    assert!(present(&api, &token(1, later), later).await.is_ok());
}

/// O15, O22, 77: a cached token passes only as long as its key is published.
#[tokio::test]
async fn cached_token_of_withdrawn_key_is_refused() {
    let issuer = Issuer::publishing(&[1, 2]);
    let keys = issuer.keys().with_lifetime(Duration::from_secs(10));
    let api = ResourceServer::new(ISSUER.parse().unwrap(), API.parse().unwrap(), keys);
    let (of_one, of_two) = (token(1, now()), token(2, now()));
    let later = now() + Duration::from_secs(10);
    for token in [&of_one, &of_two, &of_one, &of_two] {
        assert!(present(&api, token, now()).await.is_ok());
    }
    issuer.publishes(&[2]);
    assert!(present(&api, &of_two, later).await.is_ok());
    for _ in 0..2 {
        let refused = present(&api, &of_one, later).await.unwrap_err();
        let reason = ChallengeReason::InvalidToken(JwtError::UnknownKey);
        assert_eq!(refused.reason(), &reason);
    }
}
