//! Subscriptions, as a stream of responses and as server-sent events.

use futures_util::{FutureExt as _, StreamExt as _};
use graph_core::http::{GraphRequest, HttpResponse};
use http::Response;
use juniper::graphql_vars;
use serde_json::{Value, json};

use crate::fixture::{accepting, codes, fixture, get, json as envelope, post};

const EVENTS: &str = "text/event-stream";

fn text(response: &Response<bytes::Bytes>) -> &str {
    std::str::from_utf8(response.body()).unwrap()
}

/// G10, G2: every event is the payload of `event: next`; the end is `event: complete`.
#[tokio::test]
async fn events_are_pushed_until_the_stream_is_complete() {
    let shop = fixture();
    for request in [
        post("subscription { added(count: 2) { id } }", Value::Null),
        get("subscription { added(count: 2) { id } }"),
    ] {
        let response = shop.send_in(accepting(request, EVENTS), shop.ada()).await;
        assert_eq!(response.status(), 200);
        assert_eq!(
            response.headers()["content-type"],
            "text/event-stream; charset=utf-8"
        );
        assert_eq!(
            text(&response),
            "event: next\ndata: {\"data\":{\"added\":{\"id\":1}}}\n\n\
             event: next\ndata: {\"data\":{\"added\":{\"id\":2}}}\n\n\
             event: complete\ndata:\n\n"
        );
    }
}

/// G10: a query as an event stream is one event.
#[tokio::test]
async fn a_query_as_events_is_one_payload() {
    let shop = fixture();
    for query in ["{ ping }", "mutation { add(id: 1) { id } }"] {
        let response = shop.send(accepting(post(query, Value::Null), EVENTS)).await;
        assert_eq!(text(&response).matches("event: next").count(), 1, "{query}");
        assert!(text(&response).ends_with("event: complete\ndata:\n\n"));
    }
}

/// G10, G3: an invalid operation is an event and runs nothing; an invalid request gets no stream.
#[tokio::test]
async fn request_errors_are_payloads() {
    let shop = fixture();
    for (query, code) in [
        ("subscription { nothing }", "GRAPHQL_VALIDATION_FAILED"),
        ("subscription {", "GRAPHQL_PARSE_FAILED"),
        (
            "subscription ($n: Int!) { added(count: $n) { id } }",
            "BAD_USER_INPUT",
        ),
        (
            "subscription { a: added { id } b: added { id } }",
            "GRAPHQL_VALIDATION_FAILED",
        ),
        (
            "subscription { ...F } fragment F on Subscription { added { id } failing { id } }",
            "GRAPHQL_VALIDATION_FAILED",
        ),
    ] {
        let response = shop
            .send_in(accepting(post(query, Value::Null), EVENTS), shop.ada())
            .await;
        assert_eq!(response.status(), 200);
        let payload = text(&response)
            .strip_prefix("event: next\ndata: ")
            .unwrap()
            .split('\n')
            .next()
            .unwrap();
        let payload: Value = serde_json::from_str(payload).unwrap();
        assert_eq!(codes(&payload)[0], code, "{query}");
        assert!(payload.get("data").is_none());
    }
    assert_eq!(shop.shop.calls(), 0);
    let response = shop.send(accepting(crate::fixture::post_body("{"), EVENTS)).await;
    assert_eq!(response.status(), 400);
    assert_eq!(codes(&envelope(&response)), ["BAD_REQUEST"]);
}

/// G10, G15: a guard refuses a subscription before it starts.
#[tokio::test]
async fn a_guarded_subscription_does_not_start() {
    let shop = fixture();
    let events = shop.engine.subscribe(
        GraphRequest::new("subscription { added { id } }"),
        shop.anonymous(),
    );
    let responses: Vec<_> = events.collect().await;
    assert_eq!(responses.len(), 1);
    assert_eq!(responses[0].errors()[0].code().as_str(), "UNAUTHENTICATED");
    assert_eq!(shop.shop.calls(), 0);
}

/// G10: variables, aliases and schema defaults work as in a query.
#[tokio::test]
async fn a_subscription_takes_variables_and_aliases() {
    let shop = fixture();
    let request = GraphRequest::new("subscription ($n: Int!) { fresh: added(count: $n) { id } }")
        .with_variables(graphql_vars! { "n": 1 });
    let responses: Vec<_> = shop.engine.subscribe(request, shop.ada()).collect().await;
    assert_eq!(
        serde_json::to_value(&responses).unwrap(),
        json!([{ "data": { "fresh": { "id": 1 } } }])
    );
    let responses = shop
        .engine
        .subscribe(GraphRequest::new("subscription { added { id } }"), shop.ada());
    assert_eq!(responses.count().await, 3);
}

/// G10, G6: a failed event is masked, and later events still arrive.
#[tokio::test]
async fn a_failed_event_is_masked_and_the_stream_goes_on() {
    let shop = fixture();
    let request = GraphRequest::new("subscription { failing { id } }");
    let responses: Vec<_> = shop.engine.subscribe(request, shop.anonymous()).collect().await;
    let written = serde_json::to_value(&responses).unwrap();
    assert_eq!(written[0], json!({ "data": { "failing": { "id": 1 } } }));
    assert_eq!(written[1]["data"], Value::Null);
    assert_eq!(codes(&written[1]), ["INTERNAL_SERVER_ERROR"]);
    assert_eq!(written[2], json!({ "data": { "failing": { "id": 3 } } }));
    assert!(!written.to_string().contains("10.0.0.9"));
    assert_eq!(
        shop.incidents.lock().unwrap()[0].detail,
        "broker at 10.0.0.9 is away"
    );
}

