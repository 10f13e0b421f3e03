//! The list of refunds.

use super::{link, signed_in};
use crate::browser::text;
use crate::desk::{ALL_SCOPES, bearer, call, charge, header};

/// X9: refunds have pages by cursor, and filters by status, charge and id.
#[tokio::test]
async fn refunds_have_pages_and_filters() {
    let (app, mut browser) = signed_in().await;
    let empty = text(&browser.get("/console/refunds").await);
    assert!(empty.contains("Choose a charge"), "{empty}");
    let token = bearer(&app, ALL_SCOPES).await;
    let mut paths = Vec::new();
    for amount in 1..=12 {
        let path = charge(&app, &token, 5_000).await;
        let body = format!(r#"{{"amount":{}}}"#, amount * 100);
        let refund = call(&app, &token, ("POST", &format!("{path}/refunds")), &[], &body).await;
        paths.push((path, header(refund.headers(), "location").to_owned()));
    }
    let first = text(&browser.get("/console/refunds?limit=10").await);
    assert!(first.contains("€12.00") && !first.contains("€2.00"), "{first}");
    let older = link(&first, "rel=\"next\"");
    let second = text(&browser.get(&format!("{older}&limit=10")).await);
    assert!(
        second.contains("€2.00") && second.contains("rel=\"prev\""),
        "{second}"
    );
    assert!(
        second.contains("Queued <span class=\"count\">12</span>"),
        "{second}"
    );
    let booked = text(&browser.get("/console/refunds?status=succeeded").await);
    assert!(booked.contains("No refunds"), "{booked}");
    let (path, refund) = paths.first().unwrap();
    for id in [path, refund].map(|path| path.rsplit('/').next().unwrap()) {
        let found = text(&browser.get(&format!("/console/refunds?about={id}")).await);
        assert_eq!(found.matches("class=\"open\"").count(), 1, "{found}");
        assert!(found.contains("€1.00"), "{found}");
    }
    let invalid = text(&browser.get("/console/refunds?about=someone").await);
    assert!(invalid.contains("id=\"f-error\""), "{invalid}");
    let of_charge = text(&browser.get(&path.replace("/v1/", "/console/")).await);
    assert!(
        of_charge.contains("href=\"/console/refunds?about="),
        "{of_charge}"
    );
    assert_eq!(browser.get("/console/refunds?after=nonsense").await.status(), 400);
}
