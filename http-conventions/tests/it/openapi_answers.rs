//! The OpenAPI document against the responses of the pipeline.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use http_conventions::caching::not_modified;
use http_conventions::openapi::Takes;
use serde_json::{Value, json};

use crate::pipeline_fixture::{Desk, QUOTA, request};

/// H13, H22: every refusal of the pipeline, before or after `admit`, matches a response of the
/// operation: status, type, members of that type, and required fields.
#[tokio::test]
async fn pipeline_responses_are_in_the_document() {
    const KEY: (&str, &str) = ("idempotency-key", "8e03978e-40d5-43dd-bc93-6894a57f9324");
    let desk = Desk::new();
    let document = document(&desk);
    let (long, wide) = (format!("/v1/charges?{}", "x".repeat(9000)), "w".repeat(40_000));
    let mut statuses = Vec::new();
    let send = async |request: Request<Bytes>| {
        let answer = desk.send(&request).await;
        assert_documented(&document, request.method().as_str(), &answer);
        answer.status().as_u16()
    };
    for asked in [
        request("GET", &long, &[]),
        request("GET", "/v1/charges", &[("x-wide", &wide)]),
        request("POST", "/v1/charges", &[("content-length", "1048577")]),
        request("GET", "/v9/charges", &[]),
        request("GET", "/v1/charges", &[("authorization", "")]),
        request("GET", "/v1/charges", &[("authorization", "Bearer weak")]),
        request("GET", "/v1/nothing", &[]),
        request("DELETE", "/v1/charges", &[]),
        request("GET", "/v1/charges", &[("if-none-match", "\"1\"")]),
        request("GET", "/v1/charges", &[("if-match", "\"0\"")]),
        request("PATCH", "/v1/charges", &[]),
        request("POST", "/v1/charges", &[("idempotency-key", "a,b")]),
    ] {
        statuses.push(send(asked).await);
    }
    desk.send(&request("POST", "/v1/charges", &[KEY])).await;
    statuses.push(send(request("POST", "/v1/charges?other", &[KEY])).await);
    for _ in 0..QUOTA {
        desk.send(&request("GET", "/v1/charges", &[])).await;
    }
    statuses.push(send(request("GET", "/v1/charges", &[])).await);
    desk.clock.advance(Duration::from_secs(86_400));
    statuses.push(send(request("GET", "/v1/charges", &[])).await);
    assert_eq!(
        statuses,
        [
            414, 431, 413, 404, 401, 403, 404, 405, 304, 412, 428, 400, 409, 429, 410
        ]
    );
}

/// H13, H22: refusals by the server are in the document of each operation too.
#[test]
fn refusals_by_the_server_are_in_the_document() {
    let desk = Desk::new();
    let document = document(&desk);
    for method in ["GET", "PATCH", "POST"] {
        let head = request(method, "/v1/charges", &[]);
        for status in [400, 408, 413, 500, 503] {
            let refused = desk
                .conventions
                .refuse(&head, StatusCode::from_u16(status).unwrap());
            let answer = refused.into_response();
            assert_eq!(answer.status(), status);
            assert_documented(&document, method, &answer);
        }
    }
}

/// H7, H22: a 304 for a state without an entity tag is in the document too.
#[test]
fn a_304_without_a_tag_is_in_the_document() {
    let desk = Desk::new();
    let mut headers = HeaderMap::new();
    headers.insert(
        "last-modified",
        HeaderValue::from_static("Sat, 21 Nov 2026 00:00:00 GMT"),
    );
    let head = request("GET", "/v1/charges", &[]);
    let exchange = desk.conventions.begin(&head).admit(&head).unwrap();
    let answer = exchange.finish(Ok(not_modified(headers)));
    assert_eq!(answer.status(), 304);
    assert!(answer.headers().contains_key("last-modified"));
    assert_documented(&document(&desk), "GET", &answer);
}

/// Document of the test service, with one operation per method.
fn document(desk: &Desk) -> Value {
    let operation = |takes: &[Takes]| {
        desk.conventions
            .openapi_operation(&[takes, &[Takes::Credentials]].concat())
    };
    json!({
        "components": desk.conventions.openapi_components(),
        "GET": operation(&[Takes::ReadPreconditions]),
        "PATCH": operation(&[Takes::Content, Takes::WritePreconditions, Takes::IdempotencyKey]),
        "POST": operation(&[Takes::Content, Takes::IdempotencyKey]),
    })
}

fn assert_documented(document: &Value, method: &str, answer: &Response<Bytes>) {
    let reason = match answer.status().as_u16() {
        413 => "Content Too Large".to_owned(),
        _ => answer.status().canonical_reason().unwrap().to_owned(),
    };
    let name: String = reason.chars().filter(char::is_ascii_alphanumeric).collect();
    let response = at(document, &format!("/components/responses/{name}"));
    // an unsupported method is not an operation
    if answer.status() != StatusCode::METHOD_NOT_ALLOWED {
        let of_operation = at(
            document,
            &format!("/{method}/responses/{}", answer.status().as_u16()),
        );
        assert_eq!(referred(document, of_operation), response, "{method}");
    }
    for (field, header) in at(response, "/headers").as_object().unwrap() {
        let header = header.get("$ref").map_or(header, |_| referred(document, header));
        let is_required = *at(header, "/required") == true;
        assert!(
            !is_required || answer.headers().contains_key(field),
            "{name} without {field}"
        );
    }
    let Some(content) = response.pointer("/content/application~1problem+json/schema") else {
        assert!(answer.body().is_empty());
        return;
    };
    let problem: Value = serde_json::from_slice(answer.body()).unwrap();
    assert_eq!(at(content, "/properties/status/const"), at(&problem, "/status"));
    let kinds = at(content, "/oneOf").as_array().unwrap().iter();
    let of_type: Vec<&Value> = kinds
        .map(|kind| referred(document, kind))
        .filter(|kind| at(kind, "/properties/type/const") == at(&problem, "/type"))
        .collect();
    assert_eq!(of_type.len(), 1, "{problem}");
    let kind = of_type.first().copied().unwrap();
    for schema in [at(document, "/components/schemas/Problem"), kind] {
        let required = schema.get("required").and_then(Value::as_array);
        for member in required.into_iter().flatten() {
            at(&problem, &format!("/{}", member.as_str().unwrap()));
        }
    }
    for (member, schema) in at(kind, "/properties").as_object().unwrap() {
        if let Some(expected) = schema.get("const") {
            assert_eq!(problem.get(member), Some(expected), "{problem}");
        }
    }
}

fn at<'v>(value: &'v Value, pointer: &str) -> &'v Value {
    let found = value.pointer(pointer);
    assert!(found.is_some(), "no {pointer} in {value}");
    found.unwrap()
}

fn referred<'v>(document: &'v Value, reference: &Value) -> &'v Value {
    let pointer = at(reference, "/$ref").as_str().unwrap();
    at(document, pointer.trim_start_matches('#'))
}
