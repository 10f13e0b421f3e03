//! The way through the browser.

use super::*;

/// O2: the request carries what the server demands, and PKCE with S256 always.
#[test]
fn an_authorization_request_carries_everything() {
    let (params, pending) = authorize(&client(), "openid read:charges");
    assert_eq!(params.repeated(&[]), None);
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
    let (params, _) = authorize(&client(), "");
    assert_eq!((params.optional("nonce"), params.optional("scope")), (None, None));
}

/// O5: state is fresh for each request, compared exactly, and mandatory.
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

/// O5: an answer is taken for ten minutes, and not at the instant they end.
#[test]
fn an_answer_after_ten_minutes_is_refused() {
    let finish_after = |age| {
        let (_, pending) = authorize(&client(), "openid");
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

/// O3: the answer must be from the server that was asked, before anything in it is believed, refusals
/// included.
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
        provider().without_issuer_in_response(),
        "demo-web".parse().unwrap(),
        "https://app.example/cb".parse().unwrap(),
    );
    let finish_lax = |query: &str| {
        let (_, pending) = authorize(&lax, "openid");
        let query = query.replace("STATE", pending.state().as_str());
        pending.finish(&query, now()).map(|_| ())
    };
    assert_eq!(finish_lax("code=c&state=STATE"), Ok(()));
    assert_eq!(
        finish_lax("code=c&state=STATE&iss=https%3A%2F%2Fevil.example"),
        Err(CallbackError::WrongIssuer)
    );
}

/// O5: repeated parameters and contradictions are refused, whichever of the values would be right.
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
fn a_refusal_is_told_with_its_code() {
    let query = "error=access_denied&error_description=no&state=STATE&iss=https%3A%2F%2Fas.example";
    let CallbackError::Refused(answer) = finish(query).unwrap_err() else {
        panic!("a refusal")
    };
    assert_eq!(
        (answer.code(), answer.description()),
        ("access_denied", Some("no"))
    );
}
