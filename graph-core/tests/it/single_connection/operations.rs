//! Operations on a stream, and their events.

use std::sync::{Arc, Mutex};

use futures_util::{FutureExt as _, StreamExt as _};
use graph_core::limits::Measured;
use graph_core::persisted::{Manifest, TrustedDocuments, TrustedMode, Untrusted};
use graph_core::subscription::sse::StreamLimits;
use http::Method;

use super::{Desk, PATIENCE, operation, request, text};
use crate::fixture::{Fixture, builder, codes, json as envelope, with_panicking_logs};

/// G10: operations are started by separate requests; their events arrive on one stream, each with
/// its id, in turns.
#[tokio::test]
async fn one_stream_carries_the_events_of_every_operation() {
    let desk = Desk::new(StreamLimits::default());
    let token = desk.reserve().await;
    let mut events = desk.open(&token).await;
    assert!(events.next().now_or_never().is_none());
    for id in ["a", "b\n"] {
        let accepted = desk
            .operate(&token, id, "subscription { added(count: 2) { id } }")
            .await;
        assert_eq!((accepted.status().as_u16(), accepted.body().len()), (202, 0));
    }
    let mut told = Vec::new();
    while let Some(event) = events.next().now_or_never() {
        told.push(text(event));
    }
    told.sort();
    let next = |id: &str, at| {
        format!(
            "event: next\ndata: {{\"id\":\"{id}\",\"payload\":{{\"data\":{{\"added\":{{\"id\":{at}}}}}}}}}\n\n"
        )
    };
    assert_eq!(
        told,
        [
            "event: complete\ndata: {\"id\":\"a\"}\n\n".to_owned(),
            "event: complete\ndata: {\"id\":\"b\\n\"}\n\n".to_owned(),
            next("a", 1),
            next("a", 2),
            next("b\\n", 1),
            next("b\\n", 2),
        ]
    );
}

/// G10: a busy operation does not starve the others.
#[tokio::test]
async fn a_busy_operation_leaves_the_others_their_turn() {
    let desk = Desk::new(StreamLimits::default());
    let token = desk.reserve().await;
    let mut events = desk.open(&token).await;
    for id in ["busy", "other"] {
        let query = "subscription { added(count: 1000) { id } }";
        assert_eq!(desk.operate(&token, id, query).await.status(), 202);
    }
    let mut first = Vec::new();
    for _ in 0..10 {
        first.push(text(events.next().await));
    }
    let of_other = first.iter().filter(|event| event.contains("other")).count();
    assert_eq!(of_other, 5);
}

