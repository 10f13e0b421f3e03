//! Authorization requests and responses, which go through the browser.

use std::collections::BTreeSet;

use super::*;

/// O2, 89: the request carries every required parameter, and PKCE always uses S256.
#[test]
fn an_authorization_request_carries_everything() {
    let (params, pending) = authorize(&client(), &asking("openid read:charges"));
    assert_eq!(params.first_repeated(&[]), None);
    for (name, expected) in [
        ("response_type", "code"),
        ("client_id", "demo web"),
        ("redirect_uri", "https://app.example/cb"),
        ("scope", "openid read:charges"),
        ("state", pending.state().as_str()),
        ("code_challenge_method", "S256"),
    ] {
        assert_eq!(params.optional(name), Some(expected));
    }
    assert_eq!(params.optional("code_challenge").unwrap().len(), 43);
    assert_eq!(params.optional("nonce").unwrap().len(), 43);
    let (params, _) = authorize(&client(), &asking(""));
    assert_eq!((params.optional("nonce"), params.optional("scope")), (None, None));
}

/// O5, 89: state, nonce and verifier are fresh for each request. The verifier is in no URL, so that
/// a reader of the URL cannot redeem the code.
#[test]
fn state_nonce_and_verifier_are_of_one_request_alone() {
    let counter = AtomicU8::new(1);
    let entropy = entropy_fn(move |bytes: &mut [u8]| bytes.fill(counter.fetch_add(1, Ordering::Relaxed)));
    let mut seen = BTreeSet::new();
    for _ in 0..2 {
        let (url, pending) = client().authorize(&asking("openid"), &entropy, now()).unwrap();
        let asked = Params::parse(url.split_once('?').unwrap().1.as_bytes()).unwrap();
        let callback = GOOD.replace("STATE", pending.state().as_str());
        let (request, _) = start(pending.finish(&callback, now()).unwrap());
        let redeemed = Params::parse(request.body()).unwrap();
        let verifier = redeemed.optional("code_verifier").unwrap();
        assert!(!url.contains(verifier));
        let secrets = [asked.optional("state"), asked.optional("nonce"), Some(verifier)];
        seen.extend(secrets.map(|secret| secret.unwrap().to_owned()));
    }
    assert_eq!(seen.len(), 6, "{seen:?}");
}

/// O2: the options of the client (pages, scopes, resources) are sent under their own names.
#[test]
fn options_of_client_are_sent() {
    let wanted = asking("openid")
        .with_resource("https://api.example".parse().unwrap())
        .with_resource("https://files.example".parse().unwrap())
        .with_max_age(Duration::from_millis(90_999))
        .with_prompt(Prompt::Login)
        .with_prompt(Prompt::Consent)
        .with_login_hint("ada+1@example.com")
        .with_ui_locales("de en")
        .with_parameter("acr_values", "1")
        .and_then(|params| params.with_parameter("acr_values", "phr"))
        .unwrap();
    let (params, _) = authorize(&client(), &wanted);
    assert_eq!(params.first_repeated(&["resource"]), None);
    let resources: Vec<_> = params.all("resource").collect();
    assert_eq!(resources, ["https://api.example", "https://files.example"]);
    for (name, expected) in [
        ("max_age", "90"),
        ("prompt", "consent login"),
        ("login_hint", "ada+1@example.com"),
        ("ui_locales", "de en"),
        ("acr_values", "phr"),
    ] {
        assert_eq!(params.optional(name), Some(expected));
    }
    let (params, _) = authorize(&client(), &wanted.with_prompt_none());
    assert_eq!(params.optional("prompt"), Some("none"));
}

/// O2, 89: extra parameters of the host cannot overwrite state, nonce, challenge and the like.
#[test]
fn extra_parameter_cannot_overwrite_protection() {
    for name in [
        "",
        "state",
        "nonce",
        "code_challenge",
        "code_challenge_method",
        "redirect_uri",
        "client_id",
        "response_type",
        "response_mode",
        "scope",
        "request",
        "request_uri",
        "dpop_jkt",
        "client_secret",
        "client_assertion",
        "max_age",
        "prompt",
        "resource",
    ] {
        let refused = asking("openid").with_parameter(name, "x");
        assert_eq!(refused.unwrap_err(), ReservedParameter, "{name}");
    }
}

