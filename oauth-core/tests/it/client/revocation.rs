//! Revocation requests of the client.

use oauth_core::client::ResponseError;

use super::*;

fn revoking() -> Client {
    let endpoint = "https://as.example/revoke".parse().unwrap();
    Client::new(
        provider().with_revocation_endpoint(endpoint),
        "demo web".parse().unwrap(),
    )
}

/// O13: a token is sent in the body, with its type hint.
#[test]
fn revocation_sends_token_with_its_type() {
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

/// O13: only a successful response counts as a revocation.
#[test]
fn failed_response_is_no_revocation() {
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
