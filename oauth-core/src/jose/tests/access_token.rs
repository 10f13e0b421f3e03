//! Claims of access tokens.

use super::*;
use crate::ports::entropy_fn;
use crate::vocabulary::AccessTokenTerms;
use crate::vocabulary::Scopes;

/// O14, O15, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77: a valid token is accepted. The
/// refusals below differ from it in one detail.
#[test]
fn a_proper_token_is_accepted() {
    let token = forge(&header("at+jwt"), &format!("{{{CLAIMS}}}"));
    let claims = verify_at(&token, now()).unwrap();
    assert_eq!(claims.terms.subject.as_str(), "ada");
    assert!(claims.terms.scopes.contains_str("read:charges"));
    for typ in ["AT+JWT", "application/at+jwt", "Application/At+Jwt"] {
        assert!(
            verify_at(&forge(&header(typ), &format!("{{{CLAIMS}}}")), now()).is_ok(),
            "{typ}"
        );
    }
    verify_id(&forge(&header("JWT"), &format!("{{{ID_CLAIMS}}}")), &id_policy()).unwrap();
}

/// O15, 75: `iss` must equal the expected issuer byte for byte.
#[test]
fn another_issuer_is_refused() {
    for iss in [
        r#""https://as.example/""#,
        r#""https://AS.example""#,
        r#""https://as.example.evil.com""#,
        r#""""#,
    ] {
        let token = forge(&header("at+jwt"), &with(CLAIMS, &format!(r#""iss":{iss}"#)));
        assert_eq!(refusal(&token), JwtError::WrongIssuer, "{iss}");
    }
    for iss in [r#"["https://as.example"]"#, "null", "1"] {
        let token = forge(&header("at+jwt"), &with(CLAIMS, &format!(r#""iss":{iss}"#)));
        assert_eq!(refusal(&token), JwtError::Malformed, "{iss}");
    }
}

/// O15, 76: `aud` must be present and contain the expected audience.
#[test]
fn another_audience_is_refused() {
    for aud in [
        r#""https://other.example""#,
        r#""https://api.example/""#,
        r#""https://api.example https://x""#,
        "[]",
        r#"["demo-web"]"#,
    ] {
        let token = forge(&header("at+jwt"), &with(CLAIMS, &format!(r#""aud":{aud}"#)));
        assert_eq!(refusal(&token), JwtError::WrongAudience, "{aud}");
    }
    let several = with(CLAIMS, r#""aud":["https://other.example","https://api.example"]"#);
    assert!(verify_at(&forge(&header("at+jwt"), &several), now()).is_ok());
}

/// O15, 74: the claims required by RFC 9068 §2.2 must be present and of the right type.
#[test]
fn a_missing_or_mistyped_claim_is_refused() {
    for name in ["iss", "sub", "aud", "client_id", "jti", "iat", "exp"] {
        let claims = without(CLAIMS, name);
        assert!(!claims.contains(&format!("\"{name}\"")), "{claims}");
        assert_eq!(
            refusal(&forge(&header("at+jwt"), &claims)),
            JwtError::Malformed,
            "{name}"
        );
        for value in ["null", "true", "{}", "-1", "-0.5"] {
            let claims = with(CLAIMS, &format!("\"{name}\":{value}"));
            assert_eq!(
                refusal(&forge(&header("at+jwt"), &claims)),
                JwtError::Malformed,
                "{name} {value}"
            );
        }
    }
    for value in ["\"a  b\"", "[\"a\"]", "\" \"", "1"] {
        let claims = with(CLAIMS, &format!("\"scope\":{value}"));
        assert_eq!(
            refusal(&forge(&header("at+jwt"), &claims)),
            JwtError::Malformed,
            "{value}"
        );
    }
    let unscoped = verify_at(&forge(&header("at+jwt"), &without(CLAIMS, "scope")), now()).unwrap();
    assert!(unscoped.terms.scopes.is_empty());
}

/// O15, 74: a token is invalid at the exact instant of expiry, and before `nbf` and `iat`.
#[test]
fn a_token_expires_at_the_exact_instant() {
    let token = forge(&header("at+jwt"), &format!("{{{CLAIMS}}}"));
    let expiry = now() + Duration::from_secs(600);
    assert!(verify_at(&token, expiry - Duration::from_nanos(1)).is_ok());
    assert_eq!(verify_at(&token, expiry), Err(JwtError::Expired));
    assert_eq!(
        verify_at(&token, now() - Duration::from_nanos(1)),
        Err(JwtError::NotYetValid)
    );
    let later = forge(&header("at+jwt"), &with(CLAIMS, r#""nbf":1800000100"#));
    assert_eq!(
        verify_at(&later, now() + Duration::from_secs(99)),
        Err(JwtError::NotYetValid)
    );
    assert!(verify_at(&later, now() + Duration::from_secs(100)).is_ok());
}

/// O15, 72: the signature is verified before `scope`, `sub`, `client_id` and the values of `aud`
/// are parsed. Only `exp` and other cheap checks come first.
#[test]
fn the_signature_is_checked_before_the_claims_are_read() {
    for (member, unsigned, signed) in [
        (
            r#""scope":"a  b""#,
            JwtError::SignatureMismatch,
            JwtError::Malformed,
        ),
        (r#""sub":"""#, JwtError::SignatureMismatch, JwtError::Malformed),
        (
            r#""client_id":"""#,
            JwtError::SignatureMismatch,
            JwtError::Malformed,
        ),
        (
            r#""aud":["https://api.example",""]"#,
            JwtError::SignatureMismatch,
            JwtError::Malformed,
        ),
        (r#""exp":1800000000"#, JwtError::Expired, JwtError::Expired),
    ] {
        let token = forge(&header("at+jwt"), &with(CLAIMS, member));
        assert_eq!(refusal(&token), signed, "{member}");
        let (claims, _) = token.rsplit_once('.').unwrap();
        let other = forge(&header("at+jwt"), "{}");
        let (_, other) = other.rsplit_once('.').unwrap();
        assert_eq!(refusal(&format!("{claims}.{other}")), unsigned, "{member}");
    }
}

/// O15, DP15: `AccessTokenClaims::verify` refuses sender-constrained tokens.
#[test]
fn a_bound_token_is_refused() {
    const THUMBPRINT: &str = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I";
    for cnf in [
        r#"{"jkt":"x"}"#.to_owned(),
        r#"{"x5t#S256":"x"}"#.to_owned(),
        r#"{"kid":"1"}"#.to_owned(),
        "null".to_owned(),
        "{}".to_owned(),
        format!(r#"{{"jkt":"{THUMBPRINT}"}}"#),
        format!(r#"{{"x5t#S256":"{THUMBPRINT}"}}"#),
    ] {
        let token = forge(&header("at+jwt"), &with(CLAIMS, &format!("\"cnf\":{cnf}")));
        assert_eq!(refusal(&token), JwtError::SenderConstrained);
    }
}

/// O22: during a rotation, tokens of the retired key and tokens of the new key are accepted.
#[test]
fn both_keys_verify_while_they_rotate() {
    let (old, new) = (
        key(),
        SigningKey::generate_ed25519(&entropy_fn(|bytes: &mut [u8]| bytes.fill(1))).unwrap(),
    );
    let both = KeySet::new([new.public_key().clone(), old.public_key().clone()]).unwrap();
    let policy = AccessTokenPolicy::new(ISSUER.parse().unwrap(), API.parse().unwrap());
    let claims = verify_at(&forge(&header("at+jwt"), &format!("{{{CLAIMS}}}")), now()).unwrap();
    for key in [old, new.clone()] {
        let token = claims.sign(&key).unwrap();
        assert_eq!(
            AccessTokenClaims::verify(token.expose(), &both, &policy, now()),
            Ok(claims.clone())
        );
    }
    let token = claims.sign(&new).unwrap();
    assert_eq!(
        AccessTokenClaims::verify(token.expose(), &keys(), &policy, now()),
        Err(JwtError::UnknownKey)
    );
}

/// O14: the header and claims of an access token have exactly these bytes.
#[test]
fn access_token_has_exact_header_and_claims() {
    let claims = verify_at(&forge(&header("at+jwt"), &format!("{{{CLAIMS}}}")), now()).unwrap();
    let check = |claims: AccessTokenClaims, expected: &str| {
        let token = claims.sign(&key()).unwrap();
        let parts: Vec<&str> = token.expose().split('.').collect();
        let text = |part: &str| String::from_utf8(URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap();
        assert_eq!(text(parts[0]), header("at+jwt"));
        assert_eq!(text(parts[1]), expected);
    };
    let start = r#"{"iss":"https://as.example","sub":"ada","aud":"https://api.example","client_id":"demo-web","jti":"1","iat":1800000000,"exp":1800000600"#;
    let scopes = |text: &str| text.parse().unwrap();
    check(
        AccessTokenClaims {
            terms: AccessTokenTerms {
                scopes: scopes("write:charges read:charges"),
                ..claims.terms.clone()
            },
            ..claims.clone()
        },
        &format!(r#"{start},"scope":"read:charges write:charges"}}"#),
    );
    check(
        AccessTokenClaims {
            terms: AccessTokenTerms {
                scopes: Scopes::default(),
                ..claims.terms.clone()
            },
            auth_time: Some(now()),
            ..claims
        },
        &format!(r#"{start},"auth_time":1800000000}}"#),
    );
}