/// G10: a waiting stream is woken by a new operation and by its events.
#[tokio::test]
async fn a_waiting_stream_is_woken_by_a_new_operation() {
    let desk = Desk::new(StreamLimits::default());
    let (feed, receiver) = tokio::sync::mpsc::unbounded_channel();
    *desk.shop.shop.feed.lock().unwrap() = Some(receiver);
    let token = desk.reserve().await;
    let mut events = desk.open(&token).await;
    let waiting = tokio::spawn(async move { (events.next().await, events) });
    tokio::task::yield_now().await;
    assert_eq!(
        desk.operate(&token, "1", "subscription { live { id } }")
            .await
            .status(),
        202
    );
    tokio::task::yield_now().await;
    feed.send(7).unwrap();
    let (event, mut events) = tokio::time::timeout(PATIENCE, waiting).await.unwrap().unwrap();
    assert!(text(event).contains(r#""payload":{"data":{"live":{"id":7}}}"#));

    let stop = request(Method::DELETE, &token, "?operationId=1", "");
    assert_eq!(desk.full(stop, desk.shop.ada()).await.status(), 200);
    assert!(
        feed.is_closed(),
        "the operation is dropped at once, without a poll of the stream"
    );
    assert!(
        events.next().now_or_never().is_none(),
        "what the client stopped is not completed"
    );
    // its id is free again
    assert_eq!(desk.operate(&token, "1", "{ ping }").await.status(), 202);
    assert!(text(events.next().await).contains("pong"));
}

/// G10: an invalid operation is refused with 400 and starts nothing; a later failure is an event.
#[tokio::test]
async fn an_operation_that_cannot_run_is_not_accepted() {
    let desk = Desk::new(StreamLimits::default());
    let token = desk.reserve().await;
    let mut events = desk.open(&token).await;
    for (query, code) in [
        ("subscription { nothing }", "GRAPHQL_VALIDATION_FAILED"),
        ("subscription {", "GRAPHQL_PARSE_FAILED"),
    ] {
        let refused = desk.operate(&token, "1", query).await;
        assert_eq!(refused.status(), 400, "{query}");
        assert_eq!(codes(&envelope(&refused)), [code]);
    }
    for body in [
        r#"{"query":"{ ping }"}"#,
        r#"{"query":"{ ping }","extensions":{}}"#,
        r#"{"query":"{ ping }","extensions":{"operationId":""}}"#,
        r#"{"query":"{ ping }","extensions":{"operationId":7}}"#,
        r#"{"query":"{ ping }""#,
    ] {
        let refused = desk
            .full(request(Method::POST, &token, "", body), desk.shop.ada())
            .await;
        assert_eq!(refused.status(), 400, "{body}");
    }
    let long = "x".repeat(257);
    assert_eq!(desk.operate(&token, &long, "{ ping }").await.status(), 400);
    assert!(events.next().now_or_never().is_none());
    assert_eq!(desk.shop.shop.calls(), 0);

    let guarded = operation(&token, "1", "{ item(id: 0) { id } }");
    assert_eq!(desk.full(guarded, desk.shop.ada()).await.status(), 202);
    assert!(text(events.next().await).contains("NOT_FOUND"));
    assert!(text(events.next().await).starts_with("event: complete"));
}

/// G10, G18: the accepted operation is executed as checked, so the logs record it once.
#[tokio::test]
async fn an_accepted_operation_is_judged_once() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let (measured, asked) = (Arc::clone(&told), Arc::clone(&told));
    let trusted = TrustedDocuments::new([Manifest::new()])
        .with_mode(TrustedMode::Log)
        .with_log(move |_: &Untrusted<'_>| asked.lock().unwrap().push("untrusted"));
    let engine = builder()
        .with_trusted_documents(trusted)
        .with_limit_log(move |_: &Measured<'_>| measured.lock().unwrap().push("measured"));
    let desk = Desk::of(Fixture::new(engine), StreamLimits::default());
    let token = desk.reserve().await;
    let mut events = desk.open(&token).await;
    assert_eq!(desk.operate(&token, "1", "{ ping }").await.status(), 202);
    assert!(text(events.next().await).contains("pong"));
    assert!(text(events.next().await).starts_with("event: complete"));
    assert_eq!(*told.lock().unwrap(), ["untrusted", "measured"]);
}

/// G10, G19: if a host log panics, only that operation fails, as an event, and one incident is
/// reported.
#[tokio::test]
async fn a_panicking_log_is_an_event() {
    for engine in with_panicking_logs() {
        let desk = Desk::of(Fixture::new(engine), StreamLimits::default());
        let token = desk.reserve().await;
        let mut events = desk.open(&token).await;
        assert_eq!(desk.operate(&token, "1", "{ ping }").await.status(), 202);
        let failed = text(events.next().await);
        assert!(failed.contains("INTERNAL_SERVER_ERROR"), "{failed}");
        assert!(!failed.contains("the log is full"), "{failed}");
        assert!(text(events.next().await).starts_with("event: complete"));
        assert_eq!(desk.shop.incidents.lock().unwrap().len(), 1);
    }
}

/// G10: each request without a usable stream has its status.
#[tokio::test]
async fn what_fits_no_stream_is_refused() {
    let desk = Desk::new(StreamLimits::default());
    let token = desk.reserve().await;
    let ada = || desk.shop.ada();
    for unknown in ["", "nothing", "ß"] {
        for asked in [
            request(Method::GET, unknown, "", ""),
            operation(unknown, "1", "{ ping }"),
            request(Method::DELETE, unknown, "?operationId=1", ""),
        ] {
            let refused = desk.full(asked, ada()).await;
            assert_eq!(refused.status(), 404);
            assert_eq!(codes(&envelope(&refused)), ["NOT_FOUND"]);
        }
    }
    let without_id = request(Method::DELETE, &token, "", "");
    assert_eq!(desk.full(without_id, ada()).await.status(), 400);
    let mut as_json = request(Method::GET, &token, "", "");
    as_json
        .headers_mut()
        .insert("accept", "application/json".parse().unwrap());
    assert_eq!(desk.full(as_json, ada()).await.status(), 406);
    for accept in ["text/event-stream", "multipart/mixed;subscriptionSpec=1.0"] {
        let mut as_stream = operation(&token, "1", "{ ping }");
        as_stream.headers_mut().insert("accept", accept.parse().unwrap());
        assert_eq!(desk.full(as_stream, ada()).await.status(), 406);
    }
    let patched = desk.full(request(Method::PATCH, &token, "", ""), ada()).await;
    assert_eq!(patched.status(), 405);
    assert_eq!(patched.headers()["allow"], "DELETE, GET, POST, PUT");
    assert_eq!(
        desk.full(request(Method::HEAD, &token, "", ""), ada())
            .await
            .status(),
        405
    );

    let (feed, receiver) = tokio::sync::mpsc::unbounded_channel();
    *desk.shop.shop.feed.lock().unwrap() = Some(receiver);
    let _events = desk.open(&token).await;
    let again = desk.full(request(Method::GET, &token, "", ""), ada()).await;
    assert_eq!(again.status(), 409);
    assert_eq!(
        desk.operate(&token, "1", "subscription { live { id } }")
            .await
            .status(),
        202
    );
    let taken = desk.operate(&token, "1", "{ ping }").await;
    assert_eq!(taken.status(), 409);
    assert_eq!(codes(&envelope(&taken)), ["CONFLICT"]);
    assert!(!feed.is_closed());
}

/// G10, G20: a body that needs no preflight starts nothing.
#[tokio::test]
async fn a_simple_request_starts_nothing() {
    let desk = Desk::new(StreamLimits::default());
    let token = desk.reserve().await;
    let mut forged = operation(&token, "1", "mutation { add(id: 1) { id } }");
    forged
        .headers_mut()
        .insert("content-type", "text/plain".parse().unwrap());
    assert_eq!(desk.full(forged, desk.shop.ada()).await.status(), 400);
    let mut events = desk.open(&token).await;
    assert!(events.next().now_or_never().is_none());
    assert_eq!(desk.shop.shop.calls(), 0);
}
