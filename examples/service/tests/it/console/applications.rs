//! The page of applications.

use super::{hidden, signed_in, submit};
use crate::browser::{text, where_to};
use crate::sign_in::begin;

/// X9: a person ends what an application may do.
#[tokio::test]
async fn application_is_disconnected_by_form() {
    let (_, mut browser) = signed_in().await;
    let begun = begin(&mut browser, "").await;
    browser
        .get(&format!("/consent?interaction={}", begun.interaction))
        .await;
    let fields = [("interaction", begun.interaction.as_str()), ("decision", "allow")];
    browser.post("/consent", &fields).await;
    let page = text(&browser.get("/console/applications").await);
    assert!(page.contains("Disconnect "), "{page}");
    let client = hidden(&page, "/console/applications/disconnect", "client");
    let done = submit(
        &mut browser,
        &page,
        "/console/applications/disconnect",
        &[("client", &client)],
    )
    .await;
    assert_eq!(where_to(&done), "/console/applications?notice=disconnected");
    let page = text(&browser.get("/console/applications?notice=disconnected").await);
    assert!(page.contains("No application is connected"), "{page}");
}
