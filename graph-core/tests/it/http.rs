//! Requests, media types and statuses.

use base64::Engine as _;
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use serde_json::{Value, json};
use sha2::Digest as _;

use crate::fixture::{Fixture, accepting, builder, codes, fixture, get, json as envelope, post, post_body};

const GRAPHQL_RESPONSE: &str = "application/graphql-response+json";

fn content_type(response: &Response<Bytes>) -> &str {
    response.headers()["content-type"].to_str().unwrap()
}

/// Request with `body`, `content_type` and the extra header `preflight`.
fn raw(content_type: Option<&str>, preflight: Option<&str>, body: &'static str) -> Request<Bytes> {
    let mut request = Request::post("/graphql");
    if let Some(content_type) = content_type {
        request = request.header("content-type", content_type);
    }
    if let Some(preflight) = preflight {
        request = request.header(preflight, "1");
    }
    request.body(Bytes::from_static(body.as_bytes())).unwrap()
}

/// G1: a query is served by GET, with the variables as JSON in the query string.
#[tokio::test]
async fn a_query_is_served_by_get() {
    let shop = fixture();
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair(
            "query",
            "query A { ping } query B($id: Int!) { item(id: $id) { id } }",
        )
        .append_pair("operationName", "B")
        .append_pair("variables", r#"{"id":4}"#)
        .append_pair("extensions", "{}")
        .finish();
    let request = Request::get(format!("/graphql?{query}"))
        .body(Bytes::new())
        .unwrap();
    let response = shop.send(request).await;
    assert_eq!(response.status(), 200);
    assert_eq!(envelope(&response), json!({ "data": { "item": { "id": 4 } } }));
}

/// G1, G20: a mutation by GET is 405 with `Allow: POST`, also as events, and does not run.
#[tokio::test]
async fn a_mutation_by_get_is_refused() {
    let shop = fixture();
    for accept in ["application/json", GRAPHQL_RESPONSE, "text/event-stream"] {
        let response = shop
            .send(accepting(get("mutation { add(id: 1) { id } }"), accept))
            .await;
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(response.headers()["allow"], "POST");
        assert_eq!(codes(&envelope(&response)), ["BAD_REQUEST"]);
    }
    assert_eq!(shop.shop.calls(), 0);
}

/// G1: another method is 405.
#[tokio::test]
async fn only_get_and_post_are_served() {
    let request = Request::put("/graphql").body(Bytes::new()).unwrap();
    let response = fixture().send(request).await;
    assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(response.headers()["allow"], "GET, POST");
}

/// G5: as `application/json` any well-formed request is 200; as `application/graphql-response+json`
/// a request error is 400.
#[tokio::test]
async fn the_status_depends_on_the_media_type() {
    let shop = fixture();
    for (query, strict) in [
        ("{ ping }", 200),
        ("{ ping item(id: 0) { id } }", 200),
        ("{ broken }", 200),
        ("{ ping", 400),
        ("{ nothing }", 400),
        ("query ($id: Int!) { item(id: $id) { id } }", 400),
        ("subscription { added { id } }", 400),
    ] {
        for accept in ["application/json", "*/*", "application/json;q=0.9, text/plain"] {
            let response = shop.send(accepting(post(query, Value::Null), accept)).await;
            assert_eq!(response.status(), 200, "{query}");
            assert_eq!(content_type(&response), "application/json; charset=utf-8");
        }
        let response = shop
            .send(accepting(post(query, Value::Null), GRAPHQL_RESPONSE))
            .await;
        assert_eq!(response.status(), strict, "{query}");
        assert_eq!(
            content_type(&response),
            "application/graphql-response+json; charset=utf-8"
        );
        assert_eq!(
            envelope(&response).get("data").is_none(),
            strict == 400,
            "{query}"
        );
    }
    let response = shop.send(post("{ ping }", Value::Null)).await;
    assert_eq!(content_type(&response), "application/json; charset=utf-8");
    assert_eq!(response.headers()["cache-control"], "private, no-store");
}

/// G19: an invalid request body is 400 in every media type.
#[tokio::test]
async fn a_body_that_is_no_request_is_a_bad_request() {
    let shop = fixture();
    for body in [
        "",
        "{",
        "null",
        "7",
        "[]",
        r#"[{"query":"{ ping }"}]"#,
        "{}",
        r#"{"query":null}"#,
        r#"{"query":7}"#,
        r#"{"query":{}}"#,
        r#"{"query":"{ ping }","operationName":{}}"#,
        r#"{"query":"{ ping }","variables":"x"}"#,
        r#"{"query":"{ ping }","variables":[1]}"#,
        r#"{"query":"{ ping }","extensions":"x"}"#,
        r#"{"query":"{ ping }","query":"{ ping }"}"#,
        "{\"query\":\"\u{0}\"}",
        r#"{"query":"\ud800"}"#,
    ] {
        for accept in ["application/json", GRAPHQL_RESPONSE] {
            let response = shop.send(accepting(post_body(body), accept)).await;
            assert_eq!(response.status(), 400, "{body}");
            assert_eq!(codes(&envelope(&response)), ["BAD_REQUEST"]);
            assert!(content_type(&response).starts_with(accept));
        }
    }
    for query in [
        "",
        "variables=x&query=%7Bping%7D",
        "query=a&query=b",
        "query=%7Bping%7D&extensions=7",
    ] {
        let request = Request::get(format!("/graphql?{query}"))
            .body(Bytes::new())
            .unwrap();
        assert_eq!(shop.send(request).await.status(), 400, "{query}");
    }
    assert_eq!(shop.shop.calls(), 0);
}

/// G1, G19: null parameters count as absent, and unknown parameters are ignored.
#[tokio::test]
async fn null_and_unknown_parameters_are_ignored() {
    let body = r#"{"query":"{ ping }","operationName":null,"variables":null,"extensions":null,"id":"x"}"#;
    let response = fixture().send(post_body(body)).await;
    assert_eq!(envelope(&response), json!({ "data": { "ping": "pong" } }));
}

/// G19: only JSON in UTF-8 is accepted.
#[tokio::test]
async fn another_content_type_is_unsupported() {
    let shop = fixture();
    const BODY: &str = r#"{"query":"{ ping }"}"#;
    for (content_type, status) in [
        ("application/json", 200),
        ("application/json; charset=utf-8", 200),
        ("Application/JSON;charset=\"UTF-8\"", 200),
        ("application/json; charset=utf-16", 415),
        ("application/graphql", 415),
        ("application/xml", 415),
        ("image/png", 415),
    ] {
        let response = shop.send(raw(Some(content_type), None, BODY)).await;
        assert_eq!(response.status(), status, "{content_type}");
    }
}

/// G19: a body with a content coding is 415 with `Accept-Encoding`.
#[tokio::test]
async fn a_coded_body_is_unsupported() {
    let shop = fixture();
    for (coding, status) in [
        ("gzip", 415),
        ("identity, br", 415),
        ("\u{e9}", 415),
        ("Identity", 200),
    ] {
        let mut request = raw(Some("application/json"), None, r#"{"query":"{ ping }"}"#);
        let coding = http::HeaderValue::from_bytes(coding.as_bytes()).unwrap();
        request.headers_mut().insert("content-encoding", coding);
        let response = shop.send(request).await;
        assert_eq!(response.status(), status);
        let accepted = response.headers().get("accept-encoding");
        assert_eq!(
            accepted.is_some_and(|accepted| accepted == "identity"),
            status == 415
        );
    }
}

/// G20: a content type that needs no preflight is 400, and 415 with the preflight header.
#[tokio::test]
async fn a_simple_request_needs_a_preflight_header() {
    let shop = fixture();
    const BODY: &str = r#"{"query":"mutation { add(id: 1) { id } }"}"#;
    let simple = [
        None,
        Some("text/plain"),
        Some("text/plain;charset=utf-8"),
        Some("TEXT/PLAIN; application/json"),
        Some("application/x-www-form-urlencoded"),
        Some("multipart/form-data; boundary=x"),
    ];
    for content_type in simple {
        let response = shop.send(raw(content_type, None, BODY)).await;
        assert_eq!(response.status(), 400, "{content_type:?}");
        for header in ["GraphQL-Require-Preflight", "Apollo-Require-Preflight"] {
            let response = shop.send(raw(content_type, Some(header), BODY)).await;
            assert_eq!(response.status(), 415, "{content_type:?}");
        }
    }
    let mut twice = raw(Some("application/json"), None, BODY);
    twice
        .headers_mut()
        .append("content-type", http::HeaderValue::from_static("text/plain"));
    assert_eq!(shop.send(twice).await.status(), 400);
    assert_eq!(shop.shop.calls(), 0);
}

/// G19: an `Accept` header without a supported type is 406.
#[tokio::test]
async fn an_accept_without_our_types_is_not_acceptable() {
    let shop = fixture();
    for accept in [
        "image/png",
        "text/html",
        "application/json;q=0",
        "text/plain, application/xml",
    ] {
        let response = shop.send(accepting(post("{ ping }", Value::Null), accept)).await;
        assert_eq!(response.status(), 406, "{accept}");
        assert_eq!(codes(&envelope(&response)), ["BAD_REQUEST"]);
    }
    assert_eq!(shop.shop.calls(), 0);
}

/// G19: a body above the limit is 413; a body of exactly the limit is accepted.
#[tokio::test]
async fn a_body_above_the_limit_is_too_large() {
    let body = r#"{"query":"{ ping }"}"#;
    for (limit, status) in [(body.len(), 200), (body.len() - 1, 413)] {
        let shop = Fixture::new(builder().with_body_limit(limit));
        assert_eq!(shop.send(post_body(body)).await.status(), status);
    }
    let mebibyte = " ".repeat(1 << 20);
    assert_eq!(fixture().send(post_body(mebibyte + body)).await.status(), 413);
}

/// G1: a browser gets the explorer page, which loads no external resources.
#[tokio::test]
async fn a_browser_gets_the_explorer() {
    let shop = fixture();
    let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    let request = || accepting(Request::get("/graphql").body(Bytes::new()).unwrap(), browser);
    let response = shop.send(request()).await;
    assert_eq!(response.status(), 200);
    assert_eq!(content_type(&response), "text/html; charset=utf-8");
    let policy = response.headers()["content-security-policy"].to_str().unwrap();
    let page = std::str::from_utf8(response.body()).unwrap();
    for (directive, tag) in [("script-src", "script"), ("style-src", "style")] {
        let (_, rest) = page.split_once(&format!("<{tag}>")).unwrap();
        let (text, _) = rest.split_once(&format!("</{tag}>")).unwrap();
        let hash = base64::engine::general_purpose::STANDARD.encode(sha2::Sha256::digest(text));
        assert!(
            policy.contains(&format!("{directive} 'sha256-{hash}';")),
            "{policy}"
        );
    }
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    assert!(page.contains("<textarea"));
    assert!(
        !page.contains("http://") && !page.contains("https://"),
        "the page loads from elsewhere"
    );
    assert_eq!(page.matches("<script>").count(), 1);
    assert_eq!(page.matches("<style>").count(), 1);

    let without = Fixture::new(builder().without_explorer());
    assert_eq!(without.send(request()).await.status(), 400);
}
