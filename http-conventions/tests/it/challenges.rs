//! `WWW-Authenticate` of problems: challenges cannot be omitted, injected or repeated.

use http::{HeaderValue, StatusCode, header};
use http_conventions::errors::{Challenge, ErrorStatus, InvalidChallenge, Problem};

/// H14: a 401 carries its challenges, and a 403 can name the missing scope.
#[test]
fn a_401_carries_its_challenges() {
    let bearer = Challenge::bearer().with_parameter("realm", "desk").unwrap();
    let response = Problem::unauthorized(bearer)
        .with_challenge(Challenge::new("DPoP").unwrap())
        .into_response();
    assert_eq!(response.status(), 401);
    let challenges: Vec<_> = response
        .headers()
        .get_all(header::WWW_AUTHENTICATE)
        .iter()
        .collect();
    assert_eq!(challenges, ["Bearer realm=\"desk\"", "DPoP"]);

    let scope = Challenge::bearer()
        .with_parameter("error", "insufficient_scope")
        .unwrap();
    let response = Problem::new(ErrorStatus::FORBIDDEN)
        .with_challenge(scope)
        .into_response();
    assert_eq!(response.status(), 403);
    assert_eq!(
        response.headers()[header::WWW_AUTHENTICATE],
        "Bearer error=\"insufficient_scope\""
    );
}

/// H14: a quoted value of a challenge cannot end its quotes or its line.
#[test]
fn a_challenge_cannot_be_broken_out_of() {
    let quoted = Challenge::bearer().with_parameter("realm", "a\"b\\c").unwrap();
    assert_eq!(quoted.header_value(), r#"Bearer realm="a\"b\\c""#);
    for (name, value) in [
        ("realm", "a\r\nSet-Cookie: x"),
        ("realm", "caf\u{e9}"),
        ("re alm", "a"),
        ("", "a"),
    ] {
        assert_eq!(
            Challenge::bearer().with_parameter(name, value),
            Err(InvalidChallenge)
        );
    }
    for scheme in ["", "Bea rer", "Bearer,", "B\u{e9}"] {
        assert_eq!(Challenge::new(scheme), Err(InvalidChallenge));
    }
}

/// H14: a challenge has each parameter once (RFC 9110 11.2), so that all clients read the same one.
#[test]
fn a_challenge_has_each_parameter_once() {
    let challenge = Challenge::bearer()
        .with_parameter("realm", "desk")
        .and_then(|challenge| challenge.with_parameter("error", "invalid_token"))
        .unwrap();
    assert_eq!(
        challenge.header_value(),
        r#"Bearer realm="desk", error="invalid_token""#
    );
    for name in ["realm", "Realm", "error"] {
        assert_eq!(challenge.clone().with_parameter(name, "a"), Err(InvalidChallenge));
    }
}

/// H14: a refusal of an authorization library becomes a problem: 400 and 403 stay, every other
/// status becomes 401 with its challenge.
#[test]
fn a_refusal_keeps_its_challenge() {
    for (status, sent) in [
        (StatusCode::BAD_REQUEST, 400),
        (StatusCode::FORBIDDEN, 403),
        (StatusCode::UNAUTHORIZED, 401),
        (StatusCode::OK, 401),
        (StatusCode::SERVICE_UNAVAILABLE, 401),
    ] {
        let response = Problem::challenged(status, Challenge::bearer()).into_response();
        assert_eq!(response.status(), sent);
        assert_eq!(response.headers()[header::WWW_AUTHENTICATE], "Bearer");
    }
}

/// H14: a field value with exactly one valid challenge is accepted; two challenges and repeated
/// parameters are refused.
#[test]
fn a_challenge_is_read_as_it_is() {
    for field in [
        "Bearer",
        "Bearer realm=\"a, b=c\"",
        "Bearer realm=\"a\\\"b\", error = invalid_token",
        "Bearer realm=\"\",, error=x",
        "DPoP algs=\"ES256 EdDSA\", error=\"use_dpop_nonce\"",
        "Negotiate oRQwEqADCgEA+/==",
    ] {
        let field = HeaderValue::from_static(field);
        assert_eq!(
            Challenge::try_from(field.clone()).map(|it| it.header_value()),
            Ok(field)
        );
    }
    for field in [
        "",
        ", Bearer",
        "Bearer,",
        "Bearer, Basic",
        "Basic realm=\"a\", Bearer realm=\"a\"",
        "Bearer realm=\"a",
        "Bearer realm=\"a\\\"",
        "Bearer realm=\"a\"b",
        "Bearer realm=\"a\" error=\"b\"",
        "Bearer realm=a, Realm=b",
        "Bearer =a",
        "Bearer realm=",
        "Bearer a b",
        "Negotiate abc==, realm=a",
    ] {
        // `realm=` is a token68, and clients parse it as such
        let expected = field == "Bearer realm=";
        let read = Challenge::try_from(HeaderValue::from_static(field));
        assert_eq!(read.is_ok(), expected, "{field}");
    }
    let read = Challenge::try_from(HeaderValue::from_static("Bearer realm=a")).unwrap();
    assert_eq!(read.clone().with_parameter("REALM", "b"), Err(InvalidChallenge));
    let more = read.with_parameter("error", "x").unwrap();
    assert_eq!(more.header_value(), "Bearer realm=a, error=\"x\"");
    let token68 = Challenge::try_from(HeaderValue::from_static("Negotiate abc=")).unwrap();
    assert_eq!(token68.with_parameter("realm", "a"), Err(InvalidChallenge));
}
