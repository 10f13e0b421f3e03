//! The pages: policies, assets and accessibility.

use bytes::Bytes;
use http::Response;
use serde_json::Value;

use crate::browser::{Browser, HTML, PASSWORD, text, where_to};
use crate::desk::{ask, header, json, open, request};
use crate::sign_in::{begin, log_in};

/// O24: every page has a policy that forbids framing, inline code and foreign sources, and contains
/// none of these.
#[tokio::test]
async fn every_page_has_a_policy_that_it_keeps() {
    let app = open().await;
    let mut browser = Browser::new(&app);
    let begun = begin(&mut browser, "").await;
    let mut pages = Vec::new();
    for path in [
        "/",
        "/client",
        "/callback?code=x",
        "/problems/invalid-content",
        "/login?interaction=x",
        "/consent?interaction=x",
    ] {
        pages.push(("'none'", browser.get(path).await));
    }
    pages.push(("'self'", browser.get("/login?notice=everywhere").await));
    for path in ["/password/forgotten", "/password/reset?token=x"] {
        pages.push(("'self'", browser.get(path).await));
    }
    pages.push(("'self'", browser.get(&begun.login).await));
    pages.push(("'self'", log_in(&mut browser, &begun, "<script>").await));
    browser.token.clear();
    pages.push(("'none'", browser.post("/account/password", &[]).await));
    log_in(&mut browser, &begun, PASSWORD).await;
    let consent = browser
        .get(&format!("/consent?interaction={}", begun.interaction))
        .await;
    pages.push(("'self' http://127.0.0.1:9999", consent));
    pages.push(("'self'", browser.get("/account").await));
    pages.push(("'self'", browser.post("/account/password", &[]).await));
    for (form_action, page) in pages {
        assert_keeps_its_policy(&page, form_action);
    }
}

fn assert_keeps_its_policy(page: &Response<Bytes>, form_action: &str) {
    let policy = header(page.headers(), "content-security-policy");
    assert!(
        policy.starts_with("default-src 'none'; style-src 'self'; "),
        "{policy}"
    );
    assert!(
        policy.contains("frame-ancestors 'none'") && policy.contains("base-uri 'none'"),
        "{policy}"
    );
    assert!(
        policy.ends_with(&format!("form-action {form_action}")),
        "{policy}"
    );
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(header(page.headers(), "x-frame-options"), "DENY");
    let kept: Vec<_> = page.headers().get_all("cache-control").iter().collect();
    assert_eq!(kept, ["no-store"]);
    let text = String::from_utf8_lossy(page.body());
    assert!(text.starts_with("<!doctype html>"), "{text}");
    for inline in [
        "<style",
        " style=",
        "<script>",
        " onclick=",
        " onsubmit=",
        "javascript:",
        "https://",
    ] {
        assert!(!text.contains(inline), "{inline} in {text}");
    }
}

/// X9: `/graphql` leads a browser to the explorer, and is GraphQL to other clients.
#[tokio::test]
async fn graph_leads_a_browser_to_the_explorer() {
    let app = open().await;
    let accept = (
        "accept",
        "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8",
    );
    let page = ask(&app, request("GET", "/graphql", &[accept], "")).await;
    assert_eq!(where_to(&page), "/console/explorer");
    let answer = ask(&app, request("GET", "/graphql?query=%7B__typename%7D", &[], "")).await;
    assert_eq!(
        json(&answer).pointer("/data/__typename"),
        Some(&Value::from("Query"))
    );
}

/// The assets have the right content type for `nosniff` and revalidate by entity tag.
#[tokio::test]
async fn assets_are_served() {
    let app = open().await;
    for (path, content_type) in [
        ("/assets/tokens.css", "text/css; charset=utf-8"),
        ("/assets/console.css", "text/css; charset=utf-8"),
        ("/assets/desk.css", "text/css; charset=utf-8"),
        ("/assets/client.js", "text/javascript; charset=utf-8"),
        ("/assets/console.js", "text/javascript; charset=utf-8"),
        ("/assets/icon.svg", "image/svg+xml"),
    ] {
        let asset = ask(&app, request("GET", path, &[], "")).await;
        assert_eq!(
            (asset.status().as_u16(), header(asset.headers(), "content-type")),
            (200, content_type)
        );
        let tag = header(asset.headers(), "etag");
        let again = ask(&app, request("GET", path, &[("if-none-match", tag)], "")).await;
        assert_eq!((again.status().as_u16(), again.body().len()), (304, 0));
    }
}

/// H13: a browser gets a page, a program a problem.
#[tokio::test]
async fn expired_sign_in_is_a_page_or_a_problem() {
    let app = open().await;
    let person = ask(&app, request("GET", "/login?interaction=x", &[HTML], "")).await;
    assert_eq!(person.status(), 400);
    assert_eq!(
        header(person.headers(), "content-type"),
        "text/html; charset=utf-8"
    );
    assert!(String::from_utf8_lossy(person.body()).contains("start again"));
    let program = ask(
        &app,
        request("GET", "/login?interaction=x", &[("accept", "*/*")], ""),
    )
    .await;
    assert_eq!(
        header(program.headers(), "content-type"),
        "application/problem+json"
    );
}

/// User input in the pages is escaped.
#[tokio::test]
async fn user_input_is_escaped() {
    let script = "\"><script>alert(1)</script>";
    let mut browser = Browser::new(&open().await);
    browser.agent = script.to_owned();
    browser.get("/login").await;
    let fields = [("email", script), ("password", "x")];
    let page = browser.post("/login", &fields).await;
    assert_eq!(page.status(), 422);
    assert!(!text(&page).contains("<script>"));
    let page = text(&browser.sign_in().await);
    assert!(
        page.contains("script&#62;alert") && !page.contains("<script>"),
        "{page}"
    );
}

/// Every field has a label, every button a name, every page a language, a title and a skip link.
#[tokio::test]
async fn pages_are_accessible() {
    let mut browser = Browser::new(&open().await);
    let begun = begin(&mut browser, "").await;
    let login = browser.get(&begun.login).await;
    let account = browser.sign_in().await;
    let consent = browser
        .get(&format!("/consent?interaction={}", begun.interaction))
        .await;
    for page in [login, account, consent, browser.get("/client").await] {
        let page = text(&page);
        for needed in [
            "<html lang=\"en\">",
            "<title>",
            "href=\"#main\"",
            "<main id=\"main\">",
            "<h1>",
        ] {
            assert!(page.contains(needed), "{needed} in {page}");
        }
        let fields = page
            .split("<input ")
            .skip(1)
            .map(|rest| rest.split('>').next().unwrap());
        for field in fields.filter(|field| !field.contains("hidden")) {
            let id = field.split("id=\"").nth(1).unwrap().split('"').next().unwrap();
            assert!(page.contains(&format!("<label for=\"{id}\">")), "{id} in {page}");
        }
    }
}
