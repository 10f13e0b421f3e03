//! Cost of an operation, read from the error message of an engine with a budget of 0.

use graph_core::limits::{FieldCost, Limits};
use serde_json::{Value, json};

use crate::fixture::{Fixture, ShopBuilder, builder, codes, fixture};

async fn price_with(builder: ShopBuilder, query: &str, variables: Value) -> u64 {
    let shop = Fixture::new(builder.with_limits(Limits::default().with_cost(0)));
    let answer = shop.ask_with(query, variables).await;
    let Some(message) = answer["errors"][0]["message"].as_str() else {
        return 0;
    };
    assert_eq!(codes(&answer), ["MAX_COST_EXCEEDED"], "{query}: {message}");
    assert_eq!(shop.shop.calls(), 0);
    let price = message
        .strip_prefix("the operation costs ")
        .unwrap()
        .split(',')
        .next()
        .unwrap();
    price.parse().unwrap()
}

async fn check(query: &str, expected: u64) {
    assert_eq!(
        price_with(builder(), query, Value::Null).await,
        expected,
        "{query}"
    );
}

/// G18: an object costs 1, a scalar 0, a list its size times an entry.
#[tokio::test]
async fn a_list_costs_its_size_times_an_entry() {
    check("{ ping viewer }", 0).await;
    check("{ item(id: 1) { id name } }", 1).await;
    check("{ item(id: 1) { parent { parent { id } } } }", 3).await;
    check("{ items(first: 7) { id } }", 7).await;
    check("{ items(first: 7) { parent { id } } }", 14).await;
    // a list of unknown size counts as ten entries
    check("{ item(id: 1) { parts { id } } }", 11).await;
    check(
        "{ items(first: 2) { parts { parts { id } } } }",
        2 * (1 + 10 * (1 + 10)),
    )
    .await;
    check("{ items(first: 0) { parts { id } } }", 0).await;
    check("{ grid { id } }", 10 * 10).await;
}

/// G18: fragments and aliases count at each selection.
#[tokio::test]
async fn fragments_and_aliases_are_paid_where_they_are_selected() {
    check(
        "{ ...F } fragment F on Query { a: items(first: 4) { id } b: items(first: 4) { id } }",
        8,
    )
    .await;
    check(
        "{ items(first: 3) { ...F ... on Item { x: parent { id } } } } fragment F on Item { parent { id } }",
        9,
    )
    .await;
}

/// G18: the selections on the types of a union are summed.
#[tokio::test]
async fn the_types_of_a_union_are_added_up() {
    let query =
        "{ search(first: 3) { __typename ... on Item { parent { id } } ... on Shelf { items { id } } } }";
    check(query, 3 * (1 + 1 + 10)).await;
    let answer = fixture()
        .ask("{ search(first: 1) { __typename ... on Item { id } } }")
        .await;
    assert_eq!(
        answer["data"],
        json!({ "search": [{ "__typename": "Item", "id": 1 }] })
    );
}

/// G18: the size is the variable's, else the operation's default, else the schema's default.
#[tokio::test]
async fn variables_and_defaults_are_resolved() {
    let query = "query ($n: Int! = 50) { items(first: $n) { id } }";
    assert_eq!(price_with(builder(), query, json!({ "n": 80 })).await, 80);
    assert_eq!(price_with(builder(), query, json!({})).await, 50);
    check("{ items { id } }", 3).await;
    let stock = "query ($n: Int, $m: Int = 40) { a: stock(first: $n) { edges { cursor } } b: stock(last: $m) { edges { cursor } } }";
    assert_eq!(price_with(builder(), stock, json!({ "n": 9 })).await, 9 + 40);
    assert_eq!(
        price_with(builder(), stock, json!({ "n": null, "m": 1 })).await,
        20 + 1
    );
}

/// G18: a connection is counted once; its edges and `pageInfo` are free.
#[tokio::test]
async fn a_connection_is_counted_once() {
    check("{ stock(first: 10) { edges { node { id } } } }", 10).await;
    check(
        "{ stock(first: 10) { edges { cursor node { id } } pageInfo { hasNextPage endCursor } } }",
        10,
    )
    .await;
    check("{ stock(first: 10) { pageInfo { hasNextPage } } }", 10).await;
    check("{ stock(first: 10) { edges { node { parent { id } } } } }", 20).await;
    // the larger of `first` and `last` counts
    check("{ stock(first: 2, last: 50) { edges { cursor } } }", 50).await;
    check("{ stock(first: 50, last: 2) { edges { cursor } } }", 50).await;
    check("{ stock(last: 10) { edges { node { parts { id } } } } }", 10 * 11).await;
}

/// G18: the default page size of a connection is known, and the host can set another.
#[tokio::test]
async fn the_default_page_of_a_field_is_resolved() {
    check("{ stock { edges { node { id } } } }", 20).await;
    let named = builder().with_field_cost("Query.rows", FieldCost::page_size(5));
    assert_eq!(
        price_with(named, "{ rows { edges { node { id } } } }", Value::Null).await,
        5
    );
    let parts = builder().with_field_cost("Item.parts", FieldCost::page_size(2));
    assert_eq!(
        price_with(parts, "{ item(id: 1) { parts { id } } }", Value::Null).await,
        3
    );
}

/// G18: the host can set the weight of a field, also of a scalar.
#[tokio::test]
async fn a_field_has_the_weight_that_the_host_gives_it() {
    let weighted = || {
        let items = FieldCost::weight(5);
        builder()
            .with_field_cost("Query.items", items)
            .with_field_cost("Item.name", FieldCost::weight(2))
    };
    assert_eq!(
        price_with(weighted(), "{ items(first: 3) { id } }", Value::Null).await,
        15
    );
    assert_eq!(
        price_with(weighted(), "{ items(first: 3) { name } }", Value::Null).await,
        21
    );
}

/// G18, G3: an operation of exactly 10,000 runs; one above is refused before anything runs.
#[tokio::test]
async fn the_budget_is_kept_to_the_point() {
    let shop = fixture();
    let query = "query ($n: Int!) { items(first: $n) { parts { id } } x: items(first: 1) { id } }";
    // 909 × 11 + 1 = 10,000
    assert!(
        shop.ask_with(query, json!({ "n": 909 }))
            .await
            .get("errors")
            .is_none()
    );
    let calls = shop.shop.calls();
    let answer = shop.ask_with(query, json!({ "n": 910 })).await;
    assert_eq!(codes(&answer), ["MAX_COST_EXCEEDED"]);
    assert!(answer.get("data").is_none());
    assert_eq!(shop.shop.calls(), calls);
}

/// G18: a cost beyond the range of numbers exceeds every budget, and a negative size reduces
/// nothing.
#[tokio::test]
async fn a_price_cannot_overflow_or_go_below_zero() {
    let levels = (0..8).fold("id".to_owned(), |inner, _| format!("parts {{ {inner} }}"));
    let huge = format!("{{ items(first: 2147483647) {{ parts {{ {levels} }} }} }}");
    assert!(price_with(builder(), &huge, Value::Null).await > 1_000_000_000_000);
    let heavy = builder().with_field_cost("Item.parts", FieldCost::weight(u32::MAX).with_page_size(u32::MAX));
    assert_eq!(price_with(heavy, &huge, Value::Null).await, u64::MAX);
    check("{ items(first: -5) { id } }", 10).await;
}
