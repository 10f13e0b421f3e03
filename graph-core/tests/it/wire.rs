//! Requests and responses as clients see them.

use bytes::Bytes;
use http::{Request, Response};
use serde_json::Value;

pub(crate) fn post(query: &str, variables: impl Into<Value>) -> Request<Bytes> {
    let body = serde_json::json!({ "query": query, "variables": variables.into() });
    post_body(body.to_string())
}

pub(crate) fn post_body(body: impl Into<Bytes>) -> Request<Bytes> {
    let request = Request::post("/graphql").header("content-type", "application/json");
    request.body(body.into()).unwrap()
}

pub(crate) fn get(query: &str) -> Request<Bytes> {
    let query: String = form_urlencoded::Serializer::new(String::new())
        .append_pair("query", query)
        .finish();
    Request::get(format!("/graphql?{query}"))
        .body(Bytes::new())
        .unwrap()
}

pub(crate) fn accepting(mut request: Request<Bytes>, accept: &'static str) -> Request<Bytes> {
    request
        .headers_mut()
        .insert("accept", http::HeaderValue::from_static(accept));
    request
}

pub(crate) fn json(response: &Response<Bytes>) -> Value {
    serde_json::from_slice(response.body()).unwrap()
}

/// Codes of `errors`.
pub(crate) fn codes(envelope: &Value) -> Vec<&str> {
    let errors = envelope["errors"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    errors
        .iter()
        .map(|error| error["extensions"]["code"].as_str().unwrap())
        .collect()
}
