//! Conditional requests and cache headers.

use futures_util::future::join_all;
use http::StatusCode;

use crate::desk::{ALL_SCOPES, bearer, call, charge, header, json, open};

fn described(text: &str) -> String {
    format!(r#"{{"amount":500,"currency":"eur","description":"{text}"}}"#)
}

/// H7: of several writers with one entity tag exactly one succeeds; the others get 412.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_parallel_writers_with_one_tag_succeeds() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let path = charge(&app, &token, 500).await;
    let read = call(&app, &token, ("GET", &path), &[], "").await;
    let tag = header(read.headers(), "etag").to_owned();
    let all = join_all((0..16).map(|writer| {
        let (app, token, path, tag) = (app.clone(), token.clone(), path.clone(), tag.clone());
        tokio::spawn(async move {
            let body = described(&format!("writer {writer}"));
            call(&app, &token, ("PUT", &path), &[("if-match", &tag)], &body).await
        })
    }));
    let responses: Vec<_> = all.await.into_iter().map(Result::unwrap).collect();
    let (won, lost): (Vec<_>, Vec<_>) = responses
        .iter()
        .partition(|response| response.status() == StatusCode::OK);
    assert_eq!(won.len(), 1);
    assert!(
        lost.iter()
            .all(|response| response.status() == StatusCode::PRECONDITION_FAILED)
    );
    let now = call(&app, &token, ("GET", &path), &[], "").await;
    let winner = won.first().unwrap();
    assert_eq!(
        (now.body(), now.headers().get("etag")),
        (winner.body(), winner.headers().get("etag"))
    );
    assert_eq!(json(&now).get("version").unwrap(), 2);
}

/// H7: a write without a precondition, or with a weak or stale entity tag, is refused; `*` is
/// accepted.
#[tokio::test]
async fn a_write_needs_a_strong_tag_that_fits() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let path = charge(&app, &token, 500).await;
    let read = call(&app, &token, ("GET", &path), &[], "").await;
    let weak = format!("W/{}", header(read.headers(), "etag"));
    for (headers, status) in [
        (vec![], 428),
        (vec![("if-match", weak.as_str())], 412),
        (vec![("if-match", "\"other\"")], 412),
        (vec![("if-match", "*")], 200),
    ] {
        let response = call(&app, &token, ("PUT", &path), &headers, &described("new")).await;
        assert_eq!(response.status(), status, "{headers:?}");
    }
}

/// H8, H9: a charge may be stored by private caches and revalidated; lists and responses to writes
/// may not be stored.
#[tokio::test]
async fn responses_state_their_cacheability() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let path = charge(&app, &token, 500).await;
    let read = call(&app, &token, ("GET", &path), &[], "").await;
    assert_eq!(header(read.headers(), "cache-control"), "private, max-age=0");
    assert_eq!(header(read.headers(), "vary"), "Authorization");
    let tag = header(read.headers(), "etag");
    let unchanged = call(&app, &token, ("GET", &path), &[("if-none-match", tag)], "").await;
    assert_eq!((unchanged.status().as_u16(), unchanged.body().len()), (304, 0));
    for name in ["etag", "cache-control", "vary"] {
        assert_eq!(unchanged.headers().get(name), read.headers().get(name), "{name}");
    }
    assert_eq!(header(unchanged.headers(), "content-type"), "");
    for path in [
        "/v1/charges",
        "/v1/customers",
        "/v1/webhook-deliveries",
        &format!("{path}/refunds"),
    ] {
        let list = call(&app, &token, ("GET", path), &[], "").await;
        assert_eq!(
            header(list.headers(), "cache-control"),
            "private, no-store",
            "{path}"
        );
    }
    let refused = call(&app, &token, ("GET", "/v1/nothing"), &[], "").await;
    assert_eq!(header(refused.headers(), "cache-control"), "no-store");
}
