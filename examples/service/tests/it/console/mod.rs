//! X9: the console, without JavaScript: pages, forms and their refusals.

mod applications;
mod charges;
mod customers;
mod deliveries;
mod endpoints;
mod live;
mod refunds;
mod refusals;
mod replays;
mod requests;

use std::sync::Arc;

use bytes::Bytes;
use http::Response;
use service::app::App;

use crate::browser::{Browser, PASSWORD, text, where_to};
use crate::desk::{ALL_SCOPES, bearer, call, charge, header, open, open_at, open_over};
use crate::postgres::Schema;

/// A hidden field of the form with this action.
fn hidden(page: &str, action: &str, name: &str) -> String {
    let start = page
        .find(&format!("action=\"{action}\""))
        .unwrap_or_else(|| panic!("{action} in {page}"));
    let form = page.get(start..).unwrap();
    let field = form.split(&format!("name=\"{name}\" value=\"")).nth(1).unwrap();
    field.split('"').next().unwrap().to_owned()
}

/// Submits the form with this action on the page, with its hidden fields.
async fn submit(browser: &mut Browser, page: &str, action: &str, fields: &[(&str, &str)]) -> Response<Bytes> {
    let key = hidden(page, action, "idempotency_key");
    let mut all = vec![("idempotency_key", key.as_str())];
    all.extend_from_slice(fields);
    browser.post(action, &all).await
}

/// Target of the link that `mark` follows in the page.
fn link(page: &str, mark: &str) -> String {
    let before = page.split(mark).next().unwrap();
    let link = before.rsplit("href=\"").next().unwrap();
    link.split('"')
        .next()
        .unwrap()
        .replace("&#38;", "&")
        .replace("&amp;", "&")
}

async fn signed_in() -> (Arc<App>, Browser) {
    let app = open().await;
    let mut browser = Browser::new(&app);
    browser.sign_in().await;
    (app, browser)
}

const PAGES: [&str; 10] = [
    "/",
    "/console/charges",
    "/console/refunds",
    "/console/customers",
    "/console/deliveries",
    "/console/replays?run=dry",
    "/console/endpoints",
    "/console/requests",
    "/console/applications",
    "/problems",
];

/// X9: without a session the console shows no data, and the sign-in leads back to the page.
#[tokio::test]
async fn console_needs_a_session() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let path = charge(&app, &token, 4_900).await;
    let id = path.rsplit('/').next().unwrap();
    let mut browser = Browser::new(&app);
    let welcome = text(&browser.get("/").await);
    assert!(welcome.contains("/login?return_to=/") && !welcome.contains("49.00"));
    for page in [
        "/console/charges",
        &format!("/console/charges/{id}"),
        "/console/requests",
        "/console/find?id=x",
    ] {
        let response = browser.get(page).await;
        assert!(
            where_to(&response).starts_with("/login?return_to=%2Fconsole"),
            "{page}"
        );
        assert!(!text(&response).contains("49.00"));
    }
    let login = browser
        .get("/login?return_to=%2Fconsole%2Fcharges%3Fstatus%3Drefunded")
        .await;
    assert!(text(&login).contains("name=\"return_to\""));
    let fields = [
        ("email", "ada@example.com"),
        ("password", PASSWORD),
        ("return_to", "/console/charges?status=refunded"),
    ];
    let response = browser.post("/login", &fields).await;
    assert_eq!(where_to(&response), "/console/charges?status=refunded");
    assert_eq!(browser.get("/console/charges").await.status(), 200);
}

/// X9: every page of the console has a strict policy and keeps it.
#[tokio::test]
async fn pages_of_the_console_have_a_strict_policy() {
    let (_, mut browser) = signed_in().await;
    for path in PAGES {
        let page = browser.get(path).await;
        assert_eq!(page.status(), 200, "{path}");
        let policy = header(page.headers(), "content-security-policy");
        assert!(
            policy.starts_with("default-src 'none'; style-src 'self'; "),
            "{policy}"
        );
        assert!(
            policy.contains("script-src 'self'") && !policy.contains("unsafe"),
            "{policy}"
        );
        let page = text(&page);
        for inline in [
            "<style",
            " style=",
            "<script>",
            " onclick=",
            "javascript:",
            "https://",
        ] {
            let is_example = inline == "https://" && path == "/console/endpoints";
            assert!(is_example || !page.contains(inline), "{path}: {inline}");
        }
    }
}

