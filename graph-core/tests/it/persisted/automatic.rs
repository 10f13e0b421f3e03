//! Automatic persisted queries (G13).

use std::sync::Arc;
use std::time::Duration;

use graph_core::http::GraphRequest;
use graph_core::limits::Limits;
use graph_core::memory::MemoryPersisted;
use graph_core::persisted::{AutomaticPersistedQueries, DocumentHash};
use graph_core::response::GraphResponse;
use serde_json::json;

use super::{automatic, clock, extensions, got, hash, hashed, over, registering};
use crate::fixture::{Fixture, accepting, builder, codes, fixture, json as envelope, post, post_body};

const PING: &str = "{ ping }";

fn pinged() -> serde_json::Value {
    json!({ "data": { "ping": "pong" } })
}

/// G13: miss, registration, hit. The miss is 200 in every media type, has the exact message that
/// clients compare, and is not cacheable.
#[tokio::test]
async fn a_hash_is_unknown_until_its_text_was_sent() {
    let (shop, store) = automatic();
    for accept in ["application/json", "application/graphql-response+json"] {
        let miss = shop.send(accepting(hashed(PING), accept)).await;
        assert_eq!(miss.status(), 200);
        assert_eq!(miss.headers()["cache-control"], "private, no-store");
        let told = json!({ "errors": [{
            "message": "PersistedQueryNotFound",
            "extensions": { "code": "PERSISTED_QUERY_NOT_FOUND" },
        }] });
        assert_eq!(envelope(&miss), told);
    }
    assert_eq!(shop.shop.calls(), 0);
    assert_eq!(envelope(&shop.send(registering(PING)).await), pinged());
    assert_eq!(store.len(), 1);
    assert_eq!(envelope(&shop.send(hashed(PING)).await), pinged());
    assert_eq!(shop.shop.calls(), 2);
}

/// G13, G1: hash and text by GET, as urql and Apollo's CDN mode send them; a registered mutation is
/// 405 by GET.
#[tokio::test]
async fn hashes_are_served_by_get() {
    let (shop, _) = automatic();
    let with = |text: &str| extensions(&hash(text)).to_string();
    let (ping, add) = (with(PING), with("mutation { add(id: 1) { id } }"));
    let miss = shop.send(got(&[("extensions", &ping)])).await;
    assert_eq!(codes(&envelope(&miss)), ["PERSISTED_QUERY_NOT_FOUND"]);
    let registered = shop.send(got(&[("query", PING), ("extensions", &ping)])).await;
    assert_eq!(envelope(&registered), pinged());
    for parameters in [
        vec![("extensions", ping.as_str())],
        vec![("query", ""), ("extensions", &ping)],
    ] {
        assert_eq!(envelope(&shop.send(got(&parameters)).await), pinged());
    }

    shop.send(registering("mutation { add(id: 1) { id } }")).await;
    let calls = shop.shop.calls();
    let written = shop.send(got(&[("extensions", &add)])).await;
    assert_eq!(written.status(), 405);
    let streamed = shop
        .send(accepting(got(&[("extensions", &add)]), "text/event-stream"))
        .await;
    assert_eq!(streamed.status(), 405);
    assert_eq!(shop.shop.calls(), calls);
}

/// G13: a text with another hash is 400 in every media type, runs nothing and is not stored, even
/// if the hash is known.
#[tokio::test]
async fn a_text_of_another_hash_is_refused() {
    let (shop, store) = automatic();
    let upper = hash(PING).to_uppercase();
    let mut short = hash(PING);
    short.pop();
    for known in [false, true] {
        if known {
            shop.send(registering("{ viewer }")).await;
        }
        let (calls, kept) = (shop.shop.calls(), store.len());
        for claimed in [
            hash("{ viewer }").as_str(),
            &upper,
            &short,
            "",
            "../../etc/passwd",
        ] {
            let body = json!({ "query": PING, "extensions": extensions(claimed) }).to_string();
            for accept in ["application/json", "application/graphql-response+json"] {
                let response = shop.send(accepting(post_body(body.clone()), accept)).await;
                assert_eq!(response.status(), 400, "{claimed}");
                assert_eq!(codes(&envelope(&response)), ["PERSISTED_QUERY_MISMATCH"]);
            }
        }
        assert_eq!((shop.shop.calls(), store.len()), (calls, kept));
    }
    let viewer = envelope(&shop.send(hashed("{ viewer }")).await);
    assert_eq!(viewer, json!({ "data": { "viewer": null } }));
}

