//! Refunds: queued at once, booked later, never above the charge.

use futures_util::future::join_all;
use host_store_sqlite::Database;
use serde_json::Value;
use service::app::App;
use service::logging::LogFormat;

use crate::desk::{ALL_SCOPES, bearer, call, charge, charges, header, json, open, open_over};
use crate::idempotency::rename;
use crate::log::capture;

/// Runs the background work until `done` completes.
pub(crate) async fn working<T>(app: &App, done: impl Future<Output = T>) -> T {
    tokio::select! {
        () = app.work() => panic!("the work ended"),
        done = done => done,
    }
}

/// X1: parallel refunds never exceed the charge, and each one reaches a final status.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn parallel_refunds_do_not_exceed_the_charge() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let path = charge(&app, &token, 500).await;
    let refunds = format!("{path}/refunds");
    let ask = join_all((0..12).map(|_| {
        let (app, token, refunds) = (app.clone(), token.clone(), refunds.clone());
        tokio::spawn(async move { call(&app, &token, ("POST", &refunds), &[], r#"{"amount":200}"#).await })
    }));
    for response in working(&app, ask).await {
        let status = response.unwrap().status().as_u16();
        assert!(matches!(status, 202 | 409), "{status}");
    }
    let settled = async {
        loop {
            let listed = json(&call(&app, &token, ("GET", &refunds), &[], "").await);
            let all = listed.get("data").and_then(Value::as_array).unwrap().clone();
            if all
                .iter()
                .all(|refund| refund.get("status").unwrap() != "pending")
            {
                return all;
            }
            tokio::task::yield_now().await;
        }
    };
    let all = working(&app, settled).await;
    let booked = all
        .iter()
        .filter(|refund| refund.get("status").unwrap() == "succeeded");
    assert_eq!(booked.count(), 2);
    let charge = json(&call(&app, &token, ("GET", &path), &[], "").await);
    assert_eq!(charge.get("amount_refunded").unwrap(), 400);
    assert_eq!(charge.get("version").unwrap(), 3);
}

/// X1: a refund that could not be booked stays queued and is booked when the store recovers. The
/// failure is logged.
#[tokio::test]
async fn a_refund_outlives_a_failure_of_the_store() {
    let database = Database::open_in_memory().unwrap();
    let (lines, _capturing) = capture(LogFormat::Json);
    let app = open_over(database.clone()).await;
    let token = bearer(&app, ALL_SCOPES).await;
    let path = charge(&app, &token, 500).await;
    let asked = call(&app, &token, ("POST", &format!("{path}/refunds")), &[], "{}").await;
    let location = header(asked.headers(), "location").to_owned();
    rename(&database, "charge", "charge_away").await;
    let booked = async {
        while !lines.text().contains("no such table: charge") {
            tokio::task::yield_now().await;
        }
        rename(&database, "charge_away", "charge").await;
        loop {
            let refund = json(&call(&app, &token, ("GET", &location), &[], "").await);
            if refund.get("status").unwrap() == "succeeded" {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    working(&app, booked).await;
}

/// X1: a charge and its event are one transaction: if the event cannot be stored, neither is the
/// charge.
#[tokio::test]
async fn charge_without_event_is_not_stored() {
    let database = Database::open_in_memory().unwrap();
    let app = open_over(database.clone()).await;
    let token = bearer(&app, ALL_SCOPES).await;
    rename(&database, "webhook_event", "webhook_event_away").await;
    let refused = call(
        &app,
        &token,
        ("POST", "/v1/charges"),
        &[],
        r#"{"amount":1,"currency":"eur"}"#,
    )
    .await;
    assert_eq!(refused.status(), 503);
    assert_eq!(charges(&app, &token).await, 0);
}
