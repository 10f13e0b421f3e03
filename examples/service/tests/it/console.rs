//! X9: the console, without JavaScript: pages, forms and their refusals.

use std::sync::Arc;

use bytes::Bytes;
use http::Response;
use service::app::App;

use crate::browser::{Browser, HTML, PASSWORD, text, where_to};
use crate::desk::{ALL_SCOPES, ask, bearer, call, charge, header, json, open, open_at, open_over, request};
use crate::postgres::Schema;
use crate::sign_in::{begin, log_in};

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

async fn signed_in() -> (Arc<App>, Browser) {
    let app = open().await;
    let mut browser = Browser::new(&app);
    browser.sign_in().await;
    (app, browser)
}

const PAGES: [&str; 7] = [
    "/",
    "/console/charges",
    "/console/deliveries",
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
    let older = first.split("rel=\"next\"").next().unwrap();
    let older = older.rsplit("href=\"").next().unwrap().split('"').next().unwrap();
    let older = older.replace("&#38;", "&");
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

/// X9: the requests of every flow are kept without any of its secrets.
#[tokio::test]
async fn kept_requests_have_no_secret_of_the_flows() {
    let (app, mut browser) = signed_in().await;
    let mut secrets = vec![PASSWORD.to_owned(), "demo-service-secret".to_owned()];
    let begun = begin(&mut browser, "").await;
    log_in(&mut browser, &begun, PASSWORD).await;
    secrets.push(begun.interaction.clone());
    secrets.extend(browser.cookies.values().cloned());
    secrets.push(browser.token.clone());
    let token = bearer(&app, ALL_SCOPES).await;
    secrets.push(token.trim_start_matches("Bearer ").to_owned());
    let body = r#"{"url":"https://a.example/hook","headers":[{"name":"x-key","value":"static-secret"}]}"#;
    let hook = call(&app, &token, ("POST", "/v1/webhook-endpoints"), &[], body).await;
    let secret = json(&hook).get("secret").unwrap().as_str().unwrap().to_owned();
    secrets.extend([secret, "static-secret".to_owned()]);
    browser
        .post(
            "/login",
            &[
                ("email", "ada@example.com"),
                ("password", "incorrect-horse-secret"),
            ],
        )
        .await;
    browser
        .get("/password/reset?token=pr_reset-secret-of-a-mail")
        .await;
    browser.get("/callback?code=ac_code-of-a-client&state=x").await;
    secrets.extend(
        [
            "incorrect-horse-secret",
            "reset-secret-of-a-mail",
            "code-of-a-client",
        ]
        .map(str::to_owned),
    );

    let list = text(&browser.get("/console/requests").await);
    let ids = list.split("href=\"/console/requests/").skip(1);
    let ids: Vec<_> = ids
        .map(|rest| rest.split('"').next().unwrap().to_owned())
        .collect();
    assert!(ids.len() >= 10, "{list}");
    // the pages of the console carry their own tokens, and a request id is not one
    for id in ids {
        let page = text(&browser.get(&format!("/console/requests/{id}")).await);
        assert!(page.contains("What came"), "{page}");
        for secret in &secrets {
            assert!(!page.contains(secret.as_str()), "{secret} in {page}");
        }
    }
    assert!(list.contains("/token") && list.contains("/v1/webhook-endpoints"));
}

/// X9: a request shows the stage that ended it, and becomes a command of curl.
#[tokio::test]
async fn request_shows_what_the_pipeline_decided() {
    let (app, mut browser) = signed_in().await;
    let token = bearer(&app, "read:charges").await;
    let key = [("idempotency-key", "\"console-1\"")];
    let body = r#"{"amount":4900,"currency":"eur"}"#;
    let all = bearer(&app, ALL_SCOPES).await;
    for (token, body, ended_by, word) in [
        (token.as_str(), body, "Authorize", "Ended here"),
        (all.as_str(), body, "Handler", "Answered"),
        (all.as_str(), body, "Idempotency", "Replayed"),
        (all.as_str(), "{}", "Idempotency", "Ended here"),
    ] {
        let answer = call(&app, token, ("POST", "/v1/charges"), &key, body).await;
        let id = header(answer.headers(), "x-request-id").to_owned();
        let page = text(&browser.get(&format!("/console/requests/{id}")).await);
        let stage = page.split(&format!("<h3>{ended_by}</h3>")).nth(1).unwrap();
        let stage = stage.split("</li>").next().unwrap();
        assert!(stage.contains(word), "{ended_by}: {stage}");
        assert!(page.contains("Authorization: Bearer $TOKEN"), "{page}");
    }
    let found = text(&browser.get("/console/requests?status=4xx&q=/v1/charges").await);
    assert_eq!(found.matches("class=\"open mono\"").count(), 2, "{found}");
}

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

/// X9: any id leads to its page.
#[tokio::test]
async fn any_id_is_found() {
    let (app, mut browser) = signed_in().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let path = charge(&app, &token, 100).await;
    let id = path.rsplit('/').next().unwrap();
    let found = browser.get(&format!("/console/find?id={id}")).await;
    assert_eq!(where_to(&found), format!("/console/charges/{id}"));
    let other = browser.get("/console/find?id=6dec605c").await;
    assert_eq!(where_to(&other), "/console/requests?q=6dec605c");
}

/// X9: a browser gets a page for every refusal, a program a problem.
#[tokio::test]
async fn refusals_are_pages_in_a_browser() {
    let app = open().await;
    for (path, status, words) in [
        ("/nowhere", 404, "Nothing is here"),
        ("/v1/charges", 401, "needs an access token"),
        ("/problems/none", 404, "Nothing is here"),
        ("/token", 405, "405"),
    ] {
        let page = ask(&app, request("GET", path, &[HTML], "")).await;
        assert_eq!(page.status(), status, "{path}");
        assert!(text(&page).contains(words), "{path}: {page:?}");
        let id = header(page.headers(), "x-request-id").to_owned();
        assert!(text(&page).contains(&id), "{path}");
        let problem = ask(&app, request("GET", path, &[("accept", "*/*")], "")).await;
        assert_eq!(
            header(problem.headers(), "content-type"),
            "application/problem+json"
        );
    }
}

/// X9: every problem type has a page with an example, its cause and its mend.
#[tokio::test]
async fn every_problem_type_has_a_page() {
    let app = open().await;
    let list = text(&ask(&app, request("GET", "/problems", &[HTML], "")).await);
    let slugs: Vec<_> = list
        .split("href=\"/problems/")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    assert!(slugs.len() > 20, "{slugs:?}");
    for slug in slugs {
        let page = text(&ask(&app, request("GET", &format!("/problems/{slug}"), &[HTML], "")).await);
        for part in ["id=\"cause\"", "id=\"mend\"", "application/problem+json"] {
            assert!(page.contains(part), "{slug}: {part}");
        }
    }
}

/// X9, O3: an authorization request that must not be redirected shows a page under a strict policy.
#[tokio::test]
async fn refused_authorization_is_a_page() {
    let app = open().await;
    let path = "/authorize?client_id=demo-web&redirect_uri=http://127.0.0.1:9998/callback&response_type=code";
    let page = ask(&app, request("GET", path, &[HTML], "")).await;
    assert_eq!(page.status(), 400);
    let policy = header(page.headers(), "content-security-policy");
    assert!(!policy.contains("unsafe"), "{policy}");
    let page = text(&page);
    assert!(
        page.contains("cannot sign you in") && page.contains("redirect_uri_not_registered"),
        "{page}"
    );
    assert!(page.contains("http://127.0.0.1:9998/callback"), "{page}");
}
