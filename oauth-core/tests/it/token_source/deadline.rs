//! Dropped callers, and responses that are received late.

use std::future::poll_fn;
use std::task::Poll;

use super::*;

const DEADLINE: Duration = Duration::from_secs(30);

/// A token source with an expired access token; its transport makes no progress while it is not
/// polled, and drops responses after its deadline.
fn hurried(server: &Rotating) -> TokenSource {
    let (ports, clock) = (server.ports(), server.clock.clone());
    let slow = Arc::clone(ports.transport());
    let transport = transport_fn(move |request: Request<Bytes>| {
        let (slow, clock) = (Arc::clone(&slow), clock.clone());
        let over = clock.now() + DEADLINE;
        async move {
            let mut exchange = slow.send(request);
            poll_fn(|context| match clock.now() < over {
                true => exchange.as_mut().poll(context),
                false => Poll::Ready(Err(TransportError::other("too late"))),
            })
            .await
        }
    });
    let ports = Ports::new(transport, OsEntropy, server.clock.clone());
    let source = TokenSource::new(server.signed_in(&server.tokens(1)), ports);
    server.clock.advance(LIFE);
    source
}

/// O9, 97: a response without a caller is taken over by the next one, until the deadline of the
/// transport; after that it is lost, and the sign-in with it.
#[tokio::test]
async fn unpolled_response_is_lost_after_deadline() {
    for (late, expected) in [
        (DEADLINE - TICK, [same("at-2"), same("at-2")]),
        (DEADLINE, [fails("lost"), fails("ended: invalid_grant")]),
    ] {
        let server = Rotating::closed();
        let source = hurried(&server);
        assert!(token(&source).now_or_never().is_none());
        server.gate.add_permits(2);
        server.clock.advance(late);
        for expected in expected {
            assert_eq!(token(&source).await, expected);
        }
    }
}

/// O9, 97: a refresh in a task of its own is not lost with its caller.
#[tokio::test]
async fn refresh_in_own_task_is_not_lost() {
    let server = Rotating::closed();
    let source = hurried(&server);
    let asking = source.clone();
    let handler = async move {
        let task = tokio::spawn(async move { asking.token().await });
        task.await
    };
    let mut handler = Box::pin(handler);
    assert!((&mut handler).now_or_never().is_none());
    drop(handler);
    server.gate.add_permits(1);
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    server.clock.advance(DEADLINE);
    assert_eq!(token(&source).await, same("at-2"));
    assert_eq!(server.asked(), ["rt-1"]);
}

/// O8, 97: the lifetime of an access token counts from its request, however late the response is
/// read.
#[tokio::test]
async fn lifetime_counts_from_request() {
    let server = Rotating::closed();
    let source = server.ended();
    let asked = server.clock.now();
    assert!(token(&source).now_or_never().is_none());
    server.gate.add_permits(1);
    server.clock.advance(SECOND * 100);
    let tokens = source.token().await.unwrap();
    assert_eq!(tokens.expires_at(), Some(asked + LIFE));
}