/// O23: if the server requires pushed requests, no request goes through the browser.
#[test]
fn a_request_that_must_be_pushed_is_not_sent_by_the_browser() {
    let pushed = provider().with_required_pushed_authorization_requests();
    let client = Client::new(pushed, "demo-web".parse().unwrap());
    let refused = client.authorize(&asking("openid"), &OsEntropy, now());
    assert_eq!(refused.unwrap_err(), NotOffered::UnpushedAuthorizationRequest);
}

/// O5, 89, 91: state is fresh per request, compared exactly, and mandatory.
#[test]
fn an_answer_with_another_state_is_refused() {
    assert!(finish(GOOD).is_ok());
    for state in ["", "x", "STATEx", "STAT"] {
        let query = GOOD.replace("STATE", state);
        assert_eq!(finish(&query).unwrap_err(), CallbackError::WrongState, "{state}");
    }
    assert_eq!(
        finish("code=c&iss=https%3A%2F%2Fas.example").unwrap_err(),
        CallbackError::WrongState
    );
    assert_eq!(
        finish("error=access_denied&state=x&iss=https%3A%2F%2Fas.example").unwrap_err(),
        CallbackError::WrongState
    );
}

/// O5, 89: a response is accepted for ten minutes, and refused at the instant they end.
#[test]
fn an_answer_after_ten_minutes_is_refused() {
    let finish_after = |age| {
        let (_, pending) = authorize(&client(), &asking("openid"));
        let query = GOOD.replace("STATE", pending.state().as_str());
        pending.finish(&query, now() + age).map(|_| ())
    };
    assert_eq!(
        finish_after(Duration::from_secs(600) - Duration::from_nanos(1)),
        Ok(())
    );
    assert_eq!(
        finish_after(Duration::from_secs(600)),
        Err(CallbackError::Expired)
    );
}

/// O3, 90: the response must name the issuer that was asked, error responses included.
#[test]
fn an_answer_from_another_issuer_is_refused() {
    for issuer in [
        "https%3A%2F%2Fevil.example",
        "https%3A%2F%2Fas.example%2F",
        "https%3A%2F%2FAS.example",
        "",
    ] {
        for result in ["code=c", "error=access_denied"] {
            let query = format!("{result}&state=STATE&iss={issuer}");
            assert_eq!(finish(&query).unwrap_err(), CallbackError::WrongIssuer, "{query}");
        }
    }
    let lax = Client::new(
        provider().danger_without_issuer_in_response(),
        "demo-web".parse().unwrap(),
    );
    let finish_lax = |query: &str| finish_at(&lax, query).map(|_| ());
    assert_eq!(finish_lax("code=c&state=STATE"), Ok(()));
    assert_eq!(
        finish_lax("code=c&state=STATE&iss=https%3A%2F%2Fevil.example"),
        Err(CallbackError::WrongIssuer)
    );
}

/// O5, 91: a response with repeated or contradictory parameters is refused, even if one of the
/// values is right.
#[test]
fn a_contradictory_answer_is_refused() {
    for query in [
        "code=c&state=STATE&state=STATE&iss=https%3A%2F%2Fas.example",
        "code=c&state=x&state=STATE&iss=https%3A%2F%2Fas.example",
        "code=c&code=d&state=STATE&iss=https%3A%2F%2Fas.example",
        "code=c&state=STATE&iss=https%3A%2F%2Fas.example&iss=https%3A%2F%2Fevil.example",
        "code=c&error=access_denied&state=STATE&iss=https%3A%2F%2Fas.example",
        "state=STATE&iss=https%3A%2F%2Fas.example",
        "code=%0a&state=STATE&iss=https%3A%2F%2Fas.example",
        "code=%zz&state=STATE&iss=https%3A%2F%2Fas.example",
    ] {
        assert_eq!(finish(query).unwrap_err(), CallbackError::Malformed, "{query}");
    }
}

#[test]
fn refusal_is_reported_with_its_code() {
    let query = "error=access_denied&error_description=no&state=STATE&iss=https%3A%2F%2Fas.example";
    let CallbackError::Refused(answer) = finish(query).unwrap_err() else {
        panic!("a refusal")
    };
    assert_eq!(
        (answer.code(), answer.description()),
        ("access_denied", Some("no"))
    );
}
