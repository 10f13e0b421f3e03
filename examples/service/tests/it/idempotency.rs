//! Idempotency keys: a retried POST takes effect once.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use futures_util::future::join_all;
use host_store_sqlite::{Database, DatabaseError};
use http::StatusCode;

use crate::desk::{ALL_SCOPES, bearer, call, charge, charges, header, json, open, open_over, request};

const CHARGE: &str = r#"{"amount":1999,"currency":"eur"}"#;
const KEY: &[(&str, &str)] = &[("idempotency-key", "order-1")];

/// H6: of many parallel identical requests one runs; the others get its response or 409.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_identical_posts_make_one_charge() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let all = join_all((0..16).map(|_| {
        let (app, token) = (app.clone(), token.clone());
        tokio::spawn(async move { call(&app, &token, ("POST", "/v1/charges"), KEY, CHARGE).await })
    }));
    let responses: Vec<_> = all.await.into_iter().map(Result::unwrap).collect();
    let mut ran = 0;
    for response in &responses {
        match response.status() {
            StatusCode::CREATED => {
                ran += usize::from(header(response.headers(), "idempotency-replayed").is_empty());
            }
            StatusCode::CONFLICT => {
                assert!(!header(response.headers(), "retry-after").is_empty());
                let kind = json(response).get("type").unwrap().to_string();
                assert!(kind.ends_with("idempotency-in-flight\""), "{kind}");
            }
            other => panic!("{other}"),
        }
    }
    assert_eq!((ran, charges(&app, &token).await), (1, 1));
}

/// H6: every POST that changes state stores its first response under the key.
#[tokio::test]
async fn every_retried_post_runs_once() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let refunds = format!("{}/refunds", charge(&app, &token, 500).await);
    for (path, body) in [
        ("/v1/charges", CHARGE),
        ("/v1/customers", r#"{"name":"Grace"}"#),
        (refunds.as_str(), r#"{"amount":100}"#),
    ] {
        let first = call(&app, &token, ("POST", path), KEY, body).await;
        assert!(first.status().is_success(), "{path}: {first:?}");
        let again = call(&app, &token, ("POST", path), KEY, body).await;
        assert_eq!(
            (again.status(), again.body()),
            (first.status(), first.body()),
            "{path}"
        );
        assert_eq!(header(again.headers(), "idempotency-replayed"), "true", "{path}");
        for name in ["location", "content-type", "cache-control"] {
            assert_eq!(
                again.headers().get(name),
                first.headers().get(name),
                "{path} {name}"
            );
        }
    }
    let listed = call(&app, &token, ("GET", &refunds), &[], "").await;
    assert_eq!(json(&listed).get("data").unwrap().as_array().unwrap().len(), 1);
}

/// H6: a key is bound to one path, so a refund of another charge is another request.
#[tokio::test]
async fn key_of_one_charge_is_not_valid_for_another() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let (one, other) = (charge(&app, &token, 500).await, charge(&app, &token, 500).await);
    let first = call(&app, &token, ("POST", &format!("{one}/refunds")), KEY, "{}").await;
    assert_eq!(first.status(), 202);
    let second = call(&app, &token, ("POST", &format!("{other}/refunds")), KEY, "{}").await;
    assert_eq!(second.status(), 409, "{second:?}");
}

/// H13: a refusal of a key is a problem with request id and path.
#[tokio::test]
async fn a_refused_key_is_answered_like_every_problem() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    call(&app, &token, ("POST", "/v1/charges"), KEY, CHARGE).await;
    let other = r#"{"amount":1,"currency":"eur"}"#;
    for (key, status) in [("order-1", 409), ("order,1", 400)] {
        let key = [("idempotency-key", key)];
        let refused = call(&app, &token, ("POST", "/v1/charges"), &key, other).await;
        assert_eq!(refused.status(), status, "{refused:?}");
        let problem = json(&refused);
        assert_eq!(problem.get("instance").unwrap(), "/v1/charges");
        assert_eq!(
            problem.get("request_id").unwrap(),
            header(refused.headers(), "x-request-id")
        );
    }
}

/// H6: keys of two callers are independent.
#[tokio::test]
async fn callers_do_not_share_idempotency_keys() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let user = crate::sign_in::access_token(&app).await;
    for token in [&token, &user] {
        let response = call(&app, token, ("POST", "/v1/charges"), KEY, CHARGE).await;
        assert_eq!(
            (
                response.status(),
                header(response.headers(), "idempotency-replayed")
            ),
            (StatusCode::CREATED, "")
        );
    }
}

