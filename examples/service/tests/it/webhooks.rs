//! Webhook endpoints and deliveries: where they may go, and how they are listed.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;
use service::app::{App, Config};
use store_sqlite::Database;

use crate::desk::{ALL_SCOPES, BASE, bearer, call, charge, json, open};

const ENDPOINTS: (&str, &str) = ("POST", "/v1/webhook-endpoints");

/// W10: a service delivers to loopback only where it was told so; the address it is reached at does not matter, which behind
/// `--listen 0.0.0.0` is a loopback address too.
#[tokio::test]
async fn loopback_is_refused_unless_the_demo_allows_it() {
    for (allowed, status) in [(false, 422), (true, 201)] {
        let mut config = Config::new(BASE, Database::open_in_memory().unwrap());
        config.danger_deliver_to_loopback = allowed;
        let app = Arc::new(App::open(config).await.unwrap());
        let token = bearer(&app, ALL_SCOPES).await;
        let body = r#"{"url":"http://127.0.0.1:9000/"}"#;
        let response = call(&app, &token, ENDPOINTS, &[], body).await;
        assert_eq!(response.status(), status, "{response:?}");
        let private = call(&app, &token, ENDPOINTS, &[], r#"{"url":"http://10.0.0.1/"}"#).await;
        assert_eq!(private.status(), 422);
    }
}

/// H10: deliveries are paged like every list, and a cursor is bound to its filter and its list.
#[tokio::test]
async fn deliveries_are_listed_page_by_page() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let registered = call(
        &app,
        &token,
        ENDPOINTS,
        &[],
        r#"{"url":"https://hooks.example.com/"}"#,
    )
    .await;
    assert_eq!(registered.status(), 201);
    for amount in 1..=5 {
        charge(&app, &token, amount).await;
    }
    let (mut seen, mut sizes, mut path) = (BTreeSet::new(), Vec::new(), Some(String::new()));
    let mut cursor = String::new();
    while let Some(after) = path.take() {
        let page = format!("/v1/webhook-deliveries?limit=2{after}");
        let page = json(&call(&app, &token, ("GET", &page), &[], "").await);
        let rows = page.get("data").and_then(Value::as_array).unwrap();
        sizes.push(rows.len());
        seen.extend(rows.iter().map(|row| row.get("id").unwrap().to_string()));
        if let Some(next) = page.get("next_cursor").and_then(Value::as_str) {
            cursor = next.to_owned();
            path = Some(format!("&after={next}"));
        }
    }
    assert_eq!((sizes, seen.len()), (vec![2, 2, 1], 5));
    for path in [
        format!("/v1/webhook-deliveries?state=dead_letter&after={cursor}"),
        format!("/v1/charges?after={cursor}"),
    ] {
        let refused = call(&app, &token, ("GET", &path), &[], "").await;
        assert_eq!(refused.status(), 400, "{path}");
    }
}

/// The secret is told once, to whoever registers.
#[tokio::test]
async fn a_secret_is_not_told_again() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let registered = call(
        &app,
        &token,
        ENDPOINTS,
        &[],
        r#"{"url":"https://hooks.example.com/"}"#,
    )
    .await;
    let body = json(&registered);
    assert!(
        body.get("secret")
            .and_then(Value::as_str)
            .unwrap()
            .starts_with("whsec_")
    );
    let path = registered.headers().get("location").unwrap().to_str().unwrap();
    let read = call(&app, &token, ("GET", path), &[], "").await;
    assert_eq!(read.status(), 200);
    assert!(!String::from_utf8_lossy(read.body()).contains("whsec_"));
}
