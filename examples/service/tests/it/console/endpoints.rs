//! Pages of endpoints.

use std::time::Duration;

use bytes::Bytes;
use host_store_sqlite::Database;
use http::Response;
use webhook_core::sender::{
    Attempt, AttemptResult, Disposition, FailureReason, LeaseRequest, Outbox, Settlement,
};

use super::{link, signed_in, submit};
use crate::browser::{Browser, text, where_to};
use crate::desk::{ALL_SCOPES, bearer, charge, open_over};

/// Registers an endpoint; returns the page with its secret.
async fn register(browser: &mut Browser, page: &str) -> Response<Bytes> {
    let fields = [
        ("url", "https://shop.example.com/hook"),
        ("events", "charge.created"),
    ];
    submit(browser, page, "/console/endpoints", &fields).await
}

/// X9: an endpoint is registered by a form; its secret is shown once.
#[tokio::test]
async fn endpoint_is_registered_and_its_secret_shown_once() {
    let (_, mut browser) = signed_in().await;
    let page = text(&browser.get("/console/endpoints").await);
    let fields = [("url", "http://10.0.0.1/")];
    let refused = submit(&mut browser, &page, "/console/endpoints", &fields).await;
    assert_eq!(refused.status(), 422);
    let page = text(&refused);
    assert!(
        page.contains("aria-invalid=\"true\"") && page.contains("http://10.0.0.1/"),
        "{page}"
    );
    let shown = text(&register(&mut browser, &page).await);
    assert!(shown.contains("whsec_"), "{shown}");
    // a second press cannot show it again
    let again = text(&register(&mut browser, &page).await);
    assert!(!again.contains("whsec_"), "{again}");
}

/// X9: an endpoint is tested, rotated, paused, changed and deleted by forms.
#[tokio::test]
async fn endpoint_is_managed_by_forms() {
    let (_, mut browser) = signed_in().await;
    let page = text(&browser.get("/console/endpoints").await);
    let shown = text(&register(&mut browser, &page).await);
    let path = shown.split("class=\"button\" href=\"").nth(1).unwrap();
    let path = path.split('"').next().unwrap().to_owned();
    let page = text(&browser.get(&path).await);
    assert!(page.contains("Enabled") && !page.contains("whsec_"), "{page}");
    let tested = submit(&mut browser, &page, &format!("{path}/test"), &[]).await;
    let delivery = text(&browser.get(where_to(&tested)).await);
    assert!(
        delivery.contains("endpoint.test to shop.example.com"),
        "{delivery}"
    );
    let rotated = submit(&mut browser, &page, &format!("{path}/rotate"), &[]).await;
    assert!(text(&rotated).contains("has a new secret"), "{rotated:?}");
    let paused = submit(
        &mut browser,
        &page,
        &format!("{path}/state"),
        &[("state", "paused")],
    )
    .await;
    assert_eq!(where_to(&paused), format!("{path}?notice=paused"));
    let page = text(&browser.get(&path).await);
    assert!(
        page.contains("Resume deliveries") && page.contains("Previous"),
        "{page}"
    );
    let moved = [
        ("url", "https://shop.example.com/other"),
        ("events", "charge.refunded"),
    ];
    let saved = submit(&mut browser, &page, &format!("{path}/settings"), &moved).await;
    assert_eq!(where_to(&saved), format!("{path}?notice=saved"));
    let deleted = submit(&mut browser, &page, &format!("{path}/delete"), &[]).await;
    assert_eq!(where_to(&deleted), "/console/endpoints");
    assert_eq!(browser.get(&path).await.status(), 404);
}

/// X9: the page of an endpoint counts its failures in words that fit the number.
#[tokio::test]
async fn endpoint_counts_its_failures_in_a_row() {
    let database = Database::open_in_memory().unwrap();
    let app = open_over(database.clone()).await;
    let mut browser = Browser::new(&app);
    browser.sign_in().await;
    let page = text(&browser.get("/console/endpoints").await);
    let shown = text(&register(&mut browser, &page).await);
    let path = shown.split("class=\"button\" href=\"").nth(1).unwrap();
    let path = path.split('"').next().unwrap().to_owned();
    let token = bearer(&app, ALL_SCOPES).await;
    for expected in [": 1 failure in a row.", ": 2 failures in a row."] {
        charge(&app, &token, 4_900).await;
        let now = std::time::SystemTime::now();
        let leased = database.lease(&LeaseRequest::new(now, 1)).await.unwrap().leased;
        let delivery = &leased.first().unwrap().delivery;
        let failed = Settlement {
            delivery: delivery.id.clone(),
            fence: delivery.fence,
            owner: delivery.owner,
            disposition: Disposition::Failed(FailureReason::AttemptsExhausted),
            spent: true,
            hold_endpoint_until: None,
            rate: None,
            attempt: Some(Attempt {
                delivery: delivery.id.clone(),
                fence: delivery.fence,
                started_at: now,
                duration: Duration::from_millis(3),
                result: AttemptResult::Answered {
                    status: http::StatusCode::BAD_GATEWAY,
                    body: Bytes::new(),
                },
            }),
        };
        database.settle(vec![failed]).await.unwrap();
        let page = text(&browser.get(&path).await);
        assert!(page.contains(expected), "{expected}: {page}");
    }
    let deliveries = text(&browser.get("/console/deliveries?state=dead_letter").await);
    let delivery = text(&browser.get(&link(&deliveries, "charge.created")).await);
    assert!(delivery.contains("1 attempt."), "{delivery}");
}
