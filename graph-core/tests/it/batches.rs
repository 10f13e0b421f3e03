//! Batches: several operations in one request (G18).

use graph_core::limits::Limits;
use http::StatusCode;
use serde_json::{Value, json};

use crate::fixture::{Fixture, accepting, builder, codes, fixture, get, json as envelope, post_body};

fn batching(limits: Limits) -> Fixture {
    Fixture::new(builder().with_limits(limits).with_batches())
}

fn list(queries: &[&str]) -> Value {
    queries.iter().map(|query| json!({ "query": query })).collect()
}

async fn ask(shop: &Fixture, batch: &Value) -> (StatusCode, Value) {
    let response = shop.send(post_body(batch.to_string())).await;
    (response.status(), envelope(&response))
}

/// G1, G18: each operation has its own response, in order, independent of the others.
#[tokio::test]
async fn a_batch_has_an_answer_for_each_operation() {
    let shop = batching(Limits::default());
    let batch = json!([
        { "query": "query Q($id: Int!) { item(id: $id) { id } }", "variables": { "id": 4 } },
        { "query": "{ nothing }" },
        { "invalid": "request" },
        { "query": "{ ping item(id: 0) { id } }" },
        { "query": "{ item(id: 7) { id } }" },
        { "query": "subscription { live { id } }" },
        { "query": "{ ping }", "variables": 7 },
        { "query": "query A { ping } query B { viewer }", "operationName": "B" },
    ]);
    for accept in ["application/json", "application/graphql-response+json"] {
        let response = shop.send(accepting(post_body(batch.to_string()), accept)).await;
        assert_eq!(response.status(), 200);
        let sent = response.headers()["content-type"].to_str().unwrap();
        assert!(sent.starts_with(accept), "{sent}");
        let answers = envelope(&response);
        let told: Vec<Vec<&str>> = answers.as_array().unwrap().iter().map(codes).collect();
        let expected: [&[&str]; 8] = [
            &[],
            &["GRAPHQL_VALIDATION_FAILED"],
            &["BAD_REQUEST"],
            &["NOT_FOUND"],
            &["INTERNAL_SERVER_ERROR"],
            &["BAD_REQUEST"],
            &["BAD_REQUEST"],
            &[],
        ];
        assert_eq!(told, expected);
        assert_eq!(answers[0], json!({ "data": { "item": { "id": 4 } } }));
        assert_eq!(answers[3]["data"], json!({ "ping": "pong", "item": null }));
        assert_eq!(answers[7], json!({ "data": { "viewer": null } }));
    }
}

/// G8: each operation sees the writes of the previous one.
#[tokio::test]
async fn operations_of_a_batch_run_one_after_another() {
    let shop = batching(Limits::default());
    let add = |id: i32| format!("mutation {{ add(id: {id}) {{ id }} }}");
    let (status, _) = ask(&shop, &list(&[&add(1), &add(9), &add(5)])).await;
    assert_eq!(status, 200);
    assert_eq!(*shop.shop.order.lock().unwrap(), [1, 9, 5]);
}

/// G18: batches are off by default, and never served by GET or as events.
#[tokio::test]
async fn batches_are_off_by_default() {
    let batch = list(&["{ ping }"]);
    let off = fixture();
    let (status, told) = ask(&off, &batch).await;
    assert_eq!(status, 400);
    assert_eq!(codes(&told), ["BAD_REQUEST"]);

    let on = batching(Limits::default());
    let events = on
        .send(accepting(post_body(batch.to_string()), "text/event-stream"))
        .await;
    assert_eq!(events.status(), 406);
    let by_get = on.send(get(&batch.to_string())).await;
    assert_eq!(codes(&envelope(&by_get)), ["GRAPHQL_PARSE_FAILED"]);
    assert_eq!(off.shop.calls() + on.shop.calls(), 0);
}

/// G18, G19: ten operations pass, eleven do not; a list with an entry other than an object is
/// refused.
#[tokio::test]
async fn a_batch_has_ten_operations_at_most() {
    let shop = batching(Limits::default());
    let (status, answers) = ask(&shop, &list(&["{ viewer }"; 10])).await;
    assert_eq!(
        (status.as_u16(), answers.as_array().map(Vec::len)),
        (200, Some(10))
    );
    let long = format!("[{}]", "{},".repeat(300_000));
    let valid = json!({ "query": "{ ping }" });
    for faulty in [
        list(&["{ ping }"; 11]).to_string(),
        "[]".to_owned(),
        "[".to_owned(),
        "[[]]".to_owned(),
        r#"["{ ping }"]"#.to_owned(),
        json!([valid, null]).to_string(),
        json!([valid, [valid]]).to_string(),
        format!("[{valid}] []"),
        format!("[{valid},]"),
        long,
    ] {
        let response = shop.send(post_body(faulty)).await;
        assert_eq!(response.status(), 400);
        assert_eq!(codes(&envelope(&response)), ["BAD_REQUEST"]);
    }
    assert_eq!(shop.shop.calls(), 0);
}

/// G18, G3: costs, aliases and root fields are summed; a batch above a limit in total runs nothing.
#[tokio::test]
async fn the_operations_of_a_batch_are_judged_together() {
    let dear = "query { search(first: 4) { ... on Item { id } } }";
    for (limits, query, code) in [
        (Limits::default().with_cost(9), dear, "MAX_COST_EXCEEDED"),
        (
            Limits::default().with_aliases(5),
            "{ a: ping b: ping }",
            "MAX_ALIASES_EXCEEDED",
        ),
        (
            Limits::default().with_root_fields(5),
            "{ ping viewer }",
            "MAX_COST_EXCEEDED",
        ),
    ] {
        let shop = batching(limits);
        let (status, answers) = ask(&shop, &list(&[query, query])).await;
        assert_eq!(status, 200, "{answers}");
        assert!(
            answers
                .as_array()
                .unwrap()
                .iter()
                .all(|answer| codes(answer).is_empty()),
            "{answers}"
        );
        let calls = shop.shop.calls();
        let (status, told) = ask(&shop, &list(&[query, query, query])).await;
        assert_eq!(status, 400);
        assert_eq!(codes(&told), [code]);
        assert_eq!(shop.shop.calls(), calls);
    }
    let (status, _) = ask(
        &batching(Limits::default().with_depth(1)),
        &list(&["{ ping }"; 3]),
    )
    .await;
    assert_eq!(status, 200, "the deepest is as deep as all");
}
