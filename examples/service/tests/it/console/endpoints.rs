//! Pages of endpoints.

use bytes::Bytes;
use http::Response;

use super::{signed_in, submit};
use crate::browser::{Browser, text, where_to};

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
