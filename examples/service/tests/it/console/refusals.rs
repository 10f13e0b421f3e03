//! Refusals as pages, and the pages of problem types.

use crate::browser::{HTML, text};
use crate::desk::{ask, header, open, request};

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
