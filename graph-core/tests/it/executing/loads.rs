//! Batched loading.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures_util::StreamExt as _;
use graph_core::RequestContext;
use graph_core::http::{GraphRequest, HttpResponse};
use graph_core::ports::timer_fn;
use serde_json::json;

use super::{Log, Names, answer, ask, batches, builder};
use crate::fixture::{codes, post_body};

/// G8: concurrent resolvers share one batch with distinct keys; each nesting level adds one batch.
#[tokio::test]
async fn keys_are_loaded_in_one_batch() {
    batches();
    let answer =
        answer("{ nodes(count: 12) { name again: name child { name } children(count: 2) { name } } }").await;
    assert!(answer.get("errors").is_none(), "{}", answer["errors"]);
    assert_eq!(answer["data"]["nodes"][3]["name"], "name 3");
    assert_eq!(answer["data"]["nodes"][11]["children"][1]["name"], "name 111");
    let batches = batches();
    // children exist only after their nodes' names were requested
    let children = 12 * 2 - 4;
    assert_eq!(batches.iter().map(Vec::len).collect::<Vec<_>>(), [13, children]);
}

/// G8: the error of a batch applies to all of its keys; a key without a value is null.
#[tokio::test]
async fn a_batch_fails_as_a_whole() {
    let failed = answer("{ a: node(id: 1300) { name } b: node(id: 5) { name } }").await;
    assert_eq!(codes(&failed), ["NOT_FOUND", "NOT_FOUND"]);
    assert_eq!(
        failed["data"],
        json!({ "a": { "name": null }, "b": { "name": null } })
    );
    let absent = answer("{ node(id: 99) { name } }").await;
    assert_eq!(absent, json!({ "data": { "node": { "name": null } } }));
}

/// G8: a key requested by another task while the operation is idle is loaded.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_asked_for_from_another_task_is_loaded() {
    let (engine, log) = (builder().build().unwrap(), Arc::<Log>::default());
    let query = "{ a: node(id: 1) { spawnedName } b: node(id: 2) { spawnedName name } }";
    log.held.send_replace(true);
    let mut asked = pin!(ask(&engine, query, &log));
    let polled = poll_fn(|context| Poll::Ready(asked.as_mut().poll(context))).await;
    assert!(polled.is_pending());
    log.held.send_replace(false);
    let answer = tokio::time::timeout(Duration::from_secs(5), asked).await.unwrap();
    assert_eq!(
        answer["data"],
        json!({ "a": { "spawnedName": "name 1" }, "b": { "spawnedName": "name 2", "name": "name 2" } })
    );
}

/// G8: an operation of a batch sees the writes of the previous one, but not its loader cache.
#[tokio::test]
async fn operations_of_a_batch_load_for_themselves() {
    batches();
    let engine = builder().with_batches().build().unwrap();
    let context = RequestContext::new(Arc::default()).with_loader(Names);
    let operation = json!({ "query": "{ a: node(id: 1) { name } b: node(id: 1) { name } }" });
    let request = post_body(json!([operation, operation]).to_string());
    let HttpResponse::Full(response) = engine.respond(request, context).await else {
        panic!("a stream");
    };
    assert_eq!(response.status(), 200);
    assert_eq!(batches(), [[1], [1]]);
}

/// G10: each event has its own errors and loads.
#[tokio::test]
async fn an_event_runs_through_the_plan() {
    batches();
    let context = RequestContext::new(Arc::default()).with_loader(Names);
    let request = GraphRequest::new(
        "subscription { ...F } fragment F on Subscription { t: ticks { id odd name child { name } } }",
    );
    let events = builder().build().unwrap().subscribe(request, context);
    let events: Vec<_> = events.map(|event| json!(event)).collect().await;
    assert_eq!(events.len(), 2);
    assert_eq!(
        events[0]["data"],
        json!({ "t": { "id": 1, "odd": null, "name": "name 1", "child": { "name": "name 2" } } })
    );
    assert_eq!(events[0]["errors"][0]["path"], json!(["t", "odd"]));
    assert!(events[1].get("errors").is_none());
    // 2 is requested again
    assert_eq!(batches(), [vec![1, 2], vec![2, 3]]);
}

/// G8: an operation dropped during a load does not block the next one of its context.
#[tokio::test]
async fn what_was_given_up_is_loaded_for_the_next() {
    let rests = timer_fn(|_| super::yields(1));
    let engine = builder()
        .with_deadline(Duration::from_secs(1), rests)
        .build()
        .unwrap();
    let context = RequestContext::new(Arc::default()).with_loader(Names);
    let request = GraphRequest::new("{ node(id: 1) { name } }");
    let late = json!(engine.execute(&request, &context).await);
    assert_eq!(codes(&late), ["TIMEOUT"]);
    let patient = builder().build().unwrap();
    let answered = tokio::time::timeout(Duration::from_secs(5), patient.execute(&request, &context)).await;
    assert_eq!(
        json!(answered.unwrap()),
        json!({ "data": { "node": { "name": "name 1" } } })
    );
}

/// G8: concurrent operations of one context all get their values.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn operations_of_one_context_do_not_stall_each_other() {
    let engine = builder().build().unwrap();
    for round in 0..50 {
        let context = RequestContext::new(Arc::default()).with_loader(Names);
        let asked = (0..4).map(|at| {
            let (engine, context) = (engine.clone(), context.clone());
            tokio::spawn(async move {
                let id = round * 10 + at % 2;
                let query = format!(
                    "{{ a: node(id: {id}) {{ slow name }} b: node(id: {}) {{ spawnedName }} }}",
                    id + 2
                );
                json!(engine.execute(&GraphRequest::new(query), &context).await)
            })
        });
        for (asked, at) in asked.collect::<Vec<_>>().into_iter().zip(0..) {
            let answer = tokio::time::timeout(Duration::from_secs(10), asked)
                .await
                .unwrap()
                .unwrap();
            let id = round * 10 + at % 2;
            let name = |id: i32| {
                if id == 99 {
                    json!(null)
                } else {
                    json!(format!("name {id}"))
                }
            };
            assert_eq!(answer["data"]["a"]["name"], name(id), "{answer}");
            assert_eq!(answer["data"]["b"]["spawnedName"], name(id + 2), "{answer}");
        }
    }
}