/// G13, G3: only valid texts within the limits are stored, also if the limits depend on variables.
#[tokio::test]
async fn only_what_may_run_is_kept() {
    let (shop, store) = automatic();
    let sized = "query ($n: Int) { search(first: $n) { ... on Item { id } } }";
    for text in [
        "{",
        "{ nothing }",
        "query A { ping } query A { ping }",
        "{ __schema { x } }",
    ] {
        let answer = envelope(&shop.send(registering(text)).await);
        assert!(answer.get("data").is_none(), "{answer}");
    }
    let asked = |n: i32| {
        let body = json!({ "query": sized, "variables": { "n": n }, "extensions": extensions(&hash(sized)) });
        post_body(body.to_string())
    };
    assert_eq!(
        codes(&envelope(&shop.send(asked(1_000_000)).await)),
        ["MAX_COST_EXCEEDED"]
    );
    assert!(store.is_empty());
    assert!(envelope(&shop.send(asked(1)).await).get("errors").is_none());
    assert_eq!(store.len(), 1);
}

/// G13, G18: a hash does not bypass the limits.
#[tokio::test]
async fn limits_hold_for_hashes() {
    let (shop, _) = automatic();
    let sized = "query ($n: Int = 1) { search(first: $n) { ... on Item { id } } }";
    shop.send(registering(sized)).await;
    let body = json!({ "variables": { "n": 1_000_000 }, "extensions": extensions(&hash(sized)) });
    let answer = envelope(&shop.send(post_body(body.to_string())).await);
    assert_eq!(codes(&answer), ["MAX_COST_EXCEEDED"]);
}

/// G13: a document with several operations is one text; each request names its operation.
#[tokio::test]
async fn each_operation_of_a_text_has_its_own_plan() {
    let (shop, _) = automatic();
    let two = "query A { ping } query B { viewer }";
    let asked = |query: Option<&str>, name: &str| {
        let body = json!({ "query": query, "operationName": name, "extensions": extensions(&hash(two)) });
        post_body(body.to_string())
    };
    assert_eq!(envelope(&shop.send(asked(Some(two), "A")).await), pinged());
    assert_eq!(
        envelope(&shop.send(asked(None, "B")).await),
        json!({ "data": { "viewer": null } })
    );
    assert_eq!(envelope(&shop.send(asked(None, "A")).await), pinged());
    let neither = envelope(&shop.send(asked(None, "C")).await);
    assert_eq!(codes(&neither), ["OPERATION_RESOLUTION_FAILURE"]);
}

/// G13: a text is served until its expiry, also by other processes; a new registration extends it.
#[tokio::test]
async fn a_text_lives_as_long_as_it_should() {
    let (store, clock) = (Arc::new(MemoryPersisted::new(1 << 20)), clock());
    let day = Duration::from_secs(86_400);
    // a process without compiled documents
    let process = || {
        let automatic = AutomaticPersistedQueries::new(store.clone(), clock.clone()).with_lifetime(day);
        Fixture::new(builder().with_automatic_persisted_queries(automatic))
    };
    process().send(registering(PING)).await;
    for (later, served) in [
        (day - Duration::from_secs(1), true),
        (Duration::from_secs(1), false),
    ] {
        clock.advance(later);
        let answer = envelope(&process().send(hashed(PING)).await);
        assert_eq!(answer == pinged(), served, "{answer}");
    }
    process().send(registering(PING)).await;
    clock.advance(day / 2);
    process().send(registering(PING)).await;
    clock.advance(day - Duration::from_secs(1));
    assert_eq!(envelope(&process().send(hashed(PING)).await), pinged());
}

/// G13, G19: a text above the size limit, or too large for the store, runs but is not stored.
#[tokio::test]
async fn a_long_text_runs_and_is_not_kept() {
    let long = format!("{PING}{}", " ".repeat(4_096));
    for (capacity, limit) in [(1 << 20, long.len() - 1), (8_192, 1 << 20)] {
        let store = Arc::new(MemoryPersisted::new(capacity));
        let automatic = over(store.clone()).with_text_limit(limit);
        let shop = Fixture::new(builder().with_automatic_persisted_queries(automatic));
        assert_eq!(envelope(&shop.send(registering(&long)).await), pinged());
        assert!(store.is_empty());
        assert_eq!(envelope(&shop.send(registering(PING)).await), pinged());
        assert_eq!(store.len(), 1);
    }
}

