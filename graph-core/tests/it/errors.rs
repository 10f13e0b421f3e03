//! Errors: the client's view and the incident log.

use graph_core::http::GraphRequest;
use graph_core::limits::{Limits, Measured};
use graph_core::ports::IncidentKind;
use graph_core::{Engine, ErrorCode, GraphError, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, FieldError, FieldResult, RootNode};
use serde_json::json;

use crate::fixture::{
    Fixture, accepting, builder, codes, fixture, full_log, get, json as envelope, post_body,
    with_panicking_logs,
};

/// G4: an error has a message, its location, the path of its field and a code; other data is kept.
#[tokio::test]
async fn an_error_names_its_field_beside_the_data() {
    let shop = fixture();
    let answer = shop.ask("{\n  ping\n  gone: item(id: 0) { id }\n}").await;
    assert_eq!(
        answer,
        json!({
            "data": { "ping": "pong", "gone": null },
            "errors": [{
                "message": "no such item",
                "locations": [{ "line": 3, "column": 3 }],
                "path": ["gone"],
                "extensions": { "code": "NOT_FOUND", "id": 0 },
            }],
        })
    );
}

/// G6: every code has its own wire name.
#[test]
fn the_codes_are_those_of_the_list() {
    let list = "GRAPHQL_PARSE_FAILED GRAPHQL_VALIDATION_FAILED BAD_USER_INPUT BAD_REQUEST OPERATION_RESOLUTION_FAILURE \
        PERSISTED_QUERY_NOT_FOUND PERSISTED_QUERY_NOT_SUPPORTED PERSISTED_QUERY_MISMATCH PERSISTED_QUERY_NOT_IN_LIST \
        PERSISTED_QUERY_ID_REQUIRED INTROSPECTION_DISABLED MAX_DEPTH_EXCEEDED MAX_COST_EXCEEDED MAX_VALUES_EXCEEDED \
        MAX_RESPONSE_SIZE_EXCEEDED MAX_ALIASES_EXCEEDED UNAUTHENTICATED FORBIDDEN NOT_FOUND CONFLICT RATE_LIMITED TIMEOUT INTERNAL_SERVER_ERROR";
    let ours: Vec<_> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(ours, list.split_whitespace().collect::<Vec<_>>());
}

/// G6: an error of the host is masked; the log has the cause under the same correlation id.
#[tokio::test]
async fn an_error_of_the_host_is_masked_and_logged() {
    let shop = fixture();
    for query in ["{ item(id: 8) { id } }", "{ item(id: 1) { weight } }"] {
        let answer = shop.ask(query).await;
        assert_eq!(codes(&answer), ["INTERNAL_SERVER_ERROR"]);
        assert_eq!(answer["errors"][0]["message"], "internal server error");
        assert!(
            !answer.to_string().contains("shop-db-3") && !answer.to_string().contains("10.0.0.7"),
            "{answer}"
        );
        let incident = shop.incidents.lock().unwrap().pop().unwrap();
        assert_eq!(
            answer["errors"][0]["extensions"]["correlationId"],
            incident.correlation_id
        );
        assert_eq!(incident.correlation_id.len(), 32);
        assert_eq!(incident.kind, IncidentKind::Error);
        assert!(incident.detail.contains("disk of shop-db-3") || incident.detail.contains("the scale at"));
        assert_eq!(
            serde_json::to_value(&incident.path).unwrap(),
            answer["errors"][0]["path"]
        );
    }
}

/// G6: the failures of one operation share a correlation id; the host's request id is used if set.
#[tokio::test]
async fn one_operation_has_one_correlation_id() {
    let shop = fixture();
    let query = "{ a: item(id: 8) { id } b: item(id: 8) { id } }";
    let answer = shop.ask(query).await;
    let id =
        |at: usize, answer: &serde_json::Value| answer["errors"][at]["extensions"]["correlationId"].clone();
    assert_eq!(id(0, &answer), id(1, &answer));
    assert_ne!(id(0, &answer), id(0, &shop.ask(query).await));
    let answer = shop
        .ask_in(query, shop.anonymous().with_correlation_id("req-1"))
        .await;
    assert_eq!(id(0, &answer), "req-1");
}

