//! Claims of ID tokens, and confusion with other tokens.

use super::*;

/// O18, 73: an ID token is refused as an access token, and the other way round, even with matching
/// claims.
#[test]
fn one_kind_of_token_never_passes_for_another() {
    for typ in [
        "JWT",
        "jwt",
        "application/jwt",
        "dpop+jwt",
        "logout+jwt",
        "token-introspection+jwt",
        "at+jwt2",
        "x/at+jwt",
        "",
    ] {
        let token = forge(&header(typ), &format!("{{{CLAIMS}}}"));
        assert_eq!(refusal(&token), JwtError::WrongType, "{typ}");
    }
    let untyped = format!(r#"{{"alg":"ES256","kid":"{}"}}"#, key().key_id());
    assert_eq!(
        refusal(&forge(&untyped, &format!("{{{CLAIMS}}}"))),
        JwtError::WrongType
    );
    assert!(verify_id(&forge(&untyped, &format!("{{{ID_CLAIMS}}}")), &id_policy()).is_ok());
    for typ in ["at+jwt", "application/at+jwt", "dpop+jwt", "logout+jwt"] {
        let token = forge(&header(typ), &format!("{{{ID_CLAIMS}}}"));
        assert_eq!(verify_id(&token, &id_policy()), Err(JwtError::WrongType), "{typ}");
    }
}

/// O18, 82, 83, 86: an ID token must be from the expected issuer, for this client alone, and `azp`
/// must agree.
#[test]
fn an_id_token_for_others_is_refused() {
    let check = |member: &str, expected: Result<(), JwtError>| {
        let token = forge(&header("JWT"), &with(ID_CLAIMS, member));
        assert_eq!(verify_id(&token, &id_policy()).map(|_| ()), expected, "{member}");
    };
    check(r#""aud":["demo-web"]"#, Ok(()));
    check(r#""azp":"demo-web""#, Ok(()));
    check(r#""aud":"demo-native""#, Err(JwtError::WrongAudience));
    check(r#""aud":[]"#, Err(JwtError::WrongAudience));
    check(
        r#""aud":["demo-web","demo-native"]"#,
        Err(JwtError::WrongAudience),
    );
    check(r#""azp":"demo-native""#, Err(JwtError::WrongAudience));
    check(r#""iss":"https://evil.com""#, Err(JwtError::WrongIssuer));
    check(r#""exp":1800000000"#, Err(JwtError::Expired));
    check(r#""iat":1800000001"#, Err(JwtError::NotYetValid));
    for name in ["iss", "sub", "aud", "exp", "iat"] {
        let token = forge(&header("JWT"), &without(ID_CLAIMS, name));
        assert_eq!(
            verify_id(&token, &id_policy()),
            Err(JwtError::Malformed),
            "{name}"
        );
    }
}

/// O18, 84: `nonce` must be present and equal the nonce of the request.
#[test]
fn an_id_token_of_another_sign_in_is_refused() {
    let policy = id_policy().with_nonce("n-1".parse().unwrap());
    let check = |claims: &str, expected: Result<(), JwtError>| {
        assert_eq!(
            verify_id(&forge(&header("JWT"), claims), &policy).map(|_| ()),
            expected,
            "{claims}"
        );
    };
    check(&with(ID_CLAIMS, r#""nonce":"n-1""#), Ok(()));
    check(&with(ID_CLAIMS, r#""nonce":"n-12""#), Err(JwtError::WrongNonce));
    check(&with(ID_CLAIMS, r#""nonce":"""#), Err(JwtError::WrongNonce));
    check(&format!("{{{ID_CLAIMS}}}"), Err(JwtError::WrongNonce));
    let other_person = id_policy().with_subject("eve".parse().unwrap());
    assert_eq!(
        verify_id(&forge(&header("JWT"), &format!("{{{ID_CLAIMS}}}")), &other_person),
        Err(JwtError::WrongSubject)
    );
}

/// O18, 86: a required `auth_time` is compared exactly, with the leeway.
#[test]
fn an_id_token_of_an_old_sign_in_is_refused() {
    let check = |member: &str, earliest: SystemTime, expected: Result<(), JwtError>| {
        let token = forge(&header("JWT"), &with(ID_CLAIMS, member));
        let policy = id_policy()
            .with_leeway(Duration::from_secs(5))
            .with_signed_in_since(earliest);
        assert_eq!(verify_id(&token, &policy).map(|_| ()), expected, "{member}");
    };
    let auth_time = r#""auth_time":1799999000"#;
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_799_999_000);
    let leeway = Duration::from_secs(5);
    check(auth_time, at, Ok(()));
    check(auth_time, at + leeway, Ok(()));
    let too_late = at + leeway + Duration::from_nanos(1);
    check(auth_time, too_late, Err(JwtError::SignInTooOld));
    check(r#""amr":[]"#, at, Err(JwtError::SignInTooOld));
    check(r#""auth_time":null"#, at, Err(JwtError::SignInTooOld));
    check(r#""auth_time":"1799999000""#, at, Err(JwtError::Malformed));
    check(r#""auth_time":1800000005"#, at, Ok(()));
    check(r#""auth_time":1800000006"#, at, Err(JwtError::NotYetValid));
    let nobody_asked = forge(&header("JWT"), &with(ID_CLAIMS, r#""auth_time":0"#));
    assert!(verify_id(&nobody_asked, &id_policy()).is_ok());
}

/// O18: an `email_verified` that is a string does not fail the sign-in. It counts as absent.
#[test]
fn malformed_email_verified_counts_as_absent() {
    for (written, read) in [
        ("true", Some(true)),
        ("false", Some(false)),
        (r#""true""#, None),
        ("1", None),
        ("null", None),
    ] {
        let claims = format!(r#"{{{ID_CLAIMS},"email_verified":{written}}}"#);
        let claims = verify_id(&forge(&header("JWT"), &claims), &id_policy()).unwrap();
        assert_eq!(claims.email_verified, read, "{written}");
    }
}

/// O18, 85: `at_hash`, if present, binds the access token to the ID token; `alg` can be pinned.
#[test]
fn an_id_token_beside_another_access_token_is_refused() {
    let (mine, other): (AccessToken, AccessToken) = ("at_mine".parse().unwrap(), "at_other".parse().unwrap());
    let claims = IdTokenClaims {
        issuer: ISSUER.parse().unwrap(),
        subject: "ada".parse().unwrap(),
        audience: "demo-web".parse().unwrap(),
        nonce: None,
        issued_at: now(),
        expires_at: now() + Duration::from_secs(600),
        auth_time: Some(now()),
        email: Some("ada@example.com".into()),
        email_verified: Some(true),
        name: Some("Ada \"L\"".into()),
        claims: Default::default(),
    };
    let token = claims.sign(&key(), Some(&mine)).unwrap();
    let expected = r#"{"iss":"https://as.example","sub":"ada","aud":"demo-web","iat":1800000000,"exp":1800000600,"at_hash":"HASH","auth_time":1800000000,"email":"ada@example.com","email_verified":true,"name":"Ada \"L\""}"#;
    let payload = URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap();
    assert_eq!(
        String::from_utf8(payload).unwrap(),
        expected.replace("HASH", &Algorithm::Es256.half_hash("at_mine"))
    );
    assert_eq!(
        verify_id(&token, &id_policy().with_access_token(mine.clone())),
        Ok(claims.clone())
    );
    assert_eq!(
        verify_id(&token, &id_policy().with_access_token(other)),
        Err(JwtError::WrongAccessToken)
    );
    let unbound = claims.sign(&key(), None).unwrap();
    assert_eq!(
        verify_id(&unbound, &id_policy().with_access_token(mine)),
        Ok(claims)
    );
    assert!(verify_id(&token, &id_policy().with_algorithm(Algorithm::Es256)).is_ok());
    assert_eq!(
        verify_id(&token, &id_policy().with_algorithm(Algorithm::Rs256)),
        Err(JwtError::UnsupportedAlgorithm)
    );
}
