//! Deadlines and the concurrency limit.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use graph_core::ports::timer_fn;
use serde_json::{Value, json};

use super::{Log, ask, builder, yields};
use crate::fixture::codes;

/// Sleep that ends after a number of polls.
async fn rests(_: Duration) {
    yields(60).await;
}

/// G5: at the deadline the response has all ready fields; others fail with `TIMEOUT` and are
/// dropped.
#[tokio::test]
async fn a_deadline_answers_with_what_is_ready() {
    let engine = builder()
        .with_deadline(Duration::from_secs(2), timer_fn(rests))
        .build()
        .unwrap();
    let log: Arc<Log> = Arc::default();
    let query =
        "{ a: node(id: 0) { id slow never } b: node(id: 2) { certainlyNever id } c: node(id: 4) { slow }
        many: nodes(count: 10) { slow child { never } } }";
    let answer = ask(&engine, query, &log).await;
    let entry = |id: i32| json!({ "slow": id, "child": { "never": null } });
    let many: Vec<_> = (0..10).map(entry).collect();
    assert_eq!(
        answer["data"],
        json!({ "a": { "id": 0, "slow": 0, "never": null }, "b": null, "c": { "slow": 4 }, "many": many })
    );
    let codes = codes(&answer);
    assert_eq!(codes.len(), 12);
    assert!(codes.iter().all(|code| *code == "TIMEOUT"), "{codes:?}");
    assert_eq!(answer["errors"][0]["path"], json!(["a", "never"]));
    assert_eq!(answer["errors"][11]["path"], json!(["many", 9, "child", "never"]));
    assert_eq!(log.running.load(Ordering::SeqCst), 0);
}

/// G5, G8: a late mutation starts no further root field.
#[tokio::test]
async fn a_late_mutation_starts_nothing_more() {
    let engine = builder()
        .with_deadline(Duration::from_secs(2), timer_fn(rests))
        .build()
        .unwrap();
    let log: Arc<Log> = Arc::default();
    let query =
        "mutation { a: step(name: \"a\", times: 1) { id } stuck b: step(name: \"b\", times: 1) { id } }";
    let answer = ask(&engine, query, &log).await;
    assert_eq!(log.lines(), ["start a", "end a"]);
    assert_eq!(codes(&answer), ["TIMEOUT", "TIMEOUT"]);
    assert_eq!(answer["data"], Value::Null);
}

/// G5, G8: this includes synchronous root fields, whose writes the client would not see.
#[tokio::test]
async fn a_late_mutation_writes_nothing_more() {
    let engine = builder()
        .with_deadline(Duration::from_secs(2), timer_fn(rests))
        .build()
        .unwrap();
    let log: Arc<Log> = Arc::default();
    let query = "mutation { first: quick(name: \"first\") stuck __typename last: quick(name: \"last\") }";
    let answer = ask(&engine, query, &log).await;
    let before = log.lines();
    assert_eq!(before.len(), 1, "{before:?}");
    assert_eq!(codes(&answer), ["TIMEOUT", "TIMEOUT"]);
    assert_eq!(answer["data"]["last"], Value::Null);
    assert_eq!(answer["data"]["__typename"], "Mutation");
}

/// G8: the limit bounds the concurrent resolvers of all levels together, and all of them run
/// eventually.
#[tokio::test]
async fn a_limit_bounds_how_many_resolvers_run() {
    let query = "{ nodes(count: 30) { slow children(count: 2) { slow } } }";
    for limit in [1, 3, 1_000] {
        let log: Arc<Log> = Arc::default();
        let engine = builder().with_concurrency(limit).build().unwrap();
        let answer = ask(&engine, query, &log).await;
        assert!(answer.get("errors").is_none());
        assert_eq!(log.dropped.load(Ordering::SeqCst), 30 + 60);
        let most = log.most.load(Ordering::SeqCst);
        assert!(
            if limit < 90 { most == limit } else { most > 3 },
            "{most} of {limit}"
        );
    }
}
