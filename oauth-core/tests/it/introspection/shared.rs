//! One introspection cache for several resource servers, and under a flood.

use super::*;

const ADMIN: &str = "https://admin.example";

fn of(issuer: &str, audience: &str, introspection: &Introspection) -> ResourceServer {
    let keys = KeySet::new([]).unwrap();
    ResourceServer::new(issuer.parse().unwrap(), audience.parse().unwrap(), keys)
        .with_introspection(introspection.clone())
}

fn refused(presented: Result<AuthenticatedToken, Challenge>) {
    assert_eq!(presented.unwrap_err().reason(), &ChallengeReason::InactiveToken);
}

/// O14, O17: a cached response is checked anew for each audience, issuer and time, regardless of
/// the first caller.
#[tokio::test]
async fn cached_introspection_is_checked_per_audience() {
    let issuer = Issuer::new(&active());
    let shared = issuer.introspection();
    let (api, admin) = (of(ISSUER, API, &shared), of(ISSUER, ADMIN, &shared));
    assert!(present(&api, "at_1", now()).await.is_ok());
    refused(present(&admin, "at_1", now()).await);
    refused(present(&of("https://evil.com", API, &shared), "at_1", now()).await);
    assert!(present(&api, "at_1", now()).await.is_ok());
    assert_eq!(issuer.asked(), 1);
    refused(present(&admin, "at_2", now()).await);
    assert!(present(&api, "at_2", now()).await.is_ok());
    refused(present(&admin, "at_2", now()).await);

    issuer.says(200, &changed("nbf", json!(1_800_000_030)).to_string());
    let patient = of(ISSUER, API, &shared).with_leeway(Duration::from_secs(60));
    assert!(present(&patient, "at_3", now()).await.is_ok());
    refused(present(&api, "at_3", now()).await);
    issuer.says(200, &changed("aud", json!([ADMIN, API])).to_string());
    assert!(present(&api, "at_4", now()).await.is_ok());
    assert!(present(&admin, "at_4", now()).await.is_ok());
}

/// O14, O17: a resource server that joins a request under way checks the response for its own
/// audience.
#[tokio::test]
async fn joined_introspection_is_checked_per_audience() {
    for admin_first in [false, true] {
        let issuer = closed(&active());
        let shared = issuer.introspection();
        let (api, admin) = (of(ISSUER, API, &shared), of(ISSUER, ADMIN, &shared));
        let mut own = Box::pin(present(&api, "at_1", now()));
        let mut other = Box::pin(present(&admin, "at_1", now()));
        let mut late = Box::pin(present(&api, "at_1", now() + Duration::from_secs(700)));
        if admin_first {
            assert!((&mut other).now_or_never().is_none());
        }
        assert!((&mut own).now_or_never().is_none());
        assert!((&mut other).now_or_never().is_none());
        assert!((&mut late).now_or_never().is_none());
        issuer.gate.add_permits(1);
        assert!(own.await.is_ok());
        refused(other.await);
        refused(late.await);
        assert_eq!(issuer.asked(), 1);
    }
}

/// O12, O14: an active refresh token, and a token of no or another type, is not an access token.
#[tokio::test]
async fn a_refresh_token_is_no_access_token() {
    for of_no_access_token in [
        Value::Null,
        json!(""),
        json!("refresh_token"),
        json!("urn:ietf:params:oauth:token-type:refresh_token"),
        json!("mac"),
        json!("N_A"),
        json!("Bearer "),
    ] {
        let answer = changed("token_type", of_no_access_token);
        refused(present(&Issuer::new(&answer).api(), "rt_1", now()).await);
    }
    for spelling in ["Bearer", "bearer", "BEARER"] {
        let answer = changed("token_type", json!(spelling));
        assert!(present(&Issuer::new(&answer).api(), "at_1", now()).await.is_ok());
    }
}

/// O12, O14, O20: tokens of an issuer that names no types pass if the host allows it. A named type
/// must be right, and a binding still counts.
#[tokio::test]
async fn tokens_without_type_pass_if_host_allows() {
    let untyped = changed("token_type", Value::Null);
    let issuer = Issuer::new(&untyped);
    let lenient = issuer.introspection().danger_allow_untyped_tokens();
    let lenient = of(ISSUER, API, &lenient.with_cache(Duration::ZERO, 10));
    refused(present(&issuer.api(), "at_1", now()).await);
    assert!(present(&lenient, "at_1", now()).await.is_ok());
    for named in ["refresh_token", "mac", "N_A", ""] {
        issuer.says(200, &changed("token_type", json!(named)).to_string());
        refused(present(&lenient, "at_1", now()).await);
    }
    for missing in ["aud", "exp", "client_id"] {
        let mut answer = untyped.clone();
        answer.as_object_mut().unwrap().remove(missing);
        issuer.says(200, &answer.to_string());
        refused(present(&lenient, "at_1", now()).await);
    }
    let key = SigningKey::generate_es256(&OsEntropy).unwrap();
    for cnf in [
        json!({ "jkt": key.public_key().thumbprint().to_string() }),
        json!({}),
        Value::Null,
    ] {
        let mut answer = untyped.clone();
        answer["cnf"] = cnf;
        issuer.says(200, &answer.to_string());
        let stolen = present(&lenient, "at_1", now()).await.unwrap_err();
        assert_eq!(stolen.status(), 401);
    }
}

/// O14: at most 1024 introspections are under way; the next caller gets 503 until one ends or is
/// dropped.
#[tokio::test]
async fn concurrent_introspections_are_limited() {
    let issuer = closed(&active());
    let api = &issuer.api();
    let ask = |number: u32| {
        let mut asking = Box::pin(async move { present(api, &format!("at_{number}"), now()).await });
        assert!((&mut asking).now_or_never().is_none());
        asking
    };
    // dropped requests free their places
    for number in 0..1100 {
        drop(ask(number));
    }
    let asked = issuer.asked();
    let waiting: Vec<_> = (0..1024).map(ask).collect();
    let one_more = present(api, "at_1024", now()).await.unwrap_err();
    assert_eq!(one_more.reason(), &ChallengeReason::Unavailable);
    assert!(one_more.source().is_some());
    assert_eq!(one_more.into_response().status(), 503);
    let joined = ask(0);
    assert_eq!(issuer.asked(), asked + 1024);
    drop(waiting);
    issuer.gate.add_permits(10);
    assert!(present(api, "at_1024", now()).await.is_ok());
    assert!(joined.await.is_ok());
    assert_eq!(issuer.asked(), asked + 1025);
}
