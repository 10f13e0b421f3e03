//! Tokens that are given back.

use oauth_core::client::ResponseError;

use super::*;

fn revoking() -> Client {
    let endpoint = "https://as.example/revoke".parse().unwrap();
    Client::new(
        provider().with_revocation_endpoint(endpoint),
        "demo web".parse().unwrap(),
    )
}

/// O13: a token goes to the revocation endpoint with what it is, in the body.
#[test]
fn a_token_is_given_back_with_what_it_is() {
    let client = revoking();
    for (call, token, hint) in [
        (
            client.revoke_refresh_token(&"rt_1".parse().unwrap()),
            "rt_1",
            "refresh_token",
        ),
        (
            client.revoke_access_token(&"at_1".parse().unwrap()),
            "at_1",
            "access_token",
        ),
    ] {
        let (request, pending) = start(call.unwrap());
        assert_eq!(request.uri(), "https://as.example/revoke");
        let sent = Params::parse(request.body()).unwrap();
        let pairs = ["token", "token_type_hint", "client_id"].map(|name| sent.optional(name));
        assert_eq!(pairs, [Some(token), Some(hint), Some("demo web")]);
        assert!(!format!("{pending:?}").contains(token));
        assert_eq!(pending.finish(answer(200, ""), now()), Ok(()));
    }
}

/// O13: a token that the server may still take is not said to be gone.
#[test]
fn what_is_no_success_revokes_nothing() {
    let revoked = |status, body| {
        let (_, pending) = start(revoking().revoke_refresh_token(&"rt".parse().unwrap()).unwrap());
        pending.finish(answer(status, body), now())
    };
    for status in [204, 302, 404, 500, 503] {
        let unexpected = ResponseError::UnexpectedStatus(status.try_into().unwrap());
        assert_eq!(revoked(status, "").unwrap_err(), unexpected);
    }
    let refused = revoked(401, r#"{"error":"invalid_client"}"#);
    assert!(matches!(refused, Err(ResponseError::Refused(answer)) if answer.code() == "invalid_client"));
    let refused = client().revoke_access_token(&"at".parse().unwrap()).unwrap_err();
    assert_eq!(refused, NotOffered::Revocation);
}
