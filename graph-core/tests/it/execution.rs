//! Data of a response.

use serde_json::json;

use crate::fixture::{fixture, json as body, post_body};

/// G1: the response mirrors the operation, in the order of its selections.
#[tokio::test]
async fn the_response_mirrors_the_operation_in_its_order() {
    let shop = fixture();
    let query = "{ second: item(id: 2) { name id parts { id } } ping first: item(id: 1) { id } }";
    let response = shop.send(crate::fixture::post(query, json!(null))).await;
    assert_eq!(
        response.body(),
        r#"{"data":{"second":{"name":"item 2","id":2,"parts":[{"id":20},{"id":21}]},"ping":"pong","first":{"id":1}}}"#
    );
}

/// G1: `operationName` selects the operation, `variables` apply, `extensions` are accepted.
#[tokio::test]
async fn the_operation_named_runs_with_its_variables() {
    let shop = fixture();
    let request = json!({
        "query": "query A { ping } query B($id: Int!) { item(id: $id) { id } }",
        "operationName": "B",
        "variables": { "id": 4 },
        "extensions": { "anything": true },
    });
    let response = shop.send(post_body(request.to_string())).await;
    assert_eq!(body(&response), json!({ "data": { "item": { "id": 4 } } }));
}

/// G2, G9: a mutation returns the changed object.
#[tokio::test]
async fn a_mutation_returns_what_it_changed() {
    let shop = fixture();
    let answer = shop.ask("mutation { add(id: 5) { id name } }").await;
    assert_eq!(
        answer,
        json!({ "data": { "add": { "id": 5, "name": "item 5" } } })
    );
    assert_eq!(*shop.shop.order.lock().unwrap(), [5]);
}

/// G8: the top-level fields of a mutation run in series.
#[tokio::test]
async fn the_fields_of_a_mutation_run_in_series() {
    let shop = fixture();
    shop.ask("mutation { a: add(id: 1) { id } b: add(id: 9) { id } c: add(id: 5) { id } }")
        .await;
    assert_eq!(*shop.shop.order.lock().unwrap(), [1, 9, 5]);
}

/// G2: a subscription requires the event stream.
#[tokio::test]
async fn a_subscription_needs_the_event_stream() {
    let shop = fixture();
    let answer = shop.ask_in("subscription { added { id } }", shop.ada()).await;
    assert_eq!(answer["errors"][0]["extensions"]["code"], "BAD_REQUEST");
    assert!(answer.get("data").is_none());
    assert_eq!(shop.shop.calls(), 0);
}

/// G7: an absent argument takes its default from the schema.
#[tokio::test]
async fn an_argument_left_out_takes_its_default() {
    let shop = fixture();
    let answer = shop.ask("{ items { id } }").await;
    assert_eq!(
        answer,
        json!({ "data": { "items": [{ "id": 1 }, { "id": 2 }, { "id": 3 }] } })
    );
}

/// G7, G5: a failed non-null field makes its parent null.
#[tokio::test]
async fn a_failed_required_field_nulls_its_parent() {
    let shop = fixture();
    let answer = shop.ask("{ ping broken }").await;
    assert_eq!(answer["data"], json!(null));
    let answer = shop.ask("{ ping item(id: 1) { weight } }").await;
    assert_eq!(answer["data"], json!({ "ping": "pong", "item": null }));
    assert_eq!(answer["errors"][0]["path"], json!(["item", "weight"]));
}

/// The future of a response must stay small, because a server holds one per connection.
#[test]
fn an_answer_under_way_takes_four_kilobytes_at_most() {
    let shop = fixture();
    let answer = shop.engine.respond(post_body("{}"), shop.anonymous());
    assert!(size_of_val(&answer) <= 4096, "{}", size_of_val(&answer));
}
