//! Callers who wait, and callers who go away.

use super::*;

/// O9, 97: however many come at once, one request is sent, and all are given the same tokens.
#[tokio::test]
async fn of_32_callers_one_asks() {
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

/// O9, 97: on many threads, over one end of life after the other, the server sees a chain without a fork.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn threads_that_race_refresh_once_a_lifetime() {
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

/// O9, 97: the one who began goes away while the server has rotated already: the others, or the next, have its answer.
#[tokio::test]
async fn a_caller_who_goes_away_loses_nothing() {
    let server = Rotating::closed();
    let source = server.ended();
    let mut first = Box::pin(token(&source));
    let mut second = Box::pin(token(&source));
    assert!((&mut first).now_or_never().is_none());
    assert!((&mut second).now_or_never().is_none());
    drop(first);
    server.gate.add_permits(1);
    assert_eq!(second.await, same("at-2"));

    // nobody else was there
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

/// O9, 97: while a token that somebody was refused is renewed, whoever was not has it still, and has no part in a failure.
#[tokio::test]
async fn a_renewal_of_somebody_keeps_nobody_else() {
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

/// O9, 97: what is on its way keeps nothing alive that nobody uses any more.
#[tokio::test]
async fn what_is_on_its_way_ends_with_the_source() {
    let server = Rotating::closed();
    let gate = Arc::downgrade(&server.gate);
    let source = server.ended();
    assert!(token(&source).now_or_never().is_none());
    drop((source, server));
    assert!(gate.upgrade().is_none());
}

/// O9, 97: an access token is replaced at the exact instant, which is a little before its end.
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

/// O9, 97: where the server did not say how long a token lives, it lives until it is refused.
#[tokio::test]
async fn tokens_without_an_end_live_until_they_are_refused() {
    let server = Rotating::open();
    let body = r#"{"access_token":"at-1","token_type":"Bearer","refresh_token":"rt-1"}"#;
    let source = TokenSource::new(server.signed_in(body), server.ports());
    server.clock.advance(LIFE * 10_000);
    assert_eq!(token(&source).await, same("at-1"));
    assert_eq!(renew(&source, "at-1").await, same("at-2"));
    assert_eq!(server.asked().len(), 1);
}

/// O9, 97: a stored refresh token brings the first tokens, and from then on each its successor.
#[tokio::test]
async fn a_stored_refresh_token_is_enough() {
    let server = Rotating::open();
    let stored = client().refresh(&"rt-1".parse().unwrap(), &"read:charges".parse().unwrap());
    let source = TokenSource::asking(stored, server.ports());
    assert!(source.present().is_none());
    server.meets([Fault::Lost]);
    assert_eq!(token(&source).await, fails("lost"));
    assert_eq!(token(&source).await, same("at-2"));
    server.clock.advance(LIFE);
    assert_eq!(token(&source).await, same("at-3"));
    assert_eq!(server.asked(), ["rt-1", "rt-1", "rt-2"]);
    assert_eq!(
        source.present().unwrap().refresh_token().unwrap().expose(),
        "rt-3"
    );
    let printed = format!("{source:?} {:?}", source.present());
    assert!(!printed.contains("at-") && !printed.contains("rt-"), "{printed}");
}

/// O11, 97: the tokens of a client itself are asked for anew when they end, with what was asked for first; a refusal is not for ever.
#[tokio::test]
async fn the_tokens_of_a_client_itself_are_asked_for_again() {
    let server = Rotating::open();
    let members = Fault::Tokens(r#","expires_in":600"#);
    let refused = Fault::Status(400, r#"{"error":"invalid_grant"}"#);
    server.meets([members, refused, members]);
    let asking = client().client_credentials(&"read:charges".parse().unwrap());
    let source = TokenSource::asking(asking, server.ports());
    assert_eq!(token(&source).await, same("at-2"));
    assert_eq!(token(&source).await, same("at-2"));
    server.clock.advance(LIFE);
    assert_eq!(token(&source).await, fails("refused: invalid_grant"));
    assert_eq!(token(&source).await, same("at-3"));
    assert_eq!(server.asked(), ["none"; 3]);
}

/// O9, O11, 97: a refresh token that came with the tokens of a client itself is not used, since its end would end them for ever.
#[tokio::test]
async fn a_client_itself_has_no_use_for_a_refresh_token() {
    let server = Rotating::open();
    let members = Fault::Tokens(r#","expires_in":600,"refresh_token":"rt-0""#);
    let refused = Fault::Status(400, r#"{"error":"invalid_grant"}"#);
    server.meets([members, refused, members]);
    let asking = client().client_credentials(&"read:charges".parse().unwrap());
    let source = TokenSource::asking(asking, server.ports());
    assert_eq!(token(&source).await, same("at-2"));
    server.clock.advance(LIFE);
    assert_eq!(token(&source).await, fails("refused: invalid_grant"));
    assert_eq!(token(&source).await, same("at-3"));
    assert_eq!(server.asked(), ["none"; 3]);
}

/// O6, 97: a code is redeemed once: where its tokens have ended and no refresh token came with them, it is not sent again.
#[tokio::test]
async fn a_code_is_not_sent_again_when_its_tokens_have_ended() {
    let server = Rotating::open();
    server.meets([Fault::Tokens(r#","expires_in":600"#)]);
    let params = AuthorizationParams::new("https://app.example/cb".parse().unwrap(), "a".parse().unwrap());
    let (_, pending) = client()
        .authorize(&params, &OsEntropy, server.clock.now())
        .unwrap();
    let query = format!("code=c&state={}&iss=https://as.example", pending.state());
    let code = pending.finish(&query, server.clock.now()).unwrap();
    let source = TokenSource::asking(code, server.ports());
    assert_eq!(token(&source).await, same("at-2"));
    server.clock.advance(LIFE);
    assert_eq!(token(&source).await, fails("no refresh token"));
    assert_eq!(renew(&source, "at-2").await, fails("no refresh token"));
    assert_eq!(server.asked().len(), 1);
}
