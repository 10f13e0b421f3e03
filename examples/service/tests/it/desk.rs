//! A service in memory, called without a socket.

use std::sync::Arc;

use bytes::Bytes;
use host_store_sqlite::Database;
use http::{HeaderMap, Request, Response};
use http_body_util::BodyExt;
use serde_json::Value;
use service::app::{App, Config};
use service::clock::DemoClock;
use service::stores::Stores;

pub(crate) const BASE: &str = "http://127.0.0.1:8080";

/// A new service with the demo's user and clients.
pub(crate) async fn open() -> Arc<App> {
    open_over(Database::open_in_memory().unwrap()).await
}

/// A service over a database that the test also accesses.
pub(crate) async fn open_over(database: impl Into<Stores>) -> Arc<App> {
    Arc::new(App::open(Config::new(BASE, database)).await.unwrap())
}

/// A new service with its clock.
pub(crate) async fn open_at() -> (Arc<App>, DemoClock) {
    let mut config = Config::new(BASE, Database::open_in_memory().unwrap());
    let clock = DemoClock::new();
    config.clock = clock.clone();
    (Arc::new(App::open(config).await.unwrap()), clock)
}

/// Sends a request and reads the complete response.
pub(crate) async fn ask(app: &Arc<App>, request: Request<Bytes>) -> Response<Bytes> {
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

/// `Authorization` header of a token with these scopes.
pub(crate) async fn bearer(app: &Arc<App>, scope: &str) -> String {
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

/// Calls `/v1` with `token`, and with a JSON body if there is one.
pub(crate) async fn call(
    app: &Arc<App>,
    token: &str,
    (method, path): (&str, &str),
    headers: &[(&str, &str)],
    body: &str,
) -> Response<Bytes> {
    let mut all = vec![("authorization", token)];
    if headers.iter().all(|(name, _)| *name != "content-type") {
        all.push(("content-type", "application/json"));
    }
    all.extend_from_slice(headers);
    ask(app, request(method, path, &all, body.to_owned())).await
}

/// Number of charges.
pub(crate) async fn charges(app: &Arc<App>, token: &str) -> usize {
    let response = call(app, token, ("GET", "/v1/charges?limit=100"), &[], "").await;
    json(&response)
        .get("data")
        .and_then(Value::as_array)
        .unwrap()
        .len()
}

/// Creates a charge of this amount; returns its path.
pub(crate) async fn charge(app: &Arc<App>, token: &str, amount: u32) -> String {
    let body = format!(r#"{{"amount":{amount},"currency":"eur"}}"#);
    let response = call(app, token, ("POST", "/v1/charges"), &[], &body).await;
    assert_eq!(response.status(), 201, "{response:?}");
    header(response.headers(), "location").to_owned()
}

/// Every scope of `demo-service`.
pub(crate) const ALL_SCOPES: &str = "read:charges write:charges write:refunds";