/// H23: rows, events and the response of a keyed POST take one commit that waits for the disk.
#[tokio::test]
async fn keyed_post_waits_for_one_commit() {
    let database = Database::open_in_memory().unwrap();
    let app = open_over(database.clone()).await;
    let token = bearer(&app, ALL_SCOPES).await;
    let refunds = format!("{}/refunds", charge(&app, &token, 500).await);
    for (path, body) in [
        ("/v1/charges", CHARGE),
        ("/v1/customers", r#"{"name":"Grace"}"#),
        (refunds.as_str(), r#"{"amount":100}"#),
        ("/v1/webhook-endpoints", r#"{"url":"https://hooks.example.com/"}"#),
    ] {
        let (all, durable) = (database.commits(), database.durable_commits());
        let made = call(&app, &token, ("POST", path), KEY, body).await;
        assert!(made.status().is_success(), "{path}: {made:?}");
        assert_eq!(database.durable_commits() - durable, 1, "{path}");
        assert!(
            database.commits() - all > 1,
            "{path}: the claim is a commit of its own"
        );
    }
}

/// H6: a request completes after its client disconnects, and the retry gets its response.
#[tokio::test]
async fn disconnected_client_finds_result_under_its_key() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let headers = [
        ("authorization", token.as_str()),
        ("content-type", "application/json"),
        ("idempotency-key", "order-1"),
    ];
    {
        let mut asked = pin!(app.handle(request("POST", "/v1/charges", &headers, CHARGE)));
        let polled = asked.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(
            matches!(polled, Poll::Pending),
            "answered before the client could disconnect"
        );
    }
    // otherwise the retry could be the first to claim the key
    while charges(&app, &token).await == 0 {
        tokio::task::yield_now().await;
    }
    let retry = loop {
        let retry = call(&app, &token, ("POST", "/v1/charges"), KEY, CHARGE).await;
        if retry.status() != StatusCode::CONFLICT {
            break retry;
        }
        let kind = json(&retry).get("type").unwrap().to_string();
        assert!(kind.ends_with("idempotency-in-flight\""), "{kind}");
        tokio::task::yield_now().await;
    };
    assert_eq!(
        (retry.status(), header(retry.headers(), "idempotency-replayed")),
        (StatusCode::CREATED, "true")
    );
    assert_eq!(charges(&app, &token).await, 1);
}

/// H6, H16: a 503 means that nothing happened, so it is not stored under the key.
#[tokio::test]
async fn store_failure_does_not_consume_the_key() {
    let database = Database::open_in_memory().unwrap();
    let app = open_over(database.clone()).await;
    let token = bearer(&app, ALL_SCOPES).await;
    rename(&database, "charge", "charge_away").await;
    let failed = call(&app, &token, ("POST", "/v1/charges"), KEY, CHARGE).await;
    assert_eq!(failed.status(), 503, "{failed:?}");
    assert!(!header(failed.headers(), "retry-after").is_empty());
    assert!(!String::from_utf8_lossy(failed.body()).contains("no such table"));
    rename(&database, "charge_away", "charge").await;
    let retry = call(&app, &token, ("POST", "/v1/charges"), KEY, CHARGE).await;
    assert_eq!(retry.status(), 201, "{retry:?}");
    assert_eq!(charges(&app, &token).await, 1);
}

/// H6: a refusal is stored under the key like a success.
#[tokio::test]
async fn a_refusal_is_kept_under_its_key() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let wrong = r#"{"amount":0,"currency":"eur"}"#;
    let first = call(&app, &token, ("POST", "/v1/charges"), KEY, wrong).await;
    let again = call(&app, &token, ("POST", "/v1/charges"), KEY, wrong).await;
    assert_eq!((first.status().as_u16(), again.status().as_u16()), (422, 422));
    assert_eq!(header(again.headers(), "idempotency-replayed"), "true");
    let mended = call(&app, &token, ("POST", "/v1/charges"), KEY, CHARGE).await;
    assert_eq!(mended.status(), 409);
}

/// Renames a table, to break the service or to repair it.
pub(crate) async fn rename(database: &Database, from: &str, to: &str) {
    let sql = format!("ALTER TABLE {from} RENAME TO {to}");
    let renamed = database
        .write(move |transaction| -> Result<(), DatabaseError> { Ok(transaction.execute_batch(&sql)?) });
    renamed.await.unwrap();
}
