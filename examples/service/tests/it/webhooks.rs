//! Webhook endpoints and deliveries: allowed addresses and lists.

use std::collections::BTreeSet;
use std::sync::Arc;

use host_store_sqlite::{Database, DatabaseError};
use serde_json::{Value, json};
use service::app::{App, Config};
use webhook_core::sender::{EndpointQuery, EndpointStore};

use crate::desk::{ALL_SCOPES, BASE, bearer, call, charge, json, open, open_over};

const ENDPOINTS: (&str, &str) = ("POST", "/v1/webhook-endpoints");

/// W10: a service delivers to loopback only if its configuration allows it. Its own address does
/// not matter: behind `--listen 0.0.0.0` it is a loopback address too.
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

/// H10: deliveries are paged, and a cursor is bound to its filter and list.
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

/// The secret is shown once, in the response to the registration.
#[tokio::test]
async fn webhook_secret_is_shown_once() {
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

/// H6: the secret is stored only with the endpoint: a retry with the same idempotency key neither
/// shows it nor registers a second endpoint.
#[tokio::test]
async fn webhook_secret_is_not_kept_under_idempotency_key() {
    let database = Database::open_in_memory().unwrap();
    let app = open_over(database.clone()).await;
    let token = bearer(&app, ALL_SCOPES).await;
    let key = [("idempotency-key", "endpoint-1")];
    let body = r#"{"url":"https://hooks.example.com/"}"#;
    let registered = call(&app, &token, ENDPOINTS, &key, body).await;
    assert_eq!(registered.status(), 201);
    let secret = json(&registered);
    let secret = secret.get("secret").and_then(Value::as_str).unwrap().to_owned();
    assert_eq!(tables_with(&database, secret).await, ["webhook_endpoint"]);

    let again = call(&app, &token, ENDPOINTS, &key, body).await;
    assert_eq!(again.status(), 409);
    let problem = json(&again);
    let kind = problem.get("type").and_then(Value::as_str).unwrap();
    assert!(
        kind.ends_with("/problems/idempotency-result-not-replayable"),
        "{kind}"
    );
    assert_eq!(problem.get("original_status"), Some(&Value::from(201)));
    assert!(!String::from_utf8_lossy(again.body()).contains("whsec_"));

    let counted = database.read(|connection| -> Result<i64, DatabaseError> {
        Ok(connection.query_one("SELECT COUNT(*) FROM webhook_endpoint", [], |row| row.get(0))?)
    });
    assert_eq!(counted.await.unwrap(), 1);
}

/// H23: an endpoint and its secrets change in the transaction that completes the idempotency key.
/// If that fails, nothing has changed, and a retry runs. After the commit, a retry neither runs nor
/// shows the secret.
#[tokio::test]
async fn webhook_secrets_change_with_their_key() {
    let database = Database::open_in_memory().unwrap();
    let app = open_over(database.clone()).await;
    let token = bearer(&app, ALL_SCOPES).await;
    let key = [("idempotency-key", "secret-1")];
    let body = r#"{"url":"https://hooks.example.com/"}"#;
    let secrets = async || {
        let all = EndpointQuery {
            owner: None,
            after: None,
            limit: 10,
        };
        let ids = database.list_endpoints(&all).await.unwrap();
        let endpoints = database.load_many(&ids).await.unwrap();
        let secrets = endpoints.iter().map(|endpoint| endpoint.signers.iter().count());
        secrets.collect::<Vec<_>>()
    };
    let mut path = "/v1/webhook-endpoints".to_owned();
    for (body, before, after, status) in [(body, vec![], vec![1], 201), ("", vec![1], vec![2], 200)] {
        let post = ("POST", path.as_str());
        execute(
            &database,
            "CREATE TRIGGER refuse BEFORE UPDATE ON idempotency_record BEGIN SELECT RAISE(ABORT, 'refused'); END",
        )
        .await;
        let failed = call(&app, &token, post, &key, body).await;
        assert_eq!(failed.status(), 503, "{path}");
        assert_eq!(secrets().await, before, "{path}");

        execute(&database, "DROP TRIGGER refuse").await;
        let done = call(&app, &token, post, &key, body).await;
        assert_eq!(done.status(), status, "{path}");
        assert_eq!(secrets().await, after, "{path}");
        let again = call(&app, &token, post, &key, body).await;
        let kind = json(&again);
        let kind = kind.get("type").and_then(Value::as_str).unwrap();
        assert!(
            kind.ends_with("/idempotency-result-not-replayable"),
            "{path}: {kind}"
        );
        assert_eq!(secrets().await, after, "{path}");
        if let Some(location) = done.headers().get("location") {
            path = format!("{}/rotations", location.to_str().unwrap());
        }
    }
}

async fn execute(database: &Database, statement: &'static str) {
    let executed = database
        .write(move |transaction| -> Result<_, DatabaseError> { Ok(transaction.execute_batch(statement)?) });
    executed.await.unwrap();
}

/// Tables with this text in any column of any row.
async fn tables_with(database: &Database, text: String) -> Vec<String> {
    let found = database.read(move |connection| -> Result<Vec<String>, DatabaseError> {
        let columns =
            "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table'";
        let mut columns = connection.prepare(columns)?;
        let columns: Vec<(String, String)> = columns
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        let mut tables = BTreeSet::new();
        for (table, column) in columns {
            let sql =
                format!("SELECT COUNT(*) FROM {table} WHERE instr(CAST({column} AS BLOB), CAST(?1 AS BLOB))");
            let rows: i64 = connection.query_one(&sql, [&text], |row| row.get(0))?;
            if rows > 0 {
                tables.insert(table);
            }
        }
        Ok(tables.into_iter().collect())
    });
    found.await.unwrap()
}

/// W24, W25: an endpoint is registered with its settings, listed, changed by a merge patch, and
/// deleted; no response shows the value of a static header.
#[tokio::test]
async fn endpoint_is_managed_over_the_api() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let body = r#"{"url":"https://hooks.example.com/","events":["charge.*"],"rate":5.0,"content":"cloudevents_binary",
        "headers":[{"name":"authorization","value":"Bearer 8c1f"}],"classification":"patient"}"#;
    let registered = call(&app, &token, ENDPOINTS, &[], body).await;
    assert_eq!(registered.status(), 201, "{registered:?}");
    let path = registered.headers().get("location").unwrap().to_str().unwrap();
    let read = json(&call(&app, &token, ("GET", path), &[], "").await);
    for (member, expected) in [
        ("audience", json!("shop")),
        ("events", json!(["charge.*"])),
        ("rate", json!(5)),
        ("content", json!("cloudevents_binary")),
        ("headers", json!([{ "name": "authorization" }])),
        ("classification", json!("patient")),
        ("health", json!(null)),
    ] {
        assert_eq!(read.get(member), Some(&expected), "{member}");
    }
    let list = call(&app, &token, ("GET", "/v1/webhook-endpoints"), &[], "").await;
    assert_eq!(json(&list).pointer("/data/0/id"), read.get("id"));
    assert!(!String::from_utf8_lossy(list.body()).contains("8c1f"));

    let patch = r#"{"state":"paused","rate":null,"headers":null,"events":["charge.created"]}"#;
    let merge = [("content-type", "application/merge-patch+json")];
    let changed = call(&app, &token, ("PATCH", path), &merge, patch).await;
    assert_eq!(changed.status(), 200, "{changed:?}");
    let changed = json(&changed);
    for (member, expected) in [
        ("state", json!("paused")),
        ("rate", json!(null)),
        ("headers", json!([])),
        ("events", json!(["charge.created"])),
        ("content", json!("cloudevents_binary")),
    ] {
        assert_eq!(changed.get(member), Some(&expected), "{member}");
    }

    let deleted = call(&app, &token, ("DELETE", path), &[], "").await;
    assert_eq!((deleted.status().as_u16(), deleted.body().len()), (204, 0));
    for method in ["GET", "DELETE"] {
        assert_eq!(call(&app, &token, (method, path), &[], "").await.status(), 404);
    }
    assert_eq!(
        call(&app, &token, ("PATCH", path), &merge, "{}").await.status(),
        404
    );
}

