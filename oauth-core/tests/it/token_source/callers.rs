//! Single-flight refresh: waiting callers and dropped callers.

use super::*;

/// O9, 97: 32 concurrent callers cause one refresh, and all get the same tokens.
#[tokio::test]
async fn refresh_of_32_callers_is_single_flight() {
    let server = Rotating::closed();
    let source = server.ended();
    let sources: Vec<_> = (0..32).map(|_| source.clone()).collect();
    let mut waiting: Vec<_> = sources.iter().map(|source| Box::pin(source.token())).collect();
    for caller in &mut waiting {
        assert!(caller.now_or_never().is_none());
    }
    server.gate.add_permits(32);
    let mut given = Vec::new();
    for caller in waiting {
        given.push(caller.await.unwrap());
    }
    assert_eq!(given[0].access_token().expose(), "at-2");
    assert!(given.iter().all(|tokens| Arc::ptr_eq(tokens, &given[0])));
    assert_eq!(server.asked(), ["rt-1"]);
}

/// O9, 97: with many threads and several expiries, the server sees a chain without a fork.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn racing_threads_refresh_once_per_lifetime() {
    let server = Rotating::open();
    let source = server.source();
    for round in 2..12 {
        server.clock.advance(LIFE);
        let tasks: Vec<_> = (0..32)
            .map(|_| {
                let source = source.clone();
                tokio::spawn(async move { token(&source).await })
            })
            .collect();
        for task in tasks {
            assert_eq!(task.await.unwrap(), Ok(format!("at-{round}")));
        }
        assert_eq!(server.asked().len(), round - 1);
    }
}

/// O9, 97: if the caller that began the refresh is dropped after the rotation, the other callers
/// get its result.
#[tokio::test]
async fn next_caller_continues_dropped_refresh() {
    let server = Rotating::closed();
    let source = server.ended();
    let mut first = Box::pin(token(&source));
    let mut second = Box::pin(token(&source));
    assert!((&mut first).now_or_never().is_none());
    assert!((&mut second).now_or_never().is_none());
    drop(first);
    server.gate.add_permits(1);
    assert_eq!(second.await, same("at-2"));

    // no other caller was waiting
    server.clock.advance(LIFE);
    for _ in 0..10 {
        let mut caller = Box::pin(token(&source));
        assert!((&mut caller).now_or_never().is_none());
        drop(caller);
    }
    server.gate.add_permits(1);
    assert_eq!(token(&source).await, same("at-3"));
    assert_eq!(server.asked(), ["rt-1", "rt-2"]);
}

/// O9, 97: while a refused token is renewed, other callers still get it and do not see a failure of
/// the renewal.
#[tokio::test]
async fn renewal_of_refused_token_does_not_block_others() {
    let server = Rotating::closed();
    let source = server.source();
    server.meets([Fault::Lost]);
    let mut refused = Box::pin(renew(&source, "at-1"));
    assert!((&mut refused).now_or_never().is_none());
    assert_eq!(token(&source).now_or_never(), Some(same("at-1")));
    server.gate.add_permits(1);
    assert_eq!(token(&source).now_or_never(), Some(same("at-1")));
    assert_eq!(refused.await, fails("lost"));
    assert_eq!(token(&source).now_or_never(), Some(same("at-1")));
    assert_eq!(server.asked(), ["rt-1"]);
}

/// O9, 97: dropping the token source cancels its refresh.
#[tokio::test]
async fn dropping_source_cancels_refresh() {
    let server = Rotating::closed();
    let gate = Arc::downgrade(&server.gate);
    let source = server.ended();
    assert!(token(&source).now_or_never().is_none());
    drop((source, server));
    assert!(gate.upgrade().is_none());
}

/// O9, 97: an access token is replaced at an exact instant shortly before its expiry.
#[tokio::test]
async fn tokens_are_replaced_at_the_exact_instant() {
    for (leeway, set) in [
        (Duration::from_secs(10), None),
        (Duration::ZERO, Some(Duration::ZERO)),
        (SECOND * 90, Some(SECOND * 90)),
    ] {
        let server = Rotating::open();
        let source = match set {
            Some(leeway) => server.source().with_leeway(leeway),
            None => server.source(),
        };
        server.clock.advance(LIFE - leeway - TICK);
        assert_eq!(token(&source).await, same("at-1"), "{leeway:?}");
        server.clock.advance(TICK);
        assert_eq!(token(&source).await, same("at-2"), "{leeway:?}");
        assert_eq!(token(&source).await, same("at-2"), "{leeway:?}");
        assert_eq!(server.asked(), ["rt-1"]);
    }
}

