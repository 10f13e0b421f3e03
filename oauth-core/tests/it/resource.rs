//! The guard of a resource server, through its public API.

use oauth_core::ports::entropy_fn;
use oauth_core::vocabulary::AccessTokenTerms;
use std::time::{Duration, SystemTime};

use futures_util::FutureExt;
use http::Request;
use http::request::Parts;
use oauth_core::jose::verifications;
use oauth_core::jose::{AccessTokenClaims, IdTokenClaims, JwtError, KeySet, SigningKey};
use oauth_core::resource::{AuthenticatedToken, Challenge, ChallengeReason, ResourceServer};

const ISSUER: &str = "https://as.example";
const API: &str = "https://api.example";

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn key() -> SigningKey {
    SigningKey::generate_ed25519(&entropy_fn(|bytes: &mut [u8]| bytes.fill(7))).unwrap()
}

fn api() -> ResourceServer {
    let keys = KeySet::new([key().public_key().clone()]).unwrap();
    ResourceServer::new(ISSUER.parse().unwrap(), API.parse().unwrap(), keys).with_leeway(Duration::ZERO)
}

fn claims() -> AccessTokenClaims {
    AccessTokenClaims {
        terms: AccessTokenTerms {
            subject: "ada".parse().unwrap(),
            audience: vec![API.parse().unwrap()],
            client_id: "demo-web".parse().unwrap(),
            scopes: "read:charges write:charges".parse().unwrap(),
            issued_at: now(),
            expires_at: now() + Duration::from_secs(600),
            confirmation: None,
        },
        issuer: ISSUER.parse().unwrap(),
        jti: "token-1".to_owned(),
        auth_time: Some(now()),
    }
}

fn token() -> String {
    claims().sign(&key()).unwrap().expose().to_owned()
}

fn request(uri: &str, authorization: &[&str]) -> Parts {
    let builder = authorization.iter().fold(Request::get(uri), |builder, value| {
        builder.header("authorization", *value)
    });
    builder.body(()).unwrap().into_parts().0
}

/// Polls the guard once: it must not wait for bearer tokens.
fn at_once(api: &ResourceServer, request: &Parts) -> Result<AuthenticatedToken, Challenge> {
    let authenticated = api.authenticate(request, now()).now_or_never();
    authenticated.unwrap()
}

fn authenticate(authorization: &[&str]) -> Result<AuthenticatedToken, Challenge> {
    at_once(&api(), &request("/v1/charges", authorization))
}

fn refused(authorization: &[&str]) -> Challenge {
    authenticate(authorization).unwrap_err()
}

/// O16, 99, 100: the scheme is case-insensitive.
#[test]
fn a_bearer_token_passes_in_any_case_of_the_scheme() {
    for scheme in ["Bearer", "bearer", "BEARER", "bEaReR", "Bearer  "] {
        let principal = authenticate(&[&format!("{scheme} {}", token())]).unwrap();
        assert_eq!(principal.subject().as_str(), "ada");
        assert_eq!(principal.client_id().as_str(), "demo-web");
        assert_eq!(principal.token_id(), "token-1");
        assert_eq!(principal.expires_at(), now() + Duration::from_secs(600));
        assert_eq!(principal.auth_time(), Some(now()));
    }
}