/// G13: without persisted queries a hash gets the exact message that clients compare; a text runs
/// anyway.
#[tokio::test]
async fn an_endpoint_without_persisted_queries_says_so() {
    let shop = fixture();
    for request in [
        hashed(PING),
        super::by_id(&format!("sha256:{}", hash(PING))),
        super::by_id("x"),
    ] {
        let response = shop
            .send(accepting(request, "application/graphql-response+json"))
            .await;
        assert_eq!(response.status(), 200);
        let told = json!({ "errors": [{
            "message": "PersistedQueryNotSupported",
            "extensions": { "code": "PERSISTED_QUERY_NOT_SUPPORTED" },
        }] });
        assert_eq!(envelope(&response), told);
    }
    assert_eq!(envelope(&shop.send(registering(PING)).await), pinged());
}

/// G13, G2: a subscription starts by its hash; a miss is an event of the stream.
#[tokio::test]
async fn a_subscription_is_started_by_its_hash() {
    let (shop, _) = automatic();
    let text = "subscription { added(count: 1) { id } }";
    let streamed = |request| accepting(request, "text/event-stream");
    let miss = shop.send_in(streamed(hashed(text)), shop.ada()).await;
    let body = String::from_utf8_lossy(miss.body()).into_owned();
    assert!(
        body.starts_with("event: next\ndata: {\"errors\":[{\"message\":\"PersistedQueryNotFound\""),
        "{body}"
    );
    for request in [registering(text), hashed(text)] {
        let events = shop.send_in(streamed(request), shop.ada()).await;
        let body = String::from_utf8_lossy(events.body()).into_owned();
        assert!(
            body.starts_with("event: next\ndata: {\"data\":{\"added\":{\"id\":1}}}"),
            "{body}"
        );
    }
}

/// G13: an in-process request can use a hash.
#[tokio::test]
async fn a_request_in_process_may_name_a_hash() {
    let (shop, store) = automatic();
    let context = shop.anonymous();
    let hash = DocumentHash::digest(PING);
    let ask =
        async |request: GraphRequest| -> GraphResponse { shop.engine.execute(&request, &context).await };
    assert!(ask(GraphRequest::persisted(hash)).await.is_request_error());
    let registered = ask(GraphRequest::new(PING).with_document_id(hash)).await;
    assert_eq!(registered.data(), Some(r#"{"ping":"pong"}"#));
    assert_eq!(store.len(), 1);
    assert_eq!(
        ask(GraphRequest::persisted(hash)).await.data(),
        Some(r#"{"ping":"pong"}"#)
    );
}

/// G13, G3: the hash of an invalid text returns its errors each time.
#[tokio::test]
async fn a_known_mistake_is_told_by_its_hash() {
    let store = Arc::new(MemoryPersisted::new(1 << 20));
    let limits = Limits::default().with_root_fields(1);
    let shop = Fixture::new(
        builder()
            .with_limits(limits)
            .with_automatic_persisted_queries(over(store)),
    );
    let text = "{ ping viewer }";
    for request in [
        registering(text),
        hashed(text),
        registering(text),
        post(text, json!(null)),
    ] {
        assert_eq!(codes(&envelope(&shop.send(request).await)), ["MAX_COST_EXCEEDED"]);
    }
    assert_eq!(shop.shop.calls(), 0);
}

/// G13, G1: an operation refused for its method or its batch is not stored.
#[tokio::test]
async fn what_is_refused_later_is_not_kept() {
    let add = "mutation { add(id: 1) { id } }";
    let store = Arc::new(MemoryPersisted::new(1 << 20));
    let limits = Limits::default().with_root_fields(2);
    let engine = builder().with_limits(limits).with_batches();
    let shop = Fixture::new(engine.with_automatic_persisted_queries(over(store.clone())));
    let by_get = || {
        got(&[
            ("query", add),
            ("extensions", &extensions(&hash(add)).to_string()),
        ])
    };
    for accept in ["application/json", "text/event-stream"] {
        assert_eq!(shop.send(accepting(by_get(), accept)).await.status(), 405);
    }
    let entry = |text: &str| json!({ "query": text, "extensions": extensions(&hash(text)) });
    let batch = |texts: &[&str]| {
        post_body(json!(texts.iter().map(|text| entry(text)).collect::<Vec<_>>()).to_string())
    };
    let together = shop.send(batch(&[PING, "{ viewer }", "{ ping viewer }"])).await;
    assert_eq!(codes(&envelope(&together)), ["MAX_COST_EXCEEDED"]);
    assert_eq!(store.len(), 0);
    assert_eq!(shop.shop.calls(), 0);
    shop.send(batch(&[PING, add])).await;
    assert_eq!(store.len(), 2);
    let streamed = accepting(registering("{ viewer }"), "text/event-stream");
    shop.send(streamed).await;
    assert_eq!(store.len(), 3);
}
