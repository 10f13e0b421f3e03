//! Order, merging and failure.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};

use super::{answer, ask, builder};

/// G8: asynchronous fields run concurrently and appear in document order.
#[tokio::test]
async fn fields_wait_at_once_and_stand_in_their_order() {
    let log = Arc::default();
    let query = "{ a: wait(times: 5) b: wait(times: 0) c: wait(times: 2) }";
    let answer = ask(&builder().build().unwrap(), query, &log).await;
    assert_eq!(answer.to_string(), r#"{"data":{"a":5,"b":0,"c":2}}"#);
    let expected = ["start 5", "start 0", "end 0", "start 2", "end 2", "end 5"];
    assert_eq!(log.lines(), expected);
}

/// G8: fragments do not serialize fields.
#[tokio::test]
async fn fragments_do_not_make_fields_wait() {
    let log = Arc::default();
    let query = "{ ...A ... { b: wait(times: 1) } } fragment A on Query { a: wait(times: 9) }";
    ask(&builder().build().unwrap(), query, &log).await;
    assert_eq!(log.lines(), ["start 9", "start 1", "end 1", "end 9"]);
}

/// G8: one response key runs its resolver once; its selections are merged in document order.
#[tokio::test]
async fn a_response_key_runs_once_and_is_merged() {
    let log = Arc::default();
    let query = "mutation { step(name: \"a\", times: 1) { id } ...F step(name: \"a\", times: 1) { x: slow } }
        fragment F on Mutation { step(name: \"a\", times: 1) { child { id } ... on Node { child { y: id } } } }";
    let answer = ask(&builder().build().unwrap(), query, &log).await;
    assert_eq!(
        answer.to_string(),
        r#"{"data":{"step":{"id":1,"child":{"id":2,"y":2},"x":1}}}"#
    );
    assert_eq!(log.lines(), ["start a", "end a"]);
}

/// G8: the fields of a mutation run in series, each with its whole selection.
#[tokio::test]
async fn mutations_run_in_series() {
    let log = Arc::default();
    let query = "mutation { a: step(name: \"a\", times: 9) { slow } q: quick(name: \"q\") b: step(name: \"b\", times: 0) { id } }";
    let answer = ask(&builder().build().unwrap(), query, &log).await;
    assert_eq!(
        answer.to_string(),
        r#"{"data":{"a":{"slow":9},"q":null,"b":{"id":0}}}"#
    );
    assert_eq!(log.lines(), ["start a", "end a", "q", "start b", "end b"]);
}

/// G4, G5: the error of an asynchronous field has its list indices and nulls only its nearest
/// nullable parent.
#[tokio::test]
async fn failures_bubble_to_the_next_nullable_value() {
    let failing = answer("{ nodes(count: 4) { id odd even child { id } } }").await;
    let node = |id: i32| json!({ "id": id, "odd": id, "even": id, "child": { "id": id + 1 } });
    assert_eq!(failing["data"]["nodes"], json!([node(0), null, node(2), null]));
    let mut paths: Vec<_> = failing["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["path"].to_string())
        .collect();
    paths.dedup();
    // document order, independent of the order of failures
    assert_eq!(
        paths,
        [
            r#"["nodes",1,"odd"]"#,
            r#"["nodes",3,"odd"]"#,
            r#"["nodes",1,"even"]"#,
            r#"["nodes",3,"even"]"#
        ]
    );

    let grid = answer("{ node(id: 0) { grid { even } id } }").await;
    assert_eq!(
        grid["data"]["node"],
        json!({ "grid": [[{ "even": 2 }, null], [null, { "even": 4 }]], "id": 0 })
    );
    assert_eq!(grid["errors"][0]["path"], json!(["node", "grid", 1, 0, "even"]));

    let deep = answer("{ node(id: 0) { children(count: 12) { children(count: 3) { x: even } } } }").await;
    assert_eq!(
        deep["data"]["node"]["children"][11]["children"],
        json!([{ "x": 110 }, null, { "x": 112 }])
    );
    let last = deep["errors"].as_array().unwrap().last().unwrap();
    assert_eq!(last["path"], json!(["node", "children", 11, "children", 1, "x"]));
}

/// G5: a pending field inside a value that became null is cancelled.
#[tokio::test]
async fn what_became_null_is_cancelled() {
    for (count, selected) in [(1, "even never"), (20, "even never certainlyNever")] {
        let log = Arc::default();
        let query = format!(
            "{{ node(id: 1) {{ child {{ id }} children(count: {count}) {{ child {{ {selected} }} }} }} }}"
        );
        let asked = async {
            let engine = builder().build().unwrap();
            ask(&engine, &query.replace("children(count: 1)", "c: child"), &log).await
        };
        let asked = tokio::time::timeout(Duration::from_millis(200), asked).await;
        if count == 1 {
            // id 3 is odd, and its `never` is dropped with it
            let answer = asked.unwrap();
            assert_eq!(
                answer["data"]["node"],
                json!({ "child": { "id": 2 }, "c": { "child": null } })
            );
            assert_eq!(log.running.load(Ordering::SeqCst), 0);
        } else {
            // even ids never complete
            assert!(asked.is_err());
            assert_eq!(log.running.load(Ordering::SeqCst), 0);
        }
    }
}

/// G8: many asynchronous fields complete, also when other threads wake them.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_fields_are_woken_from_anywhere() {
    let query = "{ nodes(count: 300) { id slow children(count: 3) { slow child { slow } } spawnedName } }";
    let answer = answer(query).await;
    assert!(answer.get("errors").is_none(), "{}", answer["errors"]);
    for id in 0..300 {
        let child = |id: i32| json!({ "slow": id, "child": { "slow": id + 1 } });
        let children: Vec<_> = (0..3).map(|more| child(id * 10 + more)).collect();
        let name = if id == 99 {
            Value::Null
        } else {
            json!(format!("name {id}"))
        };
        let expected = json!({ "id": id, "slow": id, "children": children, "spawnedName": name });
        let at = usize::try_from(id).unwrap();
        assert_eq!(answer["data"]["nodes"][at], expected);
    }
}
