//! Ownership, limits and end of streams.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _};
use graph_core::http::HttpResponse;
use graph_core::subscription::sse::StreamLimits;
use http::Method;
use tokio::sync::oneshot;

use super::{Desk, PATIENCE, operation, request};
use crate::fixture::{codes, json as envelope};

/// G10, G15: a leaked token is useless to another principal.
#[tokio::test]
async fn token_works_for_its_principal_only() {
    let desk = Desk::new(StreamLimits::default());
    let token = desk.reserve().await;
    let eve = || {
        let eve = graph_core::Principal::new("eve");
        desk.shop.anonymous().with_principal(eve)
    };
    for thief in [eve(), desk.shop.anonymous()] {
        for asked in [
            request(Method::GET, &token, "", ""),
            request(Method::GET, "", &format!("?token={token}"), ""),
            operation(&token, "1", "{ ping }"),
            request(Method::DELETE, &token, "?operationId=1", ""),
        ] {
            assert_eq!(desk.full(asked, thief.clone()).await.status(), 404);
        }
    }
    // the owner may send the token in the query
    let asked = request(Method::GET, "", &format!("?token={token}"), "");
    assert!(matches!(
        desk.answer(asked, desk.shop.ada()).await,
        HttpResponse::Stream(_)
    ));
}

/// G10: tokens are long and random.
#[tokio::test]
async fn tokens_are_long_and_never_the_same() {
    let desk = Desk::new(StreamLimits::default());
    let (one, other) = (desk.reserve().await, desk.reserve().await);
    assert_ne!(one, other);
    assert_eq!(one.len(), 43);
    assert!(!format!("{:?}", desk.streams).contains(&one));
}

/// G10: the stream ends without an event when the credentials expire that opened it or started an
/// operation on it; its operations are dropped and its token becomes unknown.
#[tokio::test]
async fn stream_ends_when_credentials_of_any_request_expire() {
    for of_operation in [false, true] {
        let desk = Desk::new(StreamLimits::default());
        let (feed, receiver) = tokio::sync::mpsc::unbounded_channel();
        *desk.shop.shop.feed.lock().unwrap() = Some(receiver);
        let token = desk.reserve().await;
        let (expire, expired) = oneshot::channel::<()>();
        let mut expired = Some(expired.map(|_| ()).boxed());
        let mut end = |here: bool| match expired.take_if(|_| here) {
            Some(end) => end,
            None => std::future::pending().boxed(),
        };
        let get = request(Method::GET, &token, "", "");
        let HttpResponse::Stream(response) = desk.until(get, desk.shop.ada(), end(!of_operation)).await
        else {
            panic!("a stream")
        };
        let mut events = response.into_body();
        let post = operation(&token, "1", "subscription { live { id } }");
        let HttpResponse::Full(accepted) = desk.until(post, desk.shop.ada(), end(of_operation)).await else {
            panic!("a stream")
        };
        assert_eq!(accepted.status(), 202);
        assert_eq!(events.next().await.unwrap(), ":\n\n");
        let waiting = tokio::spawn(async move { (events.next().await, events) });
        tokio::task::yield_now().await;
        expire.send(()).unwrap();
        let (event, mut events) = tokio::time::timeout(PATIENCE, waiting).await.unwrap().unwrap();
        assert_eq!(event, None);
        assert!(feed.is_closed());
        assert!(desk.streams.is_empty());
        assert_eq!(events.next().await, None);
        assert_eq!(desk.operate(&token, "2", "{ ping }").await.status(), 404);
    }
}

/// G10: a client that disconnects ends its operations.
#[tokio::test]
async fn a_dropped_stream_drops_its_operations() {
    let desk = Desk::new(StreamLimits::default());
    let (feed, receiver) = tokio::sync::mpsc::unbounded_channel();
    *desk.shop.shop.feed.lock().unwrap() = Some(receiver);
    let token = desk.reserve().await;
    let mut events = desk.open(&token).await;
    assert_eq!(
        desk.operate(&token, "1", "subscription { live { id } }")
            .await
            .status(),
        202
    );
    assert!(events.next().now_or_never().is_none());
    assert_eq!(desk.streams.len(), 1);
    drop(events);
    assert!(feed.is_closed());
    assert!(desk.streams.is_empty());
    assert_eq!(desk.operate(&token, "2", "{ ping }").await.status(), 404);
}

