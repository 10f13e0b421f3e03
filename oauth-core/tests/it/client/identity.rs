//! The identity of the signed-in user.

use oauth_core::jose::Algorithm;

use super::*;

/// O18, 82, 83, 84, 85, 86, 88: the identity is available only after signature, issuer, audience,
/// expiry, nonce and access token hash were verified.
#[test]
fn identity_is_verified_before_use() {
    let key = SigningKey::generate_es256(&entropy_fn(|bytes: &mut [u8]| bytes.fill(7))).unwrap();
    let keys = KeySet::new([key.public_key().clone()]).unwrap();
    let client = client();
    let identity = |change: &dyn Fn(&mut IdTokenClaims), beside: &str, key: &SigningKey| {
        let (grant, nonce) = grant(&client);
        let mut claims = IdTokenClaims {
            issuer: "https://as.example".parse().unwrap(),
            subject: "ada".parse().unwrap(),
            audience: "demo web".parse().unwrap(),
            nonce: Some(nonce),
            issued_at: now(),
            expires_at: now() + Duration::from_secs(600),
            auth_time: Some(now()),
            email: Some("ada@example.com".to_owned()),
            email_verified: Some(true),
            name: Some("Ada".to_owned()),
            claims: Default::default(),
        };
        change(&mut claims);
        let id_token = claims.sign(key, Some(&beside.parse().unwrap())).unwrap();
        let body = format!(r#"{{"access_token":"at","token_type":"Bearer","id_token":"{id_token}"}}"#);
        let tokens = start(grant).1.finish(answer(200, &body), now()).unwrap();
        tokens.identity(&keys, now()).map(|claims| claims.unwrap().email)
    };
    assert_eq!(
        identity(&|_| {}, "at", &key),
        Ok(Some("ada@example.com".to_owned()))
    );
    assert_eq!(
        identity(&|_| {}, "at-other", &key),
        Err(JwtError::WrongAccessToken)
    );
    assert_eq!(
        identity(&|claims| claims.nonce = None, "at", &key),
        Err(JwtError::WrongNonce)
    );
    assert_eq!(
        identity(&|claims| claims.nonce = "x".parse().ok(), "at", &key),
        Err(JwtError::WrongNonce)
    );
    let other_audience = |claims: &mut IdTokenClaims| claims.audience = "demo-native".parse().unwrap();
    assert_eq!(
        identity(&other_audience, "at", &key),
        Err(JwtError::WrongAudience)
    );
    let other_issuer = |claims: &mut IdTokenClaims| claims.issuer = "https://evil.example".parse().unwrap();
    assert_eq!(identity(&other_issuer, "at", &key), Err(JwtError::WrongIssuer));
    let expired = |claims: &mut IdTokenClaims| claims.expires_at = now() - Duration::from_secs(5);
    assert_eq!(identity(&expired, "at", &key), Err(JwtError::Expired));
    let thief = SigningKey::generate_es256(&entropy_fn(|bytes: &mut [u8]| bytes.fill(8))).unwrap();
    assert_eq!(identity(&|_| {}, "at", &thief), Err(JwtError::UnknownKey));
}

/// O18: with a registered algorithm, an ID token of another algorithm is refused, although the
/// issuer's keys have a key for it.
#[test]
fn id_token_of_unregistered_algorithm_is_refused() {
    let key = SigningKey::generate_es256(&entropy_fn(|bytes: &mut [u8]| bytes.fill(7))).unwrap();
    let keys = KeySet::new([key.public_key().clone()]).unwrap();
    let identity = |client: &Client| {
        let (grant, nonce) = grant(client);
        let claims = IdTokenClaims {
            issuer: "https://as.example".parse().unwrap(),
            subject: "ada".parse().unwrap(),
            audience: "demo web".parse().unwrap(),
            nonce: Some(nonce),
            issued_at: now(),
            expires_at: now() + Duration::from_secs(600),
            auth_time: None,
            email: None,
            email_verified: None,
            name: None,
            claims: Default::default(),
        };
        let id_token = claims.sign(&key, None).unwrap();
        let body = format!(r#"{{"access_token":"at","token_type":"Bearer","id_token":"{id_token}"}}"#);
        let tokens = start(grant).1.finish(answer(200, &body), now()).unwrap();
        tokens.identity(&keys, now()).map(|claims| claims.is_some())
    };
    assert_eq!(identity(&client()), Ok(true));
    let same = client().with_id_token_algorithm(Algorithm::Es256);
    assert_eq!(identity(&same), Ok(true));
    let other = client().with_id_token_algorithm(Algorithm::Ps256);
    assert_eq!(identity(&other), Err(JwtError::UnsupportedAlgorithm));
}

/// O18, 84: an unrequested ID token is ignored: with client credentials, or without the scope
/// `openid`.
#[test]
fn unrequested_id_token_is_ignored() {
    let key = SigningKey::generate_es256(&entropy_fn(|bytes: &mut [u8]| bytes.fill(7))).unwrap();
    let keys = KeySet::new([key.public_key().clone()]).unwrap();
    let claims = IdTokenClaims {
        issuer: "https://as.example".parse().unwrap(),
        subject: "eve".parse().unwrap(),
        audience: "demo web".parse().unwrap(),
        nonce: None,
        issued_at: now(),
        expires_at: now() + Duration::from_secs(600),
        auth_time: None,
        email: None,
        email_verified: None,
        name: None,
        claims: Default::default(),
    };
    let id_token = claims.sign(&key, Some(&"at".parse().unwrap())).unwrap();
    let body = format!(r#"{{"access_token":"at","token_type":"Bearer","id_token":"{id_token}"}}"#);
    let (_, pending) = authorize(&client(), &asking("read:charges"));
    let callback = GOOD.replace("STATE", pending.state().as_str());
    let of_itself = client().client_credentials(&"read:charges".parse().unwrap());
    for call in [pending.finish(&callback, now()).unwrap(), of_itself] {
        let tokens = start(call).1.finish(answer(200, &body), now()).unwrap();
        assert!(tokens.identity(&keys, now()).unwrap().is_none());
    }
}

/// O18, 54: a refreshed ID token must have the same subject; it needs no nonce.
#[test]
fn a_refreshed_identity_is_the_same_person() {
    let key = SigningKey::generate_es256(&entropy_fn(|bytes: &mut [u8]| bytes.fill(7))).unwrap();
    let keys = KeySet::new([key.public_key().clone()]).unwrap();
    let answer_about = |subject: &str| {
        let claims = IdTokenClaims {
            issuer: "https://as.example".parse().unwrap(),
            subject: subject.parse().unwrap(),
            audience: "demo web".parse().unwrap(),
            nonce: None,
            issued_at: now(),
            expires_at: now() + Duration::from_secs(600),
            auth_time: None,
            email: None,
            email_verified: None,
            name: None,
            claims: Default::default(),
        };
        let id_token = claims.sign(&key, None).unwrap();
        let body = format!(r#"{{"access_token":"at","token_type":"Bearer","id_token":"{id_token}"}}"#);
        answer(200, &body)
    };
    let finish = |call: Call<TokenResponse>, response| start(call).1.finish(response, now());
    let plain = || answer(200, r#"{"access_token":"at","token_type":"Bearer"}"#);
    let stored = || client().refresh(&"rt".parse().unwrap(), &"openid".parse().unwrap());
    let ada = || stored().with_subject("ada".parse().unwrap());
    let first = finish(ada(), answer_about("ada")).unwrap();
    assert_eq!(
        first.identity(&keys, now()).unwrap().unwrap().subject.as_str(),
        "ada"
    );
    let another = |call, response| finish(call, response).unwrap_err();
    assert_eq!(another(ada(), answer_about("eve")), TokenError::WrongSubject);

    // by default the subject of the tokens so far, also if a refresh between brought no ID token
    let first = finish(stored(), answer_about("ada")).unwrap();
    let refresh = |tokens: &TokenResponse| tokens.refresh().unwrap();
    assert_eq!(
        another(refresh(&first), answer_about("eve")),
        TokenError::WrongSubject
    );
    let second = finish(refresh(&first), plain()).unwrap();
    assert_eq!(
        another(refresh(&second), answer_about("eve")),
        TokenError::WrongSubject
    );
    let third = finish(refresh(&second), answer_about("ada")).unwrap();
    assert!(third.identity(&keys, now()).unwrap().is_some());
    // an unreadable ID token is refused at verification
    let garbled = answer(
        200,
        r#"{"access_token":"at","token_type":"Bearer","id_token":"x.y.z"}"#,
    );
    let garbled = finish(refresh(&second), garbled).unwrap();
    assert_eq!(garbled.identity(&keys, now()), Err(JwtError::Malformed));
    assert_eq!(
        exchange(200, r#"{"access_token":"at","token_type":"Bearer"}"#)
            .unwrap()
            .identity(&keys, now()),
        Ok(None)
    );
}

/// O18, 86: if the client required a fresh sign-in, `auth_time` must fit the time of the request.
#[test]
fn stale_sign_in_is_refused() {
    let key = SigningKey::generate_es256(&entropy_fn(|bytes: &mut [u8]| bytes.fill(7))).unwrap();
    let keys = KeySet::new([key.public_key().clone()]).unwrap();
    let identity = |signed_in: Option<SystemTime>, later: Duration| {
        let wanted = asking("openid").with_max_age(Duration::from_secs(60));
        let (params, pending) = authorize(&client(), &wanted);
        let claims = IdTokenClaims {
            issuer: "https://as.example".parse().unwrap(),
            subject: "ada".parse().unwrap(),
            audience: "demo web".parse().unwrap(),
            nonce: params.optional("nonce").unwrap().parse().ok(),
            issued_at: now(),
            expires_at: now() + Duration::from_secs(600),
            auth_time: signed_in,
            email: None,
            email_verified: None,
            name: None,
            claims: Default::default(),
        };
        let id_token = claims.sign(&key, None).unwrap();
        let query = GOOD.replace("STATE", pending.state().as_str());
        let call = pending.finish(&query, now() + later).unwrap();
        let body = format!(r#"{{"access_token":"at","token_type":"Bearer","id_token":"{id_token}"}}"#);
        let tokens = start(call).1.finish(answer(200, &body), now() + later).unwrap();
        tokens.identity(&keys, now() + later).map(|_| ())
    };
    let ago = |seconds| Some(now() - Duration::from_secs(seconds));
    let none = Duration::ZERO;
    assert_eq!(identity(ago(60), none), Ok(()));
    assert_eq!(identity(ago(66), none), Err(JwtError::SignInTooOld));
    assert_eq!(identity(None, none), Err(JwtError::SignInTooOld));
    // time at the consent page does not count
    assert_eq!(identity(ago(60), Duration::from_secs(500)), Ok(()));
}
