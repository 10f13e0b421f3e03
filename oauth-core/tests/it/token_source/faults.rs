//! Failing servers, and servers that refuse.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::*;

/// O9, 97: a failure is reported to all waiters and not cached: the next caller tries again with
/// the same refresh token.
#[tokio::test]
async fn failure_is_reported_to_all_and_not_cached() {
    for (fault, expected) in [
        (Fault::Lost, "lost"),
        (Fault::Status(503, ""), "status 503 Service Unavailable"),
        (
            Fault::Status(401, r#"{"error":"invalid_client"}"#),
            "refused: invalid_client",
        ),
    ] {
        let server = Rotating::closed();
        let source = server.ended();
        server.meets([fault]);
        let mut waiting: Vec<_> = (0..8).map(|_| Box::pin(token(&source))).collect();
        for caller in &mut waiting {
            assert!(caller.now_or_never().is_none());
        }
        server.gate.add_permits(2);
        for caller in waiting {
            assert_eq!(caller.await, fails(expected));
        }
        assert_eq!(server.asked(), ["rt-1"], "{expected}");
        assert_eq!(token(&source).await, same("at-2"));
        assert_eq!(server.asked(), ["rt-1", "rt-1"], "{expected}");
    }
}

/// O9, 97: after `invalid_grant` the server is not asked again.
#[tokio::test]
async fn invalid_grant_is_final() {
    let server = Rotating::open();
    let source = server.ended();
    server.meets([Fault::Status(400, r#"{"error":"invalid_grant"}"#)]);
    for _ in 0..3 {
        assert_eq!(token(&source).await, fails("ended: invalid_grant"));
        assert_eq!(renew(&source, "at-1").await, fails("ended: invalid_grant"));
        assert_eq!(token(&source.clone()).await, fails("ended: invalid_grant"));
    }
    assert_eq!(server.asked(), ["rt-1"]);
}

/// O9, 97: a panic of the transport is a failure, and the next caller succeeds.
#[tokio::test]
async fn a_transport_that_panics_has_failed() {
    let server = Rotating::open();
    let source = server.ended();
    server.meets([Fault::Panic]);
    assert_eq!(token(&source).await, fails("lost"));
    assert_eq!(token(&source).await, same("at-2"));
    assert_eq!(server.asked(), ["rt-1", "rt-1"]);
}

/// O9, 97: without a refresh token nothing is sent.
#[tokio::test]
async fn without_refresh_token_nothing_is_sent() {
    let server = Rotating::open();
    let body = r#"{"access_token":"at-1","token_type":"Bearer","expires_in":600}"#;
    let (_, pending) = client()
        .client_credentials(&"read:charges".parse().unwrap())
        .start(&OsEntropy, server.clock.now())
        .unwrap();
    let tokens = pending
        .finish(Response::new(body.into()), server.clock.now())
        .unwrap();
    let source = TokenSource::new(tokens, server.ports());
    assert_eq!(token(&source).await, same("at-1"));
    assert_eq!(renew(&source, "at-1").await, fails("no refresh token"));
    assert_eq!(token(&source).await, same("at-1"));
    server.clock.advance(LIFE);
    assert_eq!(token(&source).await, fails("no refresh token"));
    assert!(server.asked().is_empty());
}

/// O18, 54, 97: tokens beside an ID token of another subject are discarded.
#[tokio::test]
async fn tokens_of_other_subject_are_discarded() {
    let id_token = |subject: &str| {
        let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
        format!(
            "{}.{}.{}",
            part(r#"{"alg":"ES256"}"#),
            part(&format!(r#"{{"sub":"{subject}"}}"#)),
            part("s")
        )
    };
    let server = Rotating::open();
    let first = format!(
        r#"{{"access_token":"at-1","token_type":"Bearer","expires_in":0,"refresh_token":"rt-1","id_token":"{}"}}"#,
        id_token("ada")
    );
    let beside = |subject| Fault::Tokens(format!(r#","id_token":"{}""#, id_token(subject)).leak());
    server.meets([beside("eve"), beside("ada")]);
    let source = TokenSource::new(server.signed_in(&first), server.ports());
    let told = token(&source).await.unwrap_err();
    assert!(told.contains("WrongSubject"), "{told}");
    assert_eq!(source.current().unwrap().access_token().expose(), "at-1");
    assert_eq!(token(&source).await, same("at-3"));
}