/// W24, W25: invalid settings are refused with a pointer, and change nothing.
#[tokio::test]
async fn invalid_settings_are_refused() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let body = r#"{"url":"https://hooks.example.com/"}"#;
    let registered = call(&app, &token, ENDPOINTS, &[], body).await;
    let path = registered.headers().get("location").unwrap().to_str().unwrap();
    let before = json(&call(&app, &token, ("GET", path), &[], "").await);
    let merge = [("content-type", "application/merge-patch+json")];
    for (patch, status) in [
        (r#"{"events":["*.created"]}"#, 422),
        (r#"{"state":"off"}"#, 422),
        (r#"{"content":"xml"}"#, 422),
        (r#"{"classification":"kind"}"#, 422),
        (r#"{"headers":[{"name":"webhook-id","value":"x"}]}"#, 422),
        (r#"{"headers":[{"name":"x","value":"a\r\nb"}]}"#, 422),
        (r#"{"url":"https://10.0.0.1/"}"#, 422),
        (r#"{"url":null}"#, 422),
        (r#"{"state":null}"#, 422),
        (r#"{"rate":0}"#, 422),
        (r#"{"rate":-1}"#, 422),
        (r#"{"rate":4294967296}"#, 422),
        (r#"{"rate":1.5}"#, 422),
        (r#"{"headers":{"x":"1"}}"#, 422),
        ("[]", 422),
        ("{", 400),
    ] {
        let refused = call(&app, &token, ("PATCH", path), &merge, patch).await;
        assert_eq!(refused.status(), status, "{patch}");
    }
    let json_instead = call(&app, &token, ("PATCH", path), &[], "{}").await;
    assert_eq!(json_instead.status(), 415, "a patch names its format");
    assert_eq!(json(&call(&app, &token, ("GET", path), &[], "").await), before);
}

/// W24: a rotation shows the new secret once, also to a retry with the same idempotency key; the
/// operator's endpoint gets an event about it, and the shop's does not.
#[tokio::test]
async fn rotation_shows_a_new_secret_and_is_announced() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let shops = call(
        &app,
        &token,
        ENDPOINTS,
        &[],
        r#"{"url":"https://hooks.example.com/"}"#,
    )
    .await;
    let operators = r#"{"url":"https://ops.example.com/","audience":"operator"}"#;
    let operators = json(&call(&app, &token, ENDPOINTS, &[], operators).await);
    let path = shops.headers().get("location").unwrap().to_str().unwrap();
    let first = json(&shops);
    let rotated = call(&app, &token, ("POST", &format!("{path}/rotations")), &[], "").await;
    assert_eq!(rotated.status(), 200, "{rotated:?}");
    let secret = json(&rotated).get("secret").cloned().unwrap();
    assert_ne!(Some(&secret), first.get("secret"));
    let deliveries = json(&call(&app, &token, ("GET", "/v1/webhook-deliveries"), &[], "").await);
    let rows = deliveries.get("data").and_then(Value::as_array).unwrap();
    let to: Vec<_> = rows.iter().map(|row| row.get("endpoint")).collect();
    assert_eq!(to, [operators.get("id")]);
}

/// W24: a test event goes to one endpoint, whatever its event types.
#[tokio::test]
async fn test_event_is_queued_for_one_endpoint() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let quiet = r#"{"url":"https://hooks.example.com/","events":[]}"#;
    let registered = call(&app, &token, ENDPOINTS, &[], quiet).await;
    call(
        &app,
        &token,
        ENDPOINTS,
        &[],
        r#"{"url":"https://other.example.com/"}"#,
    )
    .await;
    let path = registered.headers().get("location").unwrap().to_str().unwrap();
    let sent = call(&app, &token, ("POST", &format!("{path}/test-events")), &[], "").await;
    assert_eq!(sent.status(), 202, "{sent:?}");
    let location = sent.headers().get("location").unwrap().to_str().unwrap();
    let delivery = json(&call(&app, &token, ("GET", location), &[], "").await);
    assert_eq!(delivery.get("endpoint"), json(&registered).get("id"));
    let deliveries = json(&call(&app, &token, ("GET", "/v1/webhook-deliveries"), &[], "").await);
    assert_eq!(
        deliveries.get("data").and_then(Value::as_array).map(Vec::len),
        Some(1)
    );
    let unknown = "/v1/webhook-endpoints/ep_00000000000000000000000000000000/test-events";
    assert_eq!(call(&app, &token, ("POST", unknown), &[], "").await.status(), 404);
}
