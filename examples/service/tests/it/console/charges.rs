//! Pages of charges and their refunds.

use super::{link, signed_in, submit};
use crate::browser::{text, where_to};
use crate::desk::{ALL_SCOPES, bearer, call, charge};

/// X9: a charge is made and refunded by forms; each takes effect once, even if it is sent twice.
#[tokio::test]
async fn charge_is_made_and_refunded_once_by_forms() {
    let (app, mut browser) = signed_in().await;
    let token = bearer(&app, ALL_SCOPES).await;
    // an event is kept only if an endpoint receives it
    let endpoint = r#"{"url":"https://shop.example.com/hook"}"#;
    call(&app, &token, ("POST", "/v1/webhook-endpoints"), &[], endpoint).await;
    let page = text(&browser.get("/console/charges").await);
    let fields = [
        ("amount", "49.00"),
        ("currency", "EUR"),
        ("description", "Annual plan"),
    ];
    let made = submit(&mut browser, &page, "/console/charges", &fields).await;
    let again = submit(&mut browser, &page, "/console/charges", &fields).await;
    let path = where_to(&made).to_owned();
    assert!(path.starts_with("/console/charges/ch_"), "{made:?}");
    assert_eq!(where_to(&again), path);
    assert_eq!(crate::desk::charges(&app, &token).await, 1);

    let page = text(&browser.get(&path).await);
    assert!(
        page.contains("€49.00") && page.contains("Event charge.created recorded"),
        "{page}"
    );
    let refunds = format!("{path}/refunds");
    let refunded = submit(&mut browser, &page, &refunds, &[("amount", "12.00")]).await;
    assert_eq!(where_to(&refunded), format!("{path}?notice=refund"));
    let page = text(&browser.get(&path).await);
    assert!(page.contains("Refund of €12.00 requested"), "{page}");
}

/// X9: a refused form comes back with its field marked and what was typed.
#[tokio::test]
async fn refused_form_comes_back_with_its_field_marked() {
    let (_, mut browser) = signed_in().await;
    let page = text(&browser.get("/console/charges").await);
    let fields = [
        ("amount", "0.00"),
        ("currency", "EUR"),
        ("description", "A <book>"),
    ];
    let refused = submit(&mut browser, &page, "/console/charges", &fields).await;
    assert_eq!(refused.status(), 422);
    let page = text(&refused);
    assert!(
        page.contains("role=\"alert\"") && page.contains("id=\"amount-error\""),
        "{page}"
    );
    assert!(page.contains("value=\"A &#60;book&#62;\""), "{page}");
    // the page carries a new key, so the corrected form is another request
    let fields = [("amount", "49.00"), ("currency", "EUR")];
    let made = submit(&mut browser, &page, "/console/charges", &fields).await;
    let path = where_to(&made).to_owned();
    let page = text(&browser.get(&path).await);
    let refunds = format!("{path}/refunds");
    let refused = submit(&mut browser, &page, &refunds, &[("amount", "99.00")]).await;
    assert_eq!(refused.status(), 409);
    let page = text(&refused);
    assert!(
        page.contains("id=\"r-error\"") && page.contains("value=\"99.00\""),
        "{page}"
    );
    assert!(page.contains("/problems/refund-exceeds-charge"), "{page}");
}

/// X9: lists have pages by cursor, and filters that can be bookmarked.
#[tokio::test]
async fn charges_have_pages_and_filters() {
    let (app, mut browser) = signed_in().await;
    let token = bearer(&app, ALL_SCOPES).await;
    for amount in 1..=25 {
        charge(&app, &token, amount * 100).await;
    }
    let first = text(&browser.get("/console/charges?limit=10").await);
    assert!(first.contains("€25.00") && !first.contains("€10.00"));
    let older = link(&first, "rel=\"next\"");
    let second = text(&browser.get(&format!("{older}&limit=10")).await);
    assert!(
        second.contains("€15.00") && second.contains("rel=\"prev\""),
        "{second}"
    );
    let none = text(&browser.get("/console/charges?status=refunded").await);
    assert!(none.contains("No charges"));
    let invalid = text(&browser.get("/console/charges?customer=someone").await);
    assert!(invalid.contains("id=\"f-error\""));
    assert_eq!(browser.get("/console/charges?after=nonsense").await.status(), 400);
}
