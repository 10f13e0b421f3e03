//! Pending sign-ins as text, so that another instance can finish them.

use oauth_core::client::InvalidPendingText;
use serde_json::{Value, json};

use super::*;

const AGE: Duration = Duration::from_secs(600);

fn begun(scopes: &str) -> (Params, PendingAuthorization) {
    authorize(&client(), &asking(scopes).with_max_age(Duration::from_secs(60)))
}

fn text(scopes: &str) -> Value {
    serde_json::from_str(begun(scopes).1.into_text().expose()).unwrap()
}

/// O5, 89: a pending sign-in survives its text form with all values, to the nanosecond.
#[test]
fn pending_request_is_finished_by_another_instance() {
    let key = SigningKey::generate_es256(&entropy_fn(|bytes: &mut [u8]| bytes.fill(7))).unwrap();
    let keys = KeySet::new([key.public_key().clone()]).unwrap();
    for (scopes, signed_in_ago, fits) in [("openid a", 60, true), ("openid a", 66, false), ("a", 60, true)] {
        let (params, pending) = begun(scopes);
        let text = pending.into_text();
        let resume = || client().resume(text.expose()).unwrap();
        assert_eq!(Some(resume().state().as_str()), params.optional("state"));
        let query = GOOD.replace("STATE", params.optional("state").unwrap());
        let late = resume().finish(&query, now() + AGE).unwrap_err();
        assert_eq!(late, CallbackError::Expired);
        let other = resume().finish(&query.replace("as.example", "evil.example"), now());
        assert_eq!(other.unwrap_err(), CallbackError::WrongIssuer);
        let other = resume().finish(&GOOD.replace("STATE", "x"), now());
        assert_eq!(other.unwrap_err(), CallbackError::WrongState);

        let just_in_time = now() + AGE - Duration::from_nanos(1);
        let (request, pending) = start(resume().finish(&query, just_in_time).unwrap());
        let sent = Params::parse(request.body()).unwrap();
        let verifier: CodeVerifier = sent.optional("code_verifier").unwrap().parse().unwrap();
        let challenge = params.optional("code_challenge").unwrap();
        assert_eq!(verifier.challenge().to_string(), challenge);
        assert_eq!(sent.optional("redirect_uri"), Some("https://app.example/cb"));

        let claims = |nonce: Option<&str>| IdTokenClaims {
            issuer: "https://as.example".parse().unwrap(),
            subject: "ada".parse().unwrap(),
            audience: "demo web".parse().unwrap(),
            nonce: nonce.map(|nonce| nonce.parse().unwrap()),
            issued_at: now(),
            expires_at: now() + AGE,
            auth_time: Some(now() - Duration::from_secs(signed_in_ago)),
            email: None,
            email_verified: None,
            name: None,
            claims: Default::default(),
        };
        let tokens = |pending: Pending<TokenResponse>, nonce| {
            let id_token = claims(nonce).sign(&key, None).unwrap();
            let body = format!(r#"{{"access_token":"at","token_type":"Bearer","id_token":"{id_token}"}}"#);
            pending.finish(answer(200, &body), now()).unwrap()
        };
        let good = tokens(pending, params.optional("nonce"));
        assert_eq!(good.scopes(), &scopes.parse::<Scopes>().unwrap());
        let expected = if fits { Ok(()) } else { Err(JwtError::SignInTooOld) };
        assert_eq!(good.identity(&keys, now()).map(|_| ()), expected);
        if params.optional("nonce").is_some() {
            let (_, pending) = start(resume().finish(&query, now()).unwrap());
            let replayed = tokens(pending, Some("x"));
            assert_eq!(replayed.identity(&keys, now()), Err(JwtError::WrongNonce));
        }
    }
}

/// O5, 89, 95: a text of another client or another server is refused.
#[test]
fn the_request_of_another_client_is_not_resumed() {
    let text = begun("openid").1.into_text();
    let elsewhere = Provider::new(
        "https://other.example".parse().unwrap(),
        "https://as.example/authorize".parse().unwrap(),
        "https://as.example/token".parse().unwrap(),
    );
    let another = Client::new(provider(), "demo".parse().unwrap());
    for client in [another, Client::new(elsewhere, "demo web".parse().unwrap())] {
        assert_eq!(client.resume(text.expose()).unwrap_err(), InvalidPendingText);
    }
    assert!(client().resume(text.expose()).is_ok());
}

/// O5, 89: a text that is incomplete, without a nonce, of another version or malformed is refused.
#[test]
fn malformed_text_is_not_resumed() {
    let good = text("openid");
    let names: Vec<_> = good.as_object().unwrap().keys().cloned().collect();
    assert_eq!(names.len(), 10);
    let resume = |text: &str| client().resume(text).map(|_| ());
    for name in names {
        for other in [
            Value::Null,
            json!(""),
            json!("\u{e9}"),
            json!(-1),
            json!(u64::MAX),
            json!({}),
        ] {
            let mut changed = good.clone();
            changed[&name] = other.clone();
            let fits = name == "max_age" && (other.is_null() || other == json!(u64::MAX));
            assert_eq!(resume(&changed.to_string()).is_ok(), fits, "{changed}");
        }
        let mut without = good.clone();
        without.as_object_mut().unwrap().remove(&name);
        assert_eq!(
            resume(&without.to_string()).is_ok(),
            name == "max_age",
            "{without}"
        );
    }
    let mut newer = good.clone();
    newer["version"] = json!(2);
    let mut nonce_of_nothing = text("a");
    nonce_of_nothing["nonce"] = json!("n");
    let whole = good.to_string();
    let twice = whole.replacen('{', r#"{"version":1,"#, 1);
    let cut = whole.strip_suffix('}').unwrap();
    let followed = format!("{whole}x");
    let padded = format!("{whole}{}", " ".repeat(64 * 1024));
    for text in [
        newer.to_string().as_str(),
        nonce_of_nothing.to_string().as_str(),
        twice.as_str(),
        cut,
        followed.as_str(),
        padded.as_str(),
        "",
        "[]",
    ] {
        assert_eq!(resume(text), Err(InvalidPendingText), "{text}");
    }
    assert_eq!(resume(&whole), Ok(()));
}

/// O5, 89: `Debug` output of a pending sign-in and of its text has no secret.
#[test]
fn pending_request_is_redacted_in_debug() {
    let (params, pending) = begun("openid");
    let printed = format!("{pending:?}");
    let text = pending.into_text();
    let verifier = serde_json::from_str::<Value>(text.expose()).unwrap()["code_verifier"]
        .as_str()
        .unwrap()
        .to_owned();
    let printed = format!("{printed} {text:?}");
    for secret in [
        params.optional("state").unwrap(),
        params.optional("nonce").unwrap(),
        verifier.as_str(),
    ] {
        assert!(text.expose().contains(secret));
        assert!(!printed.contains(secret), "{printed}");
    }
}
