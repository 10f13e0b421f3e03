//! The list of customers.

use super::{link, signed_in, submit};
use crate::browser::{text, where_to};
use crate::desk::{ALL_SCOPES, bearer, call};

/// X9: a customer is created once by a form and leads to its charges.
#[tokio::test]
async fn customer_is_created_once_by_form() {
    let (_, mut browser) = signed_in().await;
    let page = text(&browser.get("/console/customers").await);
    assert!(page.contains("No customers"), "{page}");
    let refused = submit(&mut browser, &page, "/console/customers", &[("name", " ")]).await;
    assert_eq!(refused.status(), 422);
    let page = text(&refused);
    assert!(
        page.contains("id=\"name-error\"") && page.contains("role=\"alert\""),
        "{page}"
    );
    for _ in 0..2 {
        let fields = [("name", "A <small> shop")];
        let made = submit(&mut browser, &page, "/console/customers", &fields).await;
        assert_eq!(where_to(&made), "/console/customers?notice=created");
    }
    let page = text(&browser.get("/console/customers?notice=created").await);
    assert_eq!(page.matches("A &#60;small&#62; shop").count(), 1, "{page}");
    let charges = text(&browser.get(&link(&page, "A &#60;small")).await);
    assert!(charges.contains("None matches this filter"), "{charges}");
}

/// X9: customers have pages by cursor.
#[tokio::test]
async fn customers_have_pages() {
    let (app, mut browser) = signed_in().await;
    let token = bearer(&app, ALL_SCOPES).await;
    for number in 1..=12 {
        let body = format!(r#"{{"name":"Shop {number}."}}"#);
        call(&app, &token, ("POST", "/v1/customers"), &[], &body).await;
    }
    let first = text(&browser.get("/console/customers?limit=10").await);
    assert!(
        first.contains("Shop 12.") && !first.contains("Shop 2."),
        "{first}"
    );
    let older = link(&first, "rel=\"next\"");
    let second = text(&browser.get(&format!("{older}&limit=10")).await);
    assert!(
        second.contains("Shop 2.") && second.contains("rel=\"prev\""),
        "{second}"
    );
    assert_eq!(
        browser.get("/console/customers?after=nonsense").await.status(),
        400
    );
}
