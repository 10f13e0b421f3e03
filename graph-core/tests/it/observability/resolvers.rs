//! Metrics of resolvers.

use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::StreamExt as _;
use graph_core::http::{GraphRequest, HttpResponse};
use graph_core::ports::timer_fn;
use serde_json::Value;

use super::{Lines, TestBuilder, builder, clock, context};
use crate::fixture::{accepting, post};

/// Measured resolvers of one operation, and its data.
async fn resolvers(builder: TestBuilder, query: &str) -> (Vec<String>, String) {
    let (lines, clock) = (Lines::default(), clock());
    let engine = builder.with_resolver_metrics(lines.clone(), clock.clone());
    let engine = engine.build().unwrap();
    let response = engine.execute(&GraphRequest::new(query), &context(&clock)).await;
    let mut lines = lines.take();
    assert!(lines.pop().unwrap().starts_with("operation"));
    (lines, response.data().unwrap_or_default().to_owned())
}

async fn check(query: &str, expected: &[&str]) {
    let plain = builder().build().unwrap();
    let clock = clock();
    let response = plain.execute(&GraphRequest::new(query), &context(&clock)).await;
    let (lines, data) = resolvers(builder(), query).await;
    assert_eq!(lines, expected, "{query}");
    assert_eq!(data, response.data().unwrap_or_default(), "{query}");
}

/// G30: each call of a resolver is measured without the resolvers below it; struct fields,
/// `__typename` and introspection have none.
#[tokio::test]
async fn resolvers_are_measured_without_their_selection() {
    check("{ user { id } }", &["Query.user 16 ms -", "User.id 1 ms -"]).await;
    check(
        "{ users(first: 2) { __typename a: id b: id } __schema { queryType { name } } }",
        &[
            "Query.users 32 ms -",
            "User.id 1 ms -",
            "User.id 1 ms -",
            "User.id 1 ms -",
            "User.id 1 ms -",
        ],
    )
    .await;
    check("{ users(first: 0) { id } }", &["Query.users 32 ms -"]).await;
    check("{ users(first: 1) { __typename } }", &["Query.users 32 ms -"]).await;
    check(
        "{ user { address { street owner { id } } } }",
        &["Query.user 16 ms -", "User.address 8 ms -", "User.id 1 ms -"],
    )
    .await;
    check(
        "{ named { id ... on User { friend { id } } } }",
        &[
            "Query.named 16 ms -",
            "User.id 1 ms -",
            "User.friend 8 ms -",
            "User.id 1 ms -",
        ],
    )
    .await;
    check(
        "{ named { ... on Named { __typename } } }",
        &["Query.named 16 ms -"],
    )
    .await;
    check(
        "mutation { add { id friend { id } } rename { id } }",
        &[
            "Mutation.add 10 ms -",
            "User.id 1 ms -",
            "User.friend 8 ms -",
            "User.id 1 ms -",
            "Mutation.rename 20 ms -",
            "User.id 1 ms -",
        ],
    )
    .await;
}

/// G30: an asynchronous resolver is measured to its return, also while others run.
#[tokio::test]
async fn asynchronous_resolvers_are_measured_to_their_return() {
    check(
        "{ later { friend { friend { id } } } }",
        &[
            "Query.later 64 ms -",
            "User.friend 8 ms -",
            "User.friend 8 ms -",
            "User.id 1 ms -",
        ],
    )
    .await;
    // the first friend waits while the clock moves for the second one
    check(
        "{ users(first: 2) { friend { __typename } } }",
        &[
            "Query.users 32 ms -",
            "User.friend 12 ms -",
            "User.friend 12 ms -",
        ],
    )
    .await;
    // a loader wakes those that wait for its batch in any order
    let (mut lines, _) = resolvers(builder(), "{ users(first: 12) { name } }").await;
    lines.sort_unstable();
    let mut expected: Vec<_> = (1..=12)
        .map(|wait| format!("User.name {} ms -", 2 * wait))
        .collect();
    expected.push("Query.users 32 ms -".to_owned());
    expected.sort_unstable();
    assert_eq!(lines, expected);
}

/// G30: a failed resolver is measured with its code, also after a panic or at the deadline.
#[tokio::test]
async fn failed_resolvers_have_codes() {
    for (query, expected) in [
        ("{ user(id: 0) { id } }", "Query.user 16 ms NOT_FOUND"),
        ("{ user(id: 8) { id } }", "Query.user 16 ms INTERNAL_SERVER_ERROR"),
        ("{ user(id: 7) { id } }", "Query.user 16 ms INTERNAL_SERVER_ERROR"),
        ("{ broken }", "Query.broken 0 ms CONFLICT"),
    ] {
        check(query, &[expected]).await;
    }
    check(
        "{ user { missing } }",
        &["Query.user 16 ms -", "User.missing 0 ms NOT_FOUND"],
    )
    .await;
    check(
        "{ user { explodes } }",
        &["Query.user 16 ms -", "User.explodes 0 ms INTERNAL_SERVER_ERROR"],
    )
    .await;
    check(
        "{ user(id: 13) { name } }",
        &["Query.user 16 ms -", "User.name 2 ms CONFLICT"],
    )
    .await;
    let late = timer_fn(|_| tokio::task::yield_now());
    let late = builder().with_deadline(Duration::from_secs(1), late);
    let (lines, data) = resolvers(late, "{ user { never } }").await;
    assert_eq!(lines, ["Query.user 16 ms -", "User.never 0 ms TIMEOUT"]);
    assert_eq!(data, r#"{"user":{"never":null}}"#);
}

/// G30: resolvers of deferred parts, and of the events of a subscription, are measured.
#[tokio::test]
async fn later_resolvers_are_measured() {
    let (lines, clock) = (Lines::default(), clock());
    let engine = builder().with_incremental_delivery();
    let engine = engine
        .with_resolver_metrics(lines.clone(), clock.clone())
        .build()
        .unwrap();
    let deferred = "{ user { ... @defer { id friend { ... @defer { id } } } } }";
    let deferred = accepting(post(deferred, Value::Null), "multipart/mixed;deferSpec=20220824");
    let live = "subscription { joined(count: 2) { id friend { id } } }";
    let live = accepting(post(live, Value::Null), "text/event-stream");
    let event = ["User.id 1 ms -", "User.friend 8 ms -", "User.id 1 ms -"].as_slice();
    for (request, expected) in [
        (deferred, [&["Query.user 16 ms -"], event].concat()),
        (live, [&["Subscription.joined 5 ms -"], event, event].concat()),
    ] {
        let HttpResponse::Stream(response) = engine.respond(request, context(&clock)).await else {
            panic!("no stream");
        };
        drop(response.into_body().collect::<Vec<Bytes>>().await);
        let mut lines = lines.take();
        lines.retain(|line| !line.starts_with("event") && !line.starts_with("operation"));
        assert_eq!(lines, expected);
    }
}

/// G30: with `with_metrics` alone no resolver is measured.
#[tokio::test]
async fn resolvers_are_not_measured_by_default() {
    let (lines, clock) = (Lines::default(), clock());
    let engine = builder()
        .with_metrics(lines.clone(), clock.clone())
        .build()
        .unwrap();
    let request = GraphRequest::new("{ later { id name } }");
    engine.execute(&request, &context(&clock)).await;
    let [line] = lines.take().try_into().unwrap();
    assert!(line.starts_with("operation"), "{line}");
}
