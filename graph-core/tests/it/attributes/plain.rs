//! Limitations of operations with a `#[graph(plain)]` field, which juniper executes.

use std::time::Duration;

use graph_core::Engine;
use graph_core::http::GraphRequest;
use graph_core::ports::timer_fn;
use juniper::graphql_vars;
use serde_json::{Value, json};

use super::{callers, engine, schema};
use crate::fixture::codes;

/// Two requests with one selection: for our executor and for juniper's.
fn both(selection: &str) -> [GraphRequest; 2] {
    ["", "plain: observer { executed }"].map(|plain| GraphRequest::new(format!("{{ {selection} {plain} }}")))
}

/// G4: paths of errors have no list indices there; the rest of the error is the same.
#[tokio::test]
async fn paths_of_juniper_have_no_places_in_lists() {
    let [anonymous, ..] = callers();
    let [ours, theirs] = both("titled { ... on Robot { code } }");
    let ours = json!(engine().execute(&ours, &anonymous).await);
    let mut theirs = json!(engine().execute(&theirs, &anonymous).await);
    assert_eq!(ours["errors"][0]["path"], json!(["titled", 1, "code"]));
    assert_eq!(theirs["errors"][0]["path"], json!(["titled", "code"]));
    theirs["errors"][0]["path"] = ours["errors"][0]["path"].clone();
    assert_eq!(ours["errors"], theirs["errors"]);
}

/// G5: a late operation has no data there, not even the fields that were ready.
#[tokio::test]
async fn what_juniper_executes_has_no_partial_answer() {
    let [anonymous, ..] = callers();
    // the deadline has passed at its first poll
    let late = Engine::builder(schema())
        .with_deadline(Duration::from_millis(1), timer_fn(|_| std::future::ready(())))
        .build()
        .unwrap();
    let [ours, theirs] = both("cent never");
    let ours = json!(late.execute(&ours, &anonymous).await);
    assert_eq!(codes(&ours), ["TIMEOUT"]);
    assert_eq!(ours["data"], json!({ "cent": 1, "never": null }));
    assert_eq!(ours["errors"][0]["path"], json!(["never"]));
    let theirs = json!(late.execute(&theirs, &anonymous).await);
    assert_eq!(codes(&theirs), ["TIMEOUT"]);
    assert_eq!(
        (&theirs["data"], theirs["errors"][0].get("path")),
        (&Value::Null, None)
    );
}

/// G7: juniper's own rules for defaults apply there.
#[tokio::test]
async fn defaults_are_those_of_juniper() {
    let [anonymous, ..] = callers();
    let first = "query ($n: Int) { user { friends(first: $n) { name } } ";
    let minimum = "query ($f: Filter) { user { friends(first: 0, filter: $f) { name } } ";
    for (query, variables, code) in [
        (first, graphql_vars! {}, "GRAPHQL_VALIDATION_FAILED"),
        (minimum, graphql_vars! { "f": { "word": "x" } }, "BAD_USER_INPUT"),
    ] {
        let ask = async |rest: &str| {
            let request = GraphRequest::new(format!("{query}{rest}}}")).with_variables(variables.clone());
            json!(engine().execute(&request, &anonymous).await)
        };
        assert!(ask("").await.get("errors").is_none(), "{query}");
        assert_eq!(
            codes(&ask("plain: observer { executed }").await),
            [code],
            "{query}"
        );
    }
}
