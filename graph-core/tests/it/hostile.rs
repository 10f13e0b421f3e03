//! Hostile input.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request};
use proptest::prelude::*;
use serde_json::Value;

use crate::fixture::{Fixture, codes, fixture, json as envelope, post_body};

/// Serves `request`: no panic, no 500, always a GraphQL response.
fn serve(shop: &Fixture, request: Request<Bytes>) -> Result<Value, TestCaseError> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let response = runtime.block_on(shop.send(request));
    prop_assert!(response.status().as_u16() < 500, "{}", response.status());
    if response.headers()["content-type"]
        .to_str()
        .unwrap()
        .contains("json")
    {
        return Ok(envelope(&response));
    }
    Ok(Value::Null)
}

/// Fragments of GraphQL documents.
fn document() -> impl Strategy<Value = String> {
    let pieces = [
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        ":",
        "!",
        "$",
        "@",
        "...",
        "=",
        "|",
        "query",
        "mutation",
        "subscription",
        "fragment F on ",
        "Query",
        "Item",
        "on",
        "...F",
        "ping",
        "item",
        "items",
        "id",
        "first",
        "stock",
        "edges",
        "node",
        "a: ",
        "$x",
        "1",
        "-1",
        "1.5e300",
        "9999999999",
        "\"s\"",
        "\"\"\"b\"\"\"",
        "null",
        "true",
        "__schema",
        "__type(name: \"Item\")",
        "types",
        "name",
        "@skip(if: $x)",
        "@include(if: true)",
        "@skip",
        "# c\n",
        "\u{feff}",
        "é",
        "\0",
        " ",
    ];
    let noise = "\\PC{0,12}".prop_map(|text| text);
    let piece =
        prop_oneof![9 => proptest::sample::select(pieces.to_vec()).prop_map(str::to_owned), 1 => noise];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.join(" "))
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,10}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::hash_map("[a-z$]{0,3}", inner, 0..4)
                .prop_map(|map| map.into_iter().collect()),
        ]
    })
}

proptest! {
    /// G19: no body causes a panic or a 500.
    #[test]
    fn no_body_breaks_the_endpoint(body in proptest::collection::vec(any::<u8>(), 0..200)) {
        let answer = serve(&fixture(), post_body(body))?;
        prop_assert_eq!(codes(&answer), ["BAD_REQUEST"]);
    }

    /// G19: no document and variables cause a panic or a 500.
    #[test]
    fn no_document_breaks_the_endpoint(query in document(), variables in value(), name in proptest::option::of("[AB]?")) {
        let body = serde_json::json!({ "query": query, "variables": variables, "operationName": name });
        let answer = serve(&fixture(), post_body(body.to_string()))?;
        prop_assert!(answer.get("data").is_some() || !codes(&answer).is_empty());
        prop_assert!(!codes(&answer).contains(&"INTERNAL_SERVER_ERROR"), "{}", answer);
    }

    /// G19: no variables of a field with arguments cause a panic or a 500.
    #[test]
    fn no_variable_breaks_the_endpoint(id in value(), first in value()) {
        let query = "query ($id: Int!, $first: Int) { item(id: $id) { id } stock(first: $first) { edges { cursor } } }";
        prop_assume!(!matches!(id.as_i64(), Some(7 | 8)));
        let body = serde_json::json!({ "query": query, "variables": { "id": id, "first": first } });
        let answer = serve(&fixture(), post_body(body.to_string()))?;
        prop_assert!(!codes(&answer).contains(&"INTERNAL_SERVER_ERROR"), "{}", answer);
    }

    /// G19: no headers cause a panic or a 500.
    #[test]
    fn no_header_breaks_the_endpoint(
        post: bool,
        headers in proptest::collection::vec(
            (
                proptest::sample::select(vec!["accept", "content-type", "graphql-require-preflight"]),
                prop_oneof![
                    proptest::collection::vec(any::<u8>(), 0..40),
                    "[a-z*/;=,.0-9 \"+-]{0,40}".prop_map(String::into_bytes),
                ],
            ),
            0..5,
        ),
    ) {
        let builder = if post { Request::post("/graphql") } else { Request::get("/graphql?query={ping}") };
        let mut request = builder.body(Bytes::from_static(b"{\"query\":\"{ ping }\"}")).unwrap();
        for (name, value) in headers {
            if let Ok(value) = HeaderValue::from_bytes(&value) {
                request.headers_mut().append(HeaderName::from_static(name), value);
            }
        }
        serve(&fixture(), request)?;
    }

    /// G19: no query string causes a panic or a 500.
    #[test]
    fn no_query_string_breaks_the_endpoint(query in "[a-zA-Z0-9%&=+{}()$:!]{0,60}", known: bool) {
        let query = if known { format!("query={query}&variables={query}") } else { query };
        if let Ok(request) = Request::get(format!("/graphql?{query}")).body(Bytes::new()) {
            serve(&fixture(), request)?;
        }
    }
}

/// G19: fragments that double at each level are refused, not expanded.
#[tokio::test]
async fn fragments_that_explode_are_refused() {
    let shop = fixture();
    let chain: String = (0..40)
        .map(|at| format!("fragment F{at} on Query {{ ...F{0} ...F{0} }} ", at + 1))
        .collect();
    let answer = shop
        .ask(&format!("{{ ...F0 }} {chain} fragment F40 on Query {{ ping }}"))
        .await;
    assert_eq!(codes(&answer), ["MAX_COST_EXCEEDED"]);
    assert_eq!(shop.shop.calls(), 0);
}

/// G19: JSON nested deep enough to exhaust the stack is refused or skipped.
#[tokio::test]
async fn deep_json_is_refused() {
    let shop = fixture();
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}0{}", open.repeat(100_000), close.repeat(100_000));
        for (parameter, status) in [
            ("variables", 400),
            ("query", 400),
            ("extensions", 200),
            ("unknown", 200),
        ] {
            let value = match parameter {
                "query" => deep.clone(),
                _ => format!("{{\"a\":{deep}}}"),
            };
            let rest = if parameter == "query" {
                ""
            } else {
                ",\"query\":\"{ ping }\""
            };
            let response = shop
                .send(post_body(format!("{{\"{parameter}\":{value}{rest}}}")))
                .await;
            assert_eq!(response.status(), status, "{parameter} of {open}");
        }
    }
}