/// O16, 100: a request without a token, or with another scheme, gets a challenge without an error.
#[test]
fn request_without_token_is_challenged_without_error() {
    for authorization in [&[][..], &["Basic YTpi"], &["DPoP abc"], &["Bearertoken"], &[""]] {
        let challenge = refused(authorization);
        assert_eq!(challenge.reason(), &ChallengeReason::NoToken, "{authorization:?}");
        assert_eq!(challenge.status(), 401);
        assert_eq!(
            challenge.www_authenticate(),
            [r#"Bearer realm="https://api.example""#]
        );
    }
}

/// O16, 99: a token in the query, two tokens, and invalid characters are refused.
#[test]
fn a_malformed_request_is_a_400() {
    let bearer = format!("Bearer {}", token());
    let in_query = format!("/v1/charges?access_token={}", token());
    let requests = [
        request(&in_query, &[]),
        request(&in_query, &[&bearer]),
        request(&format!("/v1/charges?x=y&access%5Ftoken={}", token()), &[]),
        request("/", &[&bearer, &bearer]),
        request("/", &[&bearer, "Basic YTpi"]),
        request("/", &["Bearer"]),
        request("/", &["Bearer "]),
        request("/", &["Bearer a b"]),
        request("/", &["Bearer a,b"]),
        request("/", &["Bearer \"a\""]),
        request("/", &["Bearer ="]),
    ];
    for request in requests {
        let challenge = at_once(&api(), &request).unwrap_err();
        assert_eq!(
            challenge.reason(),
            &ChallengeReason::MalformedRequest,
            "{request:?}"
        );
        let response = challenge.into_response();
        assert_eq!(response.status(), 400);
        assert_eq!(
            response.headers()["www-authenticate"],
            r#"Bearer realm="https://api.example", error="invalid_request""#
        );
    }
}

/// O16, 99: a token in a malformed query is refused as well, because another parser behind us may
/// read it.
#[test]
fn token_in_malformed_query_is_refused() {
    let bearer = format!("Bearer {}", token());
    let many = "x=y&".repeat(200);
    for query in [
        "x=%zz&access_token=T".to_owned(),
        "access_token=T&x=%zz".to_owned(),
        "access_token=%zz".to_owned(),
        "access_token=T%ff".to_owned(),
        "%ff=1&%61ccess%5Ftoken=T".to_owned(),
        "%&&=&access_token=T".to_owned(),
        "access_token=&access_token=T".to_owned(),
        format!("{many}access_token=T"),
    ] {
        for authorization in [&[][..], &[bearer.as_str()]] {
            let request = request(&format!("/v1/charges?{query}"), authorization);
            let challenge = at_once(&api(), &request).unwrap_err();
            assert_eq!(challenge.reason(), &ChallengeReason::MalformedRequest, "{query}");
        }
    }
    for query in [
        "x=%zz",
        "access_token",
        "access_token=",
        "x=access_token=T",
        "Access_Token=T",
        "access_token%00=T",
        "my_access_token=T&access_tokens=T",
        many.as_str(),
    ] {
        let request = request(&format!("/v1/charges?{query}"), &[&bearer]);
        assert!(at_once(&api(), &request).is_ok(), "{query}");
    }
}

/// O15, 102: the peer gets the same error for every fault of a token; the host gets the failed
/// check.
#[test]
#[expect(clippy::too_many_lines, reason = "one case after the other")]
fn every_bad_token_gets_the_same_answer() {
    let other_key = SigningKey::generate_ed25519(&entropy_fn(|bytes: &mut [u8]| bytes.fill(8))).unwrap();
    let check = |claims: AccessTokenClaims, key: &SigningKey, expected: JwtError| {
        let challenge = refused(&[&format!("Bearer {}", claims.sign(key).unwrap().expose())]);
        assert_eq!(challenge.reason(), &ChallengeReason::InvalidToken(expected));
        let response = challenge.into_response();
        assert_eq!(response.status(), 401);
        assert_eq!(
            response.headers()["www-authenticate"],
            r#"Bearer realm="https://api.example", error="invalid_token""#
        );
        assert_eq!(response.headers()["cache-control"], "no-store");
    };
    check(claims(), &other_key, JwtError::UnknownKey);
    check(
        AccessTokenClaims {
            issuer: "https://evil.com".parse().unwrap(),
            ..claims()
        },
        &key(),
        JwtError::WrongIssuer,
    );
    check(
        AccessTokenClaims {
            terms: AccessTokenTerms {
                audience: vec!["https://b".parse().unwrap()],
                ..claims().terms
            },
            ..claims()
        },
        &key(),
        JwtError::WrongAudience,
    );
    check(
        AccessTokenClaims {
            terms: AccessTokenTerms {
                audience: Vec::new(),
                ..claims().terms
            },
            ..claims()
        },
        &key(),
        JwtError::WrongAudience,
    );
    check(
        AccessTokenClaims {
            terms: AccessTokenTerms {
                expires_at: now(),
                ..claims().terms
            },
            ..claims()
        },
        &key(),
        JwtError::Expired,
    );
    check(
        AccessTokenClaims {
            terms: AccessTokenTerms {
                issued_at: now() + Duration::from_secs(1),
                ..claims().terms
            },
            ..claims()
        },
        &key(),
        JwtError::NotYetValid,
    );
}

/// O18: an ID token is refused as access token, even if signature, issuer and audience fit.
#[test]
fn an_id_token_is_no_access_token() {
    let id_token = IdTokenClaims {
        issuer: ISSUER.parse().unwrap(),
        subject: "ada".parse().unwrap(),
        audience: API.parse().unwrap(),
        nonce: None,
        issued_at: now(),
        expires_at: now() + Duration::from_secs(600),
        auth_time: None,
        email: None,
        email_verified: None,
        name: None,
        claims: Default::default(),
    };
    let challenge = refused(&[&format!("Bearer {}", id_token.sign(&key(), None).unwrap())]);
    assert_eq!(
        challenge.reason(),
        &ChallengeReason::InvalidToken(JwtError::WrongType)
    );
}

/// O17, 101: a missing scope is a 403 that names the scopes needed.
#[test]
fn a_missing_scope_is_a_403_that_names_it() {
    let principal = authenticate(&[&format!("Bearer {}", token())]).unwrap();
    assert!(principal.require(&"read:charges".parse().unwrap()).is_ok());
    let both = "read:charges write:charges".parse().unwrap();
    assert!(principal.require_all(&both).is_ok());
    for near_miss in [
        "read",
        "charges",
        "read:charge",
        "read:chargess",
        "Read:charges",
        "read:refunds",
    ] {
        let challenge = principal.require(&near_miss.parse().unwrap()).unwrap_err();
        assert_eq!(challenge.status(), 403);
        let expected =
            format!(r#"Bearer realm="https://api.example", error="insufficient_scope", scope="{near_miss}""#);
        assert_eq!(challenge.www_authenticate(), [expected]);
    }
    let challenge = principal
        .require_all(&"read:charges write:refunds".parse().unwrap())
        .unwrap_err();
    let expected = r#"Bearer realm="https://api.example", error="insufficient_scope", scope="read:charges write:refunds""#;
    assert_eq!(challenge.into_response().headers()["www-authenticate"], expected);
}

/// O22: after a rotation the guard uses the new keys and forgets the old.
#[test]
fn rotated_keys_replace_the_old_ones() {
    let new_key = SigningKey::generate_es256(&entropy_fn(|bytes: &mut [u8]| bytes.fill(9))).unwrap();
    let rotated = api().with_keys(KeySet::new([new_key.public_key().clone()]).unwrap());
    let bearer = |key: &SigningKey| format!("Bearer {}", claims().sign(key).unwrap().expose());
    assert!(at_once(&rotated, &request("/", &[&bearer(&new_key)])).is_ok());
    assert!(at_once(&rotated, &request("/", &[&bearer(&key())])).is_err());
}

/// O15: a clone with a smaller leeway checks a cached token for itself.
#[test]
fn clone_with_other_leeway_checks_cached_token() {
    let soon = now() + Duration::from_secs(10);
    let token = AccessTokenClaims {
        terms: AccessTokenTerms {
            issued_at: soon,
            ..claims().terms
        },
        ..claims()
    };
    let bearer = format!("Bearer {}", token.sign(&key()).unwrap().expose());
    let request = request("/v1/charges", &[&bearer]);
    let lenient = api().with_leeway(Duration::from_secs(60));
    let strict = lenient.clone().with_leeway(Duration::ZERO);
    for _ in 0..2 {
        assert!(at_once(&lenient, &request).is_ok());
        let refused = at_once(&strict, &request).unwrap_err();
        let reason = ChallengeReason::InvalidToken(JwtError::NotYetValid);
        assert_eq!(refused.reason(), &reason);
    }
}

/// O15: a cached token expires at its end plus leeway, to the nanosecond.
#[test]
fn cached_token_expires() {
    let api = api().with_leeway(Duration::from_secs(5));
    let request = request("/v1/charges", &[&format!("Bearer {}", token())]);
    let end = now() + Duration::from_secs(605);
    let tick = Duration::from_nanos(1);
    for at in [now(), end - tick, now()] {
        let passed = api.authenticate(&request, at).now_or_never().unwrap();
        assert!(passed.is_ok(), "{at:?}");
    }
    let refused = api
        .authenticate(&request, end)
        .now_or_never()
        .unwrap()
        .unwrap_err();
    assert_eq!(
        refused.reason(),
        &ChallengeReason::InvalidToken(JwtError::Expired)
    );
}

/// O17: a sensitive action requires a recent sign-in, to the nanosecond, and the challenge states
/// the age. An unknown sign-in time is too old.
#[test]
fn old_sign_in_is_401_with_max_age() {
    let minutes = |number: u64| Duration::from_secs(60 * number);
    const SECOND: Duration = Duration::from_secs(1);
    let tick = Duration::from_nanos(1);
    let principal = |auth_time| {
        let claims = AccessTokenClaims {
            auth_time,
            ..claims()
        };
        let token = claims.sign(&key()).unwrap();
        authenticate(&[&format!("Bearer {}", token.expose())]).unwrap()
    };
    for (auth_time, at, passes) in [
        (Some(now()), now(), true),
        (Some(now()), now() + minutes(5), true),
        (Some(now()), now() + minutes(5) + tick, false),
        (Some(now() - minutes(5)), now(), true),
        (Some(now() - minutes(6)), now(), false),
        // the clock of the issuer is fast
        (Some(now() + minutes(1)), now(), true),
        (Some(now() + minutes(1) + SECOND), now(), false),
        (Some(now() + minutes(5_000_000)), now(), false),
        (None, now(), false),
    ] {
        let refused = principal(auth_time).require_sign_in_within(minutes(5), at).err();
        assert_eq!(refused.is_none(), passes, "{auth_time:?} {at:?}");
        let Some(refused) = refused else { continue };
        assert_eq!(refused.reason(), &ChallengeReason::SignInTooOld(minutes(5)));
        let response = refused.into_response();
        assert_eq!(response.status(), 401);
        assert_eq!(
            response.headers()["www-authenticate"],
            r#"Bearer realm="https://api.example", error="insufficient_user_authentication", max_age="300""#
        );
        assert_eq!(response.headers()["cache-control"], "no-store");
    }
    let principal = principal(Some(SystemTime::UNIX_EPOCH));
    assert!(principal.require_sign_in_within(Duration::MAX, now()).is_ok());
    assert!(principal.require_sign_in_within(Duration::ZERO, now()).is_err());
}

/// O15: a verified token is cached and not verified again, unless the host disables that.
#[test]
fn verified_token_is_cached() {
    let request = request("/v1/charges", &[&format!("Bearer {}", token())]);
    for (api, signatures) in [(api(), 1), (api().with_cache(0), 3)] {
        drop(verifications::take());
        for _ in 0..3 {
            at_once(&api.clone(), &request).unwrap();
        }
        assert_eq!(verifications::take().len(), signatures);
    }
}
