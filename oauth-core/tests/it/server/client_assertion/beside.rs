//! Assertions beside other credentials, and incomplete ones.

use super::*;

/// O6, 5: an assertion beside another method is refused, even if both are valid.
#[tokio::test]
async fn an_assertion_beside_another_method_is_refused() {
    let (fixture, replays) = server().await;
    let token = assertion(&json!({}));
    let secret = secret("web");
    let (assertion, secret) = (
        ("client_assertion", token.as_str()),
        ("client_secret", secret.expose()),
    );
    let id = ("client_id", "web");
    for (headers, pairs) in [
        (HeaderMap::new(), vec![GRANT, TYPE, assertion, id, secret]),
        (HeaderMap::new(), vec![GRANT, TYPE, id, secret]),
        (basic("web"), vec![GRANT, TYPE, assertion]),
        (basic("web"), vec![GRANT, assertion]),
        (basic("web"), vec![GRANT, TYPE]),
    ] {
        let answer = fixture.server.token(post(headers, &pairs)).await;
        assert_error(&answer, 400, "invalid_request");
        assert_eq!(reason(&answer), Reason::SeveralClientAuthentications.code());
    }
    assert_eq!(replays.asked.load(Ordering::Relaxed), 0);
}

/// O6, 1, 6: a part of an assertion, or one of another type, is refused; a client with a key has no
/// other method.
#[tokio::test]
async fn incomplete_assertion_is_refused() {
    let (fixture, replays) = server().await;
    let token = assertion(&json!({}));
    let assertion = ("client_assertion", token.as_str());
    let saml = "urn:ietf:params:oauth:client-assertion-type:saml2-bearer";
    for pairs in [
        vec![GRANT, assertion],
        vec![GRANT, assertion, ("client_assertion_type", "")],
        vec![GRANT, assertion, ("client_assertion_type", saml)],
        vec![GRANT, TYPE],
        vec![GRANT, TYPE, ("client_id", "native")],
        vec![GRANT, TYPE, ("client_assertion", ""), ("client_id", "native")],
    ] {
        let answer = fixture.server.token(post(HeaderMap::new(), &pairs)).await;
        assert_refused(&answer, Reason::ClientAssertionUnsupported);
    }
    for request in [
        post(HeaderMap::new(), &[GRANT, ("client_id", "robot")]),
        post(
            HeaderMap::new(),
            &[GRANT, ("client_id", "robot"), ("client_secret", "x")],
        ),
        post(basic("robot"), &[GRANT]),
    ] {
        assert_refused(
            &fixture.server.token(request).await,
            Reason::ClientAuthenticationMismatch,
        );
    }
    let twice = post(HeaderMap::new(), &[GRANT, TYPE, assertion, assertion]);
    assert_error(&fixture.server.token(twice).await, 400, "invalid_request");
    assert_eq!(replays.asked.load(Ordering::Relaxed), 0);
}

/// O6, 8: a `client_id` in the form must be that of the assertion.
#[tokio::test]
async fn the_client_id_of_the_form_must_be_that_of_the_assertion() {
    let (fixture, replays) = server().await;
    let token = assertion(&json!({}));
    for id in ["android", "web", "ROBOT", "unregistered"] {
        let pairs = [
            GRANT,
            TYPE,
            ("client_assertion", token.as_str()),
            ("client_id", id),
        ];
        let answer = fixture.server.token(post(HeaderMap::new(), &pairs)).await;
        assert_error(&answer, 400, "invalid_request");
        assert_eq!(reason(&answer), Reason::ClientIdMismatch.code());
    }
    assert_eq!(replays.asked.load(Ordering::Relaxed), 0);
}