/// G6: the code of a `GraphError` survives `?` in a resolver that returns juniper's result.
#[tokio::test]
async fn a_code_survives_the_result_of_juniper() {
    let answer = fixture().ask("{ conflicting }").await;
    assert_eq!(codes(&answer), ["CONFLICT"]);
    assert_eq!(answer["errors"][0]["message"], "already shipped");
}

struct Leaky;

#[graph_object(context = RequestContext<()>)]
impl Leaky {
    fn internal() -> Result<Option<i32>, GraphError> {
        Err(GraphError::internal("row 7 is torn").with_extension("row", "secret"))
    }

    fn coded() -> Result<Option<i32>, GraphError> {
        Err(GraphError::new(ErrorCode::InternalServerError, "secret"))
    }

    fn foreign() -> FieldResult<Option<i32>> {
        let shown = juniper::graphql_value!({ "code": "FORBIDDEN", "row": "secret" });
        Err(FieldError::new("secret", shown))
    }

    fn renamed() -> Result<Option<i32>, GraphError> {
        Err(GraphError::not_found("no such charge").with_extension("code", "FORBIDDEN"))
    }
}

/// G6: extensions and juniper-style codes do not unmask an error, and cannot replace its code.
#[tokio::test]
async fn extensions_do_not_lift_the_mask() {
    let schema = RootNode::new(Leaky, EmptyMutation::new(), EmptySubscription::new());
    let engine = Engine::builder(schema).build().unwrap();
    for (query, code) in [
        ("{ internal }", "INTERNAL_SERVER_ERROR"),
        ("{ coded }", "INTERNAL_SERVER_ERROR"),
        ("{ foreign }", "INTERNAL_SERVER_ERROR"),
        ("{ renamed }", "NOT_FOUND"),
    ] {
        let answer = engine
            .execute(&GraphRequest::new(query), &RequestContext::new(()))
            .await;
        let written = String::from_utf8(answer.to_json().to_vec()).unwrap();
        assert_eq!(codes(&json!(answer)), [code], "{query}");
        assert_eq!(written.matches(r#""code":"#).count(), 1, "{written}");
        assert!(
            !written.contains("secret") && !written.contains("torn"),
            "{written}"
        );
    }
}

/// G19, G27: a panic of a resolver is an error of its field; the engine continues.
#[tokio::test]
async fn a_panicking_resolver_is_contained() {
    let shop = fixture();
    let answer = shop.ask("{ ping item(id: 7) { id } }").await;
    assert_eq!(answer["data"], json!({ "ping": "pong", "item": null }));
    assert_eq!(codes(&answer), ["INTERNAL_SERVER_ERROR"]);
    assert!(!answer.to_string().contains("fell down"));
    let incident = shop.incidents.lock().unwrap().pop().unwrap();
    assert_eq!(
        (incident.kind, incident.detail.as_str()),
        (IncidentKind::Panic, "item 7 fell down")
    );
    assert_eq!(shop.ask("{ ping }").await, json!({ "data": { "ping": "pong" } }));
}

/// G19: a host log that panics before execution is an error of that operation.
#[tokio::test]
async fn a_panicking_log_is_contained() {
    let pings = json!([{ "query": "{ ping }" }, { "query": "{ ping }" }]);
    for engine in with_panicking_logs() {
        let shop = Fixture::new(engine.with_batches());
        let alone = shop.ask("{ ping }").await;
        let batch = envelope(&shop.send(post_body(pings.to_string())).await);
        assert_eq!(batch.as_array().map(Vec::len), Some(2));
        for answer in [&alone, &batch[0], &batch[1]] {
            assert_eq!(codes(answer), ["INTERNAL_SERVER_ERROR"]);
            assert!(answer["data"].is_null() && !answer.to_string().contains("the log is full"));
        }
        let events = shop.send(accepting(get("{ ping }"), "text/event-stream")).await;
        let events = String::from_utf8(events.body().to_vec()).unwrap();
        assert!(events.contains("INTERNAL_SERVER_ERROR"), "{events}");
        for incident in &*shop.incidents.lock().unwrap() {
            assert_eq!(
                (incident.kind, incident.detail.as_str()),
                (IncidentKind::Panic, "the log is full")
            );
        }
        assert_eq!(shop.incidents.lock().unwrap().len(), 4);
    }
}

/// G19: a log that panics on a batch gives every operation a response and runs none.
#[tokio::test]
async fn a_log_that_panics_at_a_batch_is_contained() {
    let engine = builder()
        .with_batches()
        .with_limits(Limits::default().with_root_fields(1));
    let shop = Fixture::new(engine.with_limit_log(|measured: &Measured<'_>| {
        if !measured.exceeded.is_empty() {
            full_log();
        }
    }));
    let add = "mutation { add(id: 1) { id } }";
    let batch = json!([{ "query": add }, { "query": "{ nothing }" }, { "query": add }]);
    let answers = envelope(&shop.send(post_body(batch.to_string())).await);
    let told: Vec<_> = answers.as_array().unwrap().iter().map(codes).collect();
    let failed = "INTERNAL_SERVER_ERROR";
    assert_eq!(told, [[failed], ["GRAPHQL_VALIDATION_FAILED"], [failed]]);
    assert_eq!(shop.shop.calls(), 0);
    assert_eq!(shop.incidents.lock().unwrap().len(), 1);
}

/// G3, G6: an error before execution has its own code and no `data`; no resolver runs.
#[tokio::test]
async fn nothing_runs_of_what_does_not_fit() {
    let shop = fixture();
    for (query, code) in [
        ("{ ping", "GRAPHQL_PARSE_FAILED"),
        ("", "GRAPHQL_PARSE_FAILED"),
        ("{ ping nothing }", "GRAPHQL_VALIDATION_FAILED"),
        ("{ ping item { id } }", "GRAPHQL_VALIDATION_FAILED"),
        ("{ ping item(id: \"x\") { id } }", "GRAPHQL_VALIDATION_FAILED"),
        (
            "{ ping ...F } fragment F on Query { ping ...F }",
            "GRAPHQL_VALIDATION_FAILED",
        ),
        (
            "query ($id: Int!) { ping item(id: $id) { id } }",
            "BAD_USER_INPUT",
        ),
        (
            "query A { ping } query B { ping }",
            "OPERATION_RESOLUTION_FAILURE",
        ),
        ("fragment F on Query { ping }", "GRAPHQL_VALIDATION_FAILED"),
    ] {
        let answer = shop.ask(query).await;
        assert_eq!(codes(&answer)[0], code, "{query}: {answer}");
        assert!(answer.get("data").is_none(), "{query}");
    }
    let answer = shop
        .ask_with(
            "query ($id: Int!) { ping item(id: $id) { id } }",
            json!({ "id": "four" }),
        )
        .await;
    assert_eq!(codes(&answer), ["BAD_USER_INPUT"]);
    assert_eq!(shop.shop.calls(), 0);
}

/// G3, G18: a document with too many tokens is refused while it is parsed.
#[tokio::test]
async fn a_document_of_too_many_tokens_is_not_parsed() {
    let limits = Limits::default().with_tokens(10);
    let shop = Fixture::new(builder().with_limits(limits));
    assert_eq!(
        codes(&shop.ask("{ ping a: ping b: ping c: ping }").await),
        ["GRAPHQL_PARSE_FAILED"]
    );
    assert_eq!(shop.shop.calls(), 0);
}

/// G19: the response to a document with many mistakes is bounded.
#[tokio::test]
async fn a_hundred_mistakes_are_enough() {
    let shop = fixture();
    let unknown: String = (0..2_000).map(|at| format!("a{at} ")).collect();
    let answer = shop.ask(&format!("{{ {unknown} }}")).await;
    let codes = codes(&answer);
    assert_eq!(codes.len(), 100);
    assert!(codes.iter().all(|code| *code == "GRAPHQL_VALIDATION_FAILED"));
    assert_eq!(
        answer["errors"][0]["message"],
        "Cannot query field \"a0\" on type \"Query\"."
    );
}
