//! A service in memory, asked without a socket.

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::BodyExt;
use serde_json::Value;
use service::app::{App, Config};
use store_sqlite::Database;

pub(crate) const BASE: &str = "http://127.0.0.1:8080";

/// A fresh service with the demo's user and clients.
pub(crate) async fn open() -> App {
    App::open(Config::new(BASE, Database::open_in_memory().unwrap()))
        .await
        .unwrap()
}

/// A whole answer.
pub(crate) async fn ask(app: &App, request: Request<Bytes>) -> Response<Bytes> {
    let (parts, body) = app.handle(request).await.into_parts();
    Response::from_parts(parts, body.collect().await.unwrap().to_bytes())
}

pub(crate) fn request(
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Bytes>,
) -> Request<Bytes> {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(body.into()).unwrap()
}

pub(crate) fn json(response: &Response<Bytes>) -> Value {
    serde_json::from_slice(response.body()).unwrap_or_else(|_| panic!("{response:?}"))
}

pub(crate) fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).map_or("", |value| value.to_str().unwrap())
}

/// `demo-service:demo-service-secret`, as HTTP Basic.
pub(crate) const SERVICE: &str = "Basic ZGVtby1zZXJ2aWNlOmRlbW8tc2VydmljZS1zZWNyZXQ=";
pub(crate) const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

/// The `Authorization` of a token with these scopes.
pub(crate) async fn bearer(app: &App, scope: &str) -> String {
    let body = format!("grant_type=client_credentials&scope={}", scope.replace(' ', "+"));
    let response = ask(
        app,
        request("POST", "/token", &[FORM, ("authorization", SERVICE)], body),
    )
    .await;
    format!(
        "Bearer {}",
        json(&response)
            .get("access_token")
            .and_then(Value::as_str)
            .unwrap()
    )
}
