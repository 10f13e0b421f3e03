//! The layer that runs existing handlers once for each `Idempotency-Key`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use axum::body::Body;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::{Json, Router, routing::post};
use bytes::Bytes;
use host_adapter_axum::{ConventionsLayer, IdempotencyLayer};
use http::Response;
use http_conventions::pipeline::Conventions;
use http_conventions::ports::SystemClock;
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc};
use tower_service::Service;

use super::assert_complete;
use super::fixture::{BASE, Running, conventions, request, whole};

/// A service whose handlers know nothing of keys, and how often they ran.
struct Shop {
    router: Router,
    runs: Arc<AtomicU32>,
    gate: Arc<Notify>,
    has_entered: mpsc::Receiver<()>,
}

impl Shop {
    fn new() -> Self {
        Self::with(Some(conventions(&Running::new().clock)))
    }

    fn with(conventions: Option<Conventions>) -> Self {
        let (runs, gate) = (Arc::new(AtomicU32::new(0)), Arc::new(Notify::new()));
        let (entered, has_entered) = mpsc::channel(1);
        let once = IdempotencyLayer::new(|parts| {
            let user = parts.headers.get("x-user")?.to_str().ok()?;
            Some(user.to_owned())
        });
        let (counter, opened) = (Arc::clone(&runs), Arc::clone(&gate));
        let pay = async move |Json(amount): Json<u32>| {
            let run = counter.fetch_add(1, SeqCst) + 1;
            match amount {
                13 => panic!("the handler has a bug"),
                14 => {
                    entered.send(()).await.unwrap();
                    opened.notified().await;
                }
                _ => {}
            }
            (StatusCode::CREATED, Json(json!({ "run": run, "amount": amount })))
        };
        let counter = Arc::clone(&runs);
        let refund = async move |Path(charge): Path<u32>| {
            let run = counter.fetch_add(1, SeqCst) + 1;
            format!("{run} of {charge}")
        };
        let counter = Arc::clone(&runs);
        let list = async move || counter.fetch_add(1, SeqCst).to_string();
        let routes = Router::new()
            .route("/charges", post(pay).get(list).layer(once.clone()))
            .route("/charges/{charge}/refunds", post(refund).layer(once));
        let router = Router::new().nest("/v1", routes);
        let router = match conventions {
            Some(conventions) => router.layer(ConventionsLayer::new(conventions)),
            None => router,
        };
        Self {
            router,
            runs,
            gate,
            has_entered,
        }
    }

    async fn post(&self, user: &str, path: &str, key: &str, body: &'static str) -> Response<Bytes> {
        let json = ("content-type", "application/json");
        let fields = [("x-user", user), ("idempotency-key", key), json];
        let asked = request("POST", path, &fields, body);
        whole(self.router.clone().call(asked).await.unwrap()).await
    }

    fn runs(&self) -> u32 {
        self.runs.load(SeqCst)
    }
}

fn json_of(answer: &Response<Bytes>) -> Value {
    serde_json::from_slice(answer.body()).unwrap()
}

/// H6: a repeat gets the bytes of the first response; another body, caller or key does not.
#[tokio::test]
async fn layer_runs_handler_once_for_each_key() {
    let shop = Shop::new();
    let first = shop.post("ada", "/v1/charges", "a", "5").await;
    assert_eq!(first.status(), 201);
    assert_eq!(json_of(&first), json!({ "run": 1, "amount": 5 }));
    let again = shop.post("ada", "/v1/charges", "a", "5").await;
    assert_eq!((again.status(), again.body()), (first.status(), first.body()));
    assert_eq!(again.headers()["idempotency-replayed"], "true");
    assert_eq!(again.headers()["content-type"], "application/json");
    let other = shop.post("ada", "/v1/charges", "a", "6").await;
    assert_eq!(other.status(), 409);
    assert_complete(&other, "/v1/charges");
    assert_eq!(shop.runs(), 1);
    for (user, key) in [("bob", "a"), ("ada", "b")] {
        assert_eq!(shop.post(user, "/v1/charges", key, "5").await.status(), 201);
    }
    assert_eq!(shop.runs(), 3);
}

/// H6: the parameters of the path reach the handler, and the key names one operation of the route.
#[tokio::test]
async fn layer_scopes_key_to_route_template() {
    let shop = Shop::new();
    let first = shop.post("ada", "/v1/charges/7/refunds", "a", "").await;
    assert_eq!(first.body(), "1 of 7");
    assert_eq!(shop.post("ada", "/v1/charges", "a", "5").await.status(), 201);
    let other = shop.post("ada", "/v1/charges/8/refunds", "a", "").await;
    assert_eq!((other.status().as_u16(), shop.runs()), (409, 2));
}

/// H6: while the first request runs, a repeat gets 409.
#[tokio::test]
async fn layer_refuses_concurrent_request() {
    let mut shop = Shop::new();
    let mut router = shop.router.clone();
    let fields = [
        ("x-user", "ada"),
        ("idempotency-key", "a"),
        ("content-type", "application/json"),
    ];
    let first = tokio::spawn(router.call(request("POST", "/v1/charges", &fields, "14")));
    shop.has_entered.recv().await.unwrap();
    let second = shop.post("ada", "/v1/charges", "a", "14").await;
    assert_eq!(second.status(), 409);
    assert!(second.headers().contains_key("retry-after"));
    assert_complete(&second, "/v1/charges");
    shop.gate.notify_one();
    assert_eq!(first.await.unwrap().unwrap().status(), 201);
    let third = shop.post("ada", "/v1/charges", "a", "14").await;
    assert_eq!((third.status().as_u16(), shop.runs()), (201, 1));
}

/// H5, H6: a rejection of `Json` is a stored problem, and a panic is 500 and keeps its key.
#[tokio::test]
async fn layer_stores_rejection_and_holds_key_of_panic() {
    let shop = Shop::new();
    let first = shop.post("ada", "/v1/charges", "a", "5 x").await;
    assert_eq!(first.status(), 400);
    assert_complete(&first, "/v1/charges");
    let again = shop.post("ada", "/v1/charges", "a", "5 x").await;
    assert_eq!((again.status(), again.body()), (first.status(), first.body()));
    for status in [500, 409] {
        let broken = shop.post("ada", "/v1/charges", "b", "13").await;
        assert_eq!(broken.status(), status);
        assert_complete(&broken, "/v1/charges");
    }
    assert_eq!(shop.runs(), 1);
}

/// H6: a `GET` of the same route passes each time.
#[tokio::test]
async fn layer_passes_safe_method() {
    let shop = Shop::new();
    let fields = [("x-user", "ada"), ("idempotency-key", "a")];
    for run in ["0", "1"] {
        let asked = request("GET", "/v1/charges", &fields, Body::empty());
        let answer = whole(shop.router.clone().call(asked).await.unwrap()).await;
        assert_eq!(answer.body(), run);
    }
}

/// H6: without conventions, without their idempotency or without a principal nothing runs.
#[tokio::test]
async fn misconfigured_layer_runs_no_handler() {
    let entropy = http_conventions::ports::OsEntropy;
    let without_keys = Conventions::builder(BASE, SystemClock, entropy).build().unwrap();
    let shops = [Shop::with(None), Shop::with(Some(without_keys)), Shop::new()];
    for (shop, user) in shops.iter().zip(["ada", "ada", "\u{e9}"]) {
        let refused = shop.post(user, "/v1/charges", "a", "5").await;
        assert_eq!((refused.status().as_u16(), shop.runs()), (500, 0));
    }
}