/// X9: a form of another site, or without a key, changes nothing.
#[tokio::test]
async fn forged_forms_are_refused() {
    let (app, mut browser) = signed_in().await;
    let page = text(&browser.get("/console/charges").await);
    let fields = [("amount", "49.00"), ("currency", "EUR")];
    let without_key = browser.post("/console/charges", &fields).await;
    assert_eq!(without_key.status(), 400);
    browser.token = "forged".to_owned();
    let forged = submit(&mut browser, &page, "/console/charges", &fields).await;
    assert_eq!(forged.status(), 403);
    assert!(text(&forged).contains("This page was out of date"));
    let mut stranger = Browser::new(&app);
    let unknown = submit(&mut stranger, &page, "/console/charges", &fields).await;
    assert!(where_to(&unknown).starts_with("/login"), "{unknown:?}");
    let token = bearer(&app, ALL_SCOPES).await;
    assert_eq!(crate::desk::charges(&app, &token).await, 0);
}

/// X6, X9: the console shows the data of a PostgreSQL.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn console_reads_postgres() {
    let Some(schema) = Schema::fresh("console_reads_postgres") else {
        return;
    };
    let database = host_store_postgres::Database::connect(&schema.url()).await;
    let app = open_over(database.unwrap()).await;
    let token = bearer(&app, ALL_SCOPES).await;
    let path = charge(&app, &token, 4_900).await;
    let id = path.rsplit('/').next().unwrap();
    let mut browser = Browser::new(&app);
    browser.sign_in().await;
    for path in PAGES {
        assert_eq!(browser.get(path).await.status(), 200, "{path}");
    }
    let overview = text(&browser.get("/").await);
    assert!(overview.contains("€49.00"), "{overview}");
    let shown = text(&browser.get(&format!("/console/charges/{id}")).await);
    assert!(shown.contains("Charge created"), "{shown}");
    let applications = text(&browser.get("/console/applications").await);
    assert!(
        applications.contains("No application has received a refresh token"),
        "{applications}"
    );
}

/// X9: a build without the feature `break-it` has no page that causes faults.
#[cfg(not(feature = "break-it"))]
#[tokio::test]
async fn page_of_faults_is_absent() {
    let (_, mut browser) = signed_in().await;
    for path in ["/console/break-it", "/console/break-it/receiver"] {
        assert_eq!(browser.get(path).await.status(), 404, "{path}");
        assert_eq!(
            browser.post(path, &[("fault", "drop")]).await.status(),
            404,
            "{path}"
        );
    }
    assert!(!text(&browser.get("/").await).contains("break-it"));
}

/// X9: any id leads to its page.
#[tokio::test]
async fn any_id_is_found() {
    let (app, mut browser) = signed_in().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let path = charge(&app, &token, 100).await;
    let id = path.rsplit('/').next().unwrap();
    let found = browser.get(&format!("/console/find?id={id}")).await;
    assert_eq!(where_to(&found), format!("/console/charges/{id}"));
    for (id, path) in [
        ("re_07070707070707070707070707070707", "/console/refunds?about="),
        (
            "cus_07070707070707070707070707070707",
            "/console/charges?customer=",
        ),
    ] {
        let found = browser.get(&format!("/console/find?id={id}")).await;
        assert_eq!(where_to(&found), format!("{path}{id}"));
    }
    let other = browser.get("/console/find?id=6dec605c").await;
    assert_eq!(where_to(&other), "/console/requests?q=6dec605c");
    let nothing = text(&browser.get("/console/requests?q=6dec605c").await);
    assert!(nothing.contains("Nothing has “6dec605c”"), "{nothing}");
}

/// X9: the overview counts what the desk keeps and leaves out what it does not.
#[tokio::test]
async fn overview_counts_what_is_kept() {
    let (app, _) = open_at().await;
    let mut browser = Browser::new(&app);
    browser.sign_in().await;
    let page = text(&browser.get("/").await);
    assert!(
        page.contains("No charges since midnight") && !page.contains("Deliveries acknowledged"),
        "{page}"
    );
    let token = bearer(&app, ALL_SCOPES).await;
    charge(&app, &token, 128_440).await;
    call(
        &app,
        &token,
        ("POST", "/v1/charges"),
        &[],
        r#"{"amount":0,"currency":"eur"}"#,
    )
    .await;
    let page = text(&browser.get("/").await);
    assert!(page.contains("€1,284.40") && page.contains("1 charge<"), "{page}");
    assert!(page.contains("href=\"/problems/invalid-content\""), "{page}");
}
