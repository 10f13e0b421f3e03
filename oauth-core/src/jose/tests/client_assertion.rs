//! Attacks on client assertions (`private_key_jwt`).

use super::*;
use crate::ports::entropy_fn;

fn check(token: &str, expected: Result<(), JwtError>, case: &str) {
    assert_eq!(verify_assertion(token).map(drop), expected, "{case}");
}

fn check_member(member: &str, expected: Result<(), JwtError>) {
    let token = forge(&header("client-authentication+jwt"), &with(ASSERTION, member));
    check(&token, expected, member);
}

/// O6, 11, 73: `typ` may be `client-authentication+jwt`, or `JWT` or absent as in older clients. An
/// assertion of this crate has exactly these bytes.
#[test]
fn a_proper_assertion_is_accepted() {
    for typ in [
        "client-authentication+jwt",
        "Client-Authentication+JWT",
        "application/client-authentication+jwt",
        "JWT",
    ] {
        let token = forge(&header(typ), &format!("{{{ASSERTION}}}"));
        assert_eq!(verify_assertion(&token).unwrap().jti, "1", "{typ}");
        assert_eq!(
            ClientAssertion::claimed_client(&token).unwrap().as_str(),
            "demo-web"
        );
    }
    let untyped = format!(r#"{{"alg":"ES256","kid":"{}"}}"#, key().key_id());
    check(&forge(&untyped, &format!("{{{ASSERTION}}}")), Ok(()), "no type");
    let undated = forge(&untyped, &without(ASSERTION, "iat"));
    assert_eq!(verify_assertion(&undated).unwrap().issued_at, None);

    let ours = ClientAssertion::new(
        "demo-web".parse().unwrap(),
        &entropy_fn(|bytes: &mut [u8]| bytes.fill(0)),
        now(),
    );
    let token = ours.sign(&key(), &ISSUER.parse().unwrap()).unwrap();
    assert_eq!(format!("{token:?}"), "SignedClientAssertion([redacted])");
    let parts: Vec<&str> = token.expose().split('.').collect();
    let text = |part: &str| String::from_utf8(URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap();
    assert_eq!(text(parts[0]), header("client-authentication+jwt"));
    let expected = format!("{{{}}}", ASSERTION.replace("\"1\"", "\"AAAAAAAAAAAAAAAAAAAAAA\""));
    assert_eq!(text(parts[1]), expected);
    assert_eq!(verify_assertion(token.expose()), Ok(ours));
}

/// O6, 11, 75: `iss` and `sub` must be the client whose keys verify the assertion.
#[test]
fn an_assertion_about_another_client_is_refused() {
    check_member(r#""iss":"demo-native""#, Err(JwtError::WrongIssuer));
    check_member(r#""iss":"https://as.example""#, Err(JwtError::WrongIssuer));
    check_member(r#""iss":["demo-web"]"#, Err(JwtError::Malformed));
    check_member(r#""sub":"demo-native""#, Err(JwtError::WrongSubject));
    check_member(r#""sub":"DEMO-WEB""#, Err(JwtError::WrongSubject));
}

/// O6, O32, 11, 76: `aud` must be exactly the issuer, as a string or an array of one. An endpoint,
/// several values and another spelling are refused.
#[test]
fn an_assertion_for_another_server_is_refused() {
    for aud in [
        "https://as.example/",
        "https://as.example/token",
        "https://evil.com",
        "demo-web",
        "",
    ] {
        check_member(&format!(r#""aud":"{aud}""#), Err(JwtError::WrongAudience));
    }
    for (aud, expected) in [
        (r#"["https://as.example"]"#, Ok(())),
        (
            r#"["https://as.example","https://evil.com"]"#,
            Err(JwtError::WrongAudience),
        ),
        (
            r#"["https://as.example","https://as.example"]"#,
            Err(JwtError::WrongAudience),
        ),
        ("[]", Err(JwtError::WrongAudience)),
        ("null", Err(JwtError::Malformed)),
        (r#"["https://as.example",1]"#, Err(JwtError::Malformed)),
    ] {
        let claims = format!(
            "{{{},\"aud\":{aud}}}",
            ASSERTION.replace(r#","aud":"https://as.example""#, "")
        );
        check(&forge(&header("JWT"), &claims), expected, aud);
    }
}

/// O6, O32, O33, 11, 74: under a strict policy, assertions must expire within five minutes, because
/// replay detection stores them until then. Clocks may differ by ten seconds.
#[test]
fn an_assertion_lives_minutes() {
    check_member(r#""exp":1800000310"#, Ok(()));
    check_member(r#""exp":1800000311"#, Err(JwtError::LivesTooLong));
    check_member(r#""exp":253402300799"#, Err(JwtError::LivesTooLong));
    check_member(r#""exp":1799999991"#, Ok(()));
    check_member(r#""exp":1799999990"#, Err(JwtError::Expired));
    for name in ["iat", "nbf"] {
        check_member(&format!(r#""{name}":1800000010"#), Ok(()));
        check_member(&format!(r#""{name}":1800000011"#), Err(JwtError::NotYetValid));
        // O33: a fraction is truncated
        check_member(&format!(r#""{name}":1800000010.9"#), Ok(()));
        for date in ["\"1800000000\"", "-1", "-0.5"] {
            check_member(&format!(r#""{name}":{date}"#), Err(JwtError::Malformed));
        }
    }
}

/// O6, 11: the claims that replay detection needs are required.
#[test]
fn an_assertion_without_a_name_or_an_end_is_refused() {
    for name in ["iss", "sub", "aud", "jti", "exp"] {
        let token = forge(&header("JWT"), &without(ASSERTION, name));
        check(&token, Err(JwtError::Malformed), name);
    }
    for jti in ["\"\"", "null", "1", "[\"1\"]"] {
        check_member(&format!(r#""jti":{jti}"#), Err(JwtError::Malformed));
    }
    for member in [r#""sub":"demo-native""#, r#""jti":"2""#, r#""x":1,"x":1"#] {
        let token = forge(&header("JWT"), &format!("{{{ASSERTION},{member}}}"));
        check(&token, Err(JwtError::Malformed), member);
    }
}

/// O6, 11, 65, 67, 68, 69, 73: a header with another algorithm, key, extension or type is refused
/// or ignored.
#[test]
fn an_assertion_does_not_choose_how_it_is_verified() {
    use hmac::{Hmac, KeyInit, Mac};
    let good = header("client-authentication+jwt");
    let claims = format!("{{{ASSERTION}}}");
    for alg in ["none", "None", "HS256", "RS256", "EdDSA"] {
        let token = forge(&good.replace("ES256", alg), &claims);
        check(&token, Err(JwtError::UnsupportedAlgorithm), alg);
    }
    let signed = format!(
        "{}.{}",
        URL_SAFE_NO_PAD.encode(good.replace("ES256", "HS256")),
        URL_SAFE_NO_PAD.encode(&claims)
    );
    for secret in [key().public_key().to_json(), keys().to_json()] {
        let mut mac = Hmac::<sha2::Sha256>::new_from_slice(secret.as_bytes()).unwrap();
        mac.update(signed.as_bytes());
        let token = format!("{signed}.{}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()));
        check(
            &token,
            Err(JwtError::UnsupportedAlgorithm),
            "a public key as secret",
        );
    }
    let start = good.trim_end_matches('}');
    for (member, expected) in [
        (r#""crit":["exp"]"#, JwtError::UnsupportedHeader),
        (r#""b64":false"#, JwtError::UnsupportedHeader),
        (r#""zip":"DEF""#, JwtError::UnsupportedHeader),
        (r#""alg":"ES256""#, JwtError::Malformed),
    ] {
        check(
            &forge(&format!("{start},{member}}}"), &claims),
            Err(expected),
            member,
        );
    }
    for typ in [
        "at+jwt",
        "dpop+jwt",
        "logout+jwt",
        "x/client-authentication+jwt",
        "",
    ] {
        check(&forge(&header(typ), &claims), Err(JwtError::WrongType), typ);
    }
}

/// O6, 11: only registered keys verify; an embedded key is ignored.
#[test]
fn an_assertion_under_a_foreign_key_is_refused() {
    let thief = SigningKey::generate_es256(&entropy_fn(|bytes: &mut [u8]| bytes.fill(9))).unwrap();
    let assertion = ClientAssertion::new(
        "demo-web".parse().unwrap(),
        &entropy_fn(|bytes: &mut [u8]| bytes.fill(1)),
        now(),
    );
    let token = assertion.sign(&thief, &ISSUER.parse().unwrap()).unwrap();
    check(token.expose(), Err(JwtError::UnknownKey), "the thief's own name");
    let header = format!(
        r#"{{"alg":"ES256","kid":"{}","jwk":{}}}"#,
        key().key_id(),
        thief.public_key().to_json()
    );
    let [_, claims, signature] =
        <[&str; 3]>::try_from(token.expose().split('.').collect::<Vec<_>>()).unwrap();
    let token = format!("{}.{claims}.{signature}", URL_SAFE_NO_PAD.encode(header));
    check(&token, Err(JwtError::SignatureMismatch), "a key that comes along");
}