/// G10, G19: a reserved stream that is not opened expires and runs nothing.
#[tokio::test]
async fn a_reservation_that_is_not_taken_up_is_forgotten() {
    let desk = Desk::new(StreamLimits::default().with_reservation(Duration::from_secs(5)));
    let token = desk.reserve().await;
    let early = desk.operate(&token, "1", "mutation { add(id: 1) { id } }").await;
    assert_eq!(early.status(), 409);
    assert_eq!(codes(&envelope(&early)), ["CONFLICT"]);
    desk.clock.advance(Duration::from_secs(5));
    let late = desk
        .full(request(Method::GET, &token, "", ""), desk.shop.ada())
        .await;
    assert_eq!(late.status(), 404);
    assert_eq!(desk.streams.len(), 1);
    let other = desk.reserve().await;
    assert_eq!(desk.streams.len(), 1);
    assert_eq!(desk.shop.shop.calls(), 0);
    desk.clock.advance(Duration::from_secs(4));
    let _open = desk.open(&other).await;
    // an open stream does not expire
    desk.clock.advance(Duration::from_secs(3600));
    assert_eq!(desk.operate(&other, "1", "{ ping }").await.status(), 202);
}

/// G10: streams and operations are limited in total and per principal.
#[tokio::test]
async fn streams_and_operations_are_bounded() {
    let limits = StreamLimits::default()
        .with_streams(3)
        .with_streams_of_one(2)
        .with_operations(2);
    let desk = Desk::new(limits);
    let token = desk.reserve().await;
    let _second = desk.reserve().await;
    let put = || request(Method::PUT, "", "", "");
    let refused = desk.full(put(), desk.shop.ada()).await;
    assert_eq!(refused.status(), 429);
    assert_eq!(refused.headers()["retry-after"], "1");
    assert_eq!(codes(&envelope(&refused)), ["RATE_LIMITED"]);
    assert_eq!(desk.full(put(), desk.shop.anonymous()).await.status(), 201);
    let eve = graph_core::Principal::new("eve");
    assert_eq!(
        desk.full(put(), desk.shop.anonymous().with_principal(eve))
            .await
            .status(),
        429
    );
    let mut events = desk.open(&token).await;
    for (id, status) in [("1", 202), ("2", 202), ("3", 429)] {
        assert_eq!(
            desk.operate(&token, id, "{ ping }").await.status(),
            status,
            "{id}"
        );
    }
    for _ in 0..4 {
        assert!(events.next().now_or_never().is_some());
    }
    assert_eq!(desk.operate(&token, "3", "{ ping }").await.status(), 202);
}

/// G10, G19: a running operation does not keep its request body, and the body has its own limit.
#[tokio::test]
async fn a_running_operation_holds_no_body() {
    let desk = Desk::new(StreamLimits::default().with_operation(1000));
    let (_feed, receiver) = tokio::sync::mpsc::unbounded_channel();
    *desk.shop.shop.feed.lock().unwrap() = Some(receiver);
    let token = desk.reserve().await;
    let mut events = desk.open(&token).await;
    let padded = |bytes: usize| {
        let mut asked = operation(&token, "1", "subscription { live { id } }");
        let mut body = asked.body().to_vec();
        body.resize(bytes, b' ');
        *asked.body_mut() = Bytes::from(body);
        asked
    };
    let refused = desk.full(padded(1001), desk.shop.ada()).await;
    assert_eq!(refused.status(), 413);
    let asked = padded(1000);
    let body = asked.body().clone();
    assert_eq!(desk.full(asked, desk.shop.ada()).await.status(), 202);
    assert!(body.is_unique());
    assert!(events.next().now_or_never().is_none());
    assert!(body.is_unique());
}