/// O9, 97: a token without a lifetime is used until an API refuses it.
#[tokio::test]
async fn tokens_without_lifetime_are_used_until_refused() {
    let server = Rotating::open();
    let body = r#"{"access_token":"at-1","token_type":"Bearer","refresh_token":"rt-1"}"#;
    let source = TokenSource::new(server.signed_in(body), server.ports());
    server.clock.advance(LIFE * 10_000);
    assert_eq!(token(&source).await, same("at-1"));
    assert_eq!(renew(&source, "at-1").await, same("at-2"));
    assert_eq!(server.asked().len(), 1);
}

/// O9, 97: a stored refresh token gives the first tokens, and each refresh replaces it.
#[tokio::test]
async fn stored_refresh_token_starts_source() {
    let server = Rotating::open();
    let stored = client().refresh(&"rt-1".parse().unwrap(), &"read:charges".parse().unwrap());
    let source = TokenSource::from_call(stored, server.ports());
    assert!(source.current().is_none());
    server.meets([Fault::Lost]);
    assert_eq!(token(&source).await, fails("lost"));
    assert_eq!(token(&source).await, same("at-2"));
    server.clock.advance(LIFE);
    assert_eq!(token(&source).await, same("at-3"));
    assert_eq!(server.asked(), ["rt-1", "rt-1", "rt-2"]);
    assert_eq!(
        source.current().unwrap().refresh_token().unwrap().expose(),
        "rt-3"
    );
    let printed = format!("{source:?} {:?}", source.current());
    assert!(!printed.contains("at-") && !printed.contains("rt-"), "{printed}");
}

/// O11, 97: tokens of client credentials are requested again at their expiry, with the same
/// parameters; a refusal is not final.
#[tokio::test]
async fn client_credentials_tokens_are_requested_again() {
    let server = Rotating::open();
    let members = Fault::Tokens(r#","expires_in":600"#);
    let refused = Fault::Status(400, r#"{"error":"invalid_grant"}"#);
    server.meets([members, refused, members]);
    let asking = client().client_credentials(&"read:charges".parse().unwrap());
    let source = TokenSource::from_call(asking, server.ports());
    assert_eq!(token(&source).await, same("at-2"));
    assert_eq!(token(&source).await, same("at-2"));
    server.clock.advance(LIFE);
    assert_eq!(token(&source).await, fails("refused: invalid_grant"));
    assert_eq!(token(&source).await, same("at-3"));
    assert_eq!(server.asked(), ["none"; 3]);
}

/// O9, O11, 97: a refresh token of a client credentials response is ignored, because its end would
/// be final.
#[tokio::test]
async fn refresh_token_of_client_credentials_is_ignored() {
    let server = Rotating::open();
    let members = Fault::Tokens(r#","expires_in":600,"refresh_token":"rt-0""#);
    let refused = Fault::Status(400, r#"{"error":"invalid_grant"}"#);
    server.meets([members, refused, members]);
    let asking = client().client_credentials(&"read:charges".parse().unwrap());
    let source = TokenSource::from_call(asking, server.ports());
    assert_eq!(token(&source).await, same("at-2"));
    server.clock.advance(LIFE);
    assert_eq!(token(&source).await, fails("refused: invalid_grant"));
    assert_eq!(token(&source).await, same("at-3"));
    assert_eq!(server.asked(), ["none"; 3]);
}

/// O6, 97: a code is redeemed once: at the expiry of its tokens without a refresh token it is not
/// sent again.
#[tokio::test]
async fn code_is_not_resent_after_its_tokens_expire() {
    let server = Rotating::open();
    server.meets([Fault::Tokens(r#","expires_in":600"#)]);
    let params = AuthorizationParams::new("https://app.example/cb".parse().unwrap(), "a".parse().unwrap());
    let (_, pending) = client()
        .authorize(&params, &OsEntropy, server.clock.now())
        .unwrap();
    let query = format!("code=c&state={}&iss=https://as.example", pending.state());
    let code = pending.finish(&query, server.clock.now()).unwrap();
    let source = TokenSource::from_call(code, server.ports());
    assert_eq!(token(&source).await, same("at-2"));
    server.clock.advance(LIFE);
    assert_eq!(token(&source).await, fails("no refresh token"));
    assert_eq!(renew(&source, "at-2").await, fails("no refresh token"));
    assert_eq!(server.asked().len(), 1);
}