/// G19: a panicking stream ends with an error; the engine continues.
#[tokio::test]
async fn a_panicking_stream_ends_with_an_error() {
    let shop = fixture();
    let request = GraphRequest::new("subscription { exploding { id } }");
    let responses: Vec<_> = shop.engine.subscribe(request, shop.anonymous()).collect().await;
    assert_eq!(responses.len(), 2);
    assert!(responses[0].errors().is_empty());
    assert_eq!(responses[1].errors()[0].code().as_str(), "INTERNAL_SERVER_ERROR");
    assert_eq!(shop.incidents.lock().unwrap()[0].detail, "second event");
    assert_eq!(shop.ask("{ ping }").await, json!({ "data": { "ping": "pong" } }));
}

/// G10: each event is sent when it fires; the stream waits in between.
#[tokio::test]
async fn a_payload_is_pushed_when_the_event_fires() {
    let shop = fixture();
    let (feed, receiver) = tokio::sync::mpsc::unbounded_channel();
    *shop.shop.feed.lock().unwrap() = Some(receiver);
    let request = GraphRequest::new("subscription { live { id } }");
    let mut responses = Box::pin(shop.engine.subscribe(request, shop.anonymous()));
    assert!(responses.next().now_or_never().is_none());
    for id in [4, 2] {
        // woken from another task, not by another poll
        let next = tokio::spawn(async move {
            let response = responses.next().await;
            (response, responses)
        });
        tokio::task::yield_now().await;
        feed.send(id).unwrap();
        let (response, rest) = next.await.unwrap();
        assert_eq!(json!(response), json!({ "data": { "live": { "id": id } } }));
        responses = rest;
    }
    assert!(responses.next().now_or_never().is_none());
    drop(feed);
    assert_eq!(responses.next().await, None);
    assert_eq!(responses.next().await, None);
}

/// G10, G4: a subscription whose only field is skipped is refused.
#[tokio::test]
async fn a_subscription_without_its_field_is_refused() {
    let shop = fixture();
    for query in [
        "subscription { added @skip(if: true) { id } }",
        "subscription ($wanted: Boolean! = false) { added @include(if: $wanted) { id } }",
        "subscription { ... @skip(if: true) { added { id } } }",
        "subscription { ...F @include(if: false) } fragment F on Subscription { added { id } }",
    ] {
        let events = shop.engine.subscribe(GraphRequest::new(query), shop.ada());
        let responses: Vec<_> = events.collect().await;
        let written = serde_json::to_value(&responses).unwrap();
        assert_eq!(codes(&written[0]), ["GRAPHQL_VALIDATION_FAILED"], "{query}");
        assert!(written[0].get("data").is_none());
        assert_eq!(responses.len(), 1);
    }
    assert_eq!(shop.shop.calls(), 0);
}

/// G10, G6: a subscription refused inside fragments keeps its code.
#[tokio::test]
async fn a_subscription_refused_in_a_fragment_keeps_its_code() {
    let shop = fixture();
    for query in [
        "subscription { added { id } }",
        "subscription { ... { added { id } } }",
        "subscription { ... on Subscription { added { id } } }",
        "subscription { ...F } fragment F on Subscription { added { id } }",
        "subscription { ...G } fragment G on Subscription { ...F } fragment F on Subscription { added { id } }",
    ] {
        let response = shop.send(accepting(post(query, Value::Null), EVENTS)).await;
        let (first, rest) = text(&response).split_once("\n\n").unwrap();
        let payload: Value =
            serde_json::from_str(first.strip_prefix("event: next\ndata: ").unwrap()).unwrap();
        assert_eq!(codes(&payload), ["UNAUTHENTICATED"], "{query}");
        assert!(payload.get("data").is_none(), "{query}");
        assert_eq!(payload["errors"][0]["path"], json!(["added"]), "{query}");
        assert_eq!(rest, "event: complete\ndata:\n\n");
    }
    assert!(shop.incidents.lock().unwrap().is_empty());
    assert_eq!(shop.shop.calls(), 0);
}

/// G10: a subscription inside fragments streams normally.
#[tokio::test]
async fn a_subscription_behind_fragments_streams() {
    let shop = fixture();
    let nested = "subscription { ...G } \
                  fragment G on Subscription { ... { ...F } } fragment F on Subscription { new: added(count: 2) { id } }";
    let events = shop.engine.subscribe(GraphRequest::new(nested), shop.ada());
    let nested: Vec<_> = events.collect().await;
    let plain = GraphRequest::new("subscription { new: added(count: 2) { id } }");
    let plain: Vec<_> = shop.engine.subscribe(plain, shop.ada()).collect().await;
    assert_eq!(
        serde_json::to_value(&nested).unwrap(),
        serde_json::to_value(&plain).unwrap()
    );
    assert_eq!(nested.len(), 2);
}

/// G10: a subscription runs only when polled, and dropping the stream drops the host's stream.
#[tokio::test]
async fn a_dropped_stream_ends_the_subscription() {
    let shop = fixture();
    let request = accepting(post("subscription { exploding { id } }", Value::Null), EVENTS);
    let HttpResponse::Stream(response) = shop.engine.respond(request, shop.anonymous()).await else {
        panic!("a stream");
    };
    let mut events = response.into_body();
    assert!(events.next().await.unwrap().starts_with(b"event: next"));
    drop(events);
    // the second event, which panics, was never polled
    assert!(shop.incidents.lock().unwrap().is_empty());

    let (feed, receiver) = tokio::sync::mpsc::unbounded_channel();
    *shop.shop.feed.lock().unwrap() = Some(receiver);
    let request = GraphRequest::new("subscription { live { id } }");
    let mut responses = Box::pin(shop.engine.subscribe(request, shop.anonymous()));
    assert!(responses.next().now_or_never().is_none());
    assert!(!feed.is_closed());
    drop(responses);
    assert!(feed.is_closed());
}
