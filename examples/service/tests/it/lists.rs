//! Pagination: the desk's lists are walked by their links alone.

use std::sync::Arc;

use http::HeaderMap;
use http_conventions::audit::changed_cursor;
use serde_json::Value;
use service::app::App;

use crate::desk::{ALL_SCOPES, bearer, call, charge, json, open};

/// Target of the link with this relation.
fn link(headers: &HeaderMap, relation: &str) -> Option<String> {
    let links = headers.get_all("link").iter().map(|link| link.to_str().unwrap());
    let mut targets = links.filter_map(|link| link.strip_suffix(&format!(">; rel=\"{relation}\"")));
    targets
        .next()
        .map(|target| target.trim_start_matches('<').to_owned())
}

fn ids(page: &Value) -> Vec<String> {
    let data = page.get("data").unwrap().as_array().unwrap();
    data.iter()
        .map(|row| row.get("id").unwrap().as_str().unwrap().to_owned())
        .collect()
}

/// Follows the links of this relation from a page on; returns the URL and content of each page.
async fn walk(app: &Arc<App>, token: &str, from: String, relation: &str) -> Vec<(String, Vec<String>)> {
    let (mut next, mut pages) = (Some(from), Vec::new());
    while let Some(path) = next {
        assert!(pages.len() < 20, "a walk comes to an end");
        let answer = call(app, token, ("GET", &path), &[], "").await;
        assert_eq!(answer.status(), 200, "{path}: {answer:?}");
        next = link(answer.headers(), relation);
        let page = json(&answer);
        let forward = link(answer.headers(), "next");
        assert_eq!(page.get("has_more").unwrap(), forward.is_some(), "{path}");
        let cursor = page
            .get("next_cursor")
            .unwrap()
            .as_str()
            .map(|cursor| format!("after={cursor}"));
        assert_eq!(
            forward.is_some_and(|target| target.ends_with(&cursor.clone().unwrap())),
            cursor.is_some()
        );
        pages.push((path, ids(&page)));
    }
    pages
}

/// H10, H11: `next` and `prev` walk a list in both directions over the same rows and filters, also
/// while rows are created.
#[tokio::test]
async fn the_lists_of_the_desk_are_walked_both_ways() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let refunded = charge(&app, &token, 700).await;
    for amount in 1..=6 {
        charge(&app, &token, amount).await;
        let body = format!(r#"{{"name":"customer {amount}"}}"#);
        call(&app, &token, ("POST", "/v1/customers"), &[], &body).await;
        call(
            &app,
            &token,
            ("POST", &format!("{refunded}/refunds")),
            &[],
            r#"{"amount":1}"#,
        )
        .await;
    }
    for list in [
        "/v1/charges?limit=2&status=succeeded".to_owned(),
        "/v1/customers?limit=2".to_owned(),
        format!("{refunded}/refunds?limit=2"),
    ] {
        let there = walk(&app, &token, list.clone(), "next").await;
        let rows: Vec<String> = there.iter().flat_map(|(_, rows)| rows.clone()).collect();
        let distinct: std::collections::BTreeSet<&String> = rows.iter().collect();
        assert_eq!(
            (rows.len(), distinct.len()),
            (distinct.len(), rows.len()),
            "{list}"
        );
        assert!(there.len() >= 3, "{list}: {there:?}");
        // newer rows belong before the first page and do not move later pages
        charge(&app, &token, 9).await;
        let (last, _) = there.last().unwrap().clone();
        let back = walk(&app, &token, last, "prev").await;
        assert!(
            back.iter()
                .all(|(path, _)| list.contains("status=") == path.contains("status=succeeded"))
        );
        let mut seen: Vec<String> = back.iter().rev().flat_map(|(_, rows)| rows.clone()).collect();
        if list.contains("charges?") {
            seen.remove(0);
        }
        assert_eq!(seen, rows, "{list}");
        // the first page of the walk has no page before it
        let first = call(&app, &token, ("GET", &list), &[], "").await;
        assert_eq!(link(first.headers(), "prev"), None);
    }
}

/// H10: a cursor for the previous page is bound like one for the next: 400 if it is changed, used
/// for another list or filter, with `after`, or in the other direction.
#[tokio::test]
async fn a_cursor_to_walk_back_is_bound_to_its_list() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    for amount in 1..=3 {
        charge(&app, &token, amount).await;
    }
    let first = call(&app, &token, ("GET", "/v1/charges?limit=1"), &[], "").await;
    let after = link(first.headers(), "next").unwrap();
    let second = call(&app, &token, ("GET", &after), &[], "").await;
    let before = link(second.headers(), "prev").unwrap();
    let cursor = before.split_once("before=").unwrap().1;
    let forward = after.split_once("after=").unwrap().1;
    let changed: String = cursor.chars().rev().collect();
    for path in [
        format!("/v1/charges?before={changed}"),
        format!("/v1/charges?before={forward}"),
        format!("/v1/charges?after={cursor}"),
        format!("/v1/charges?before={cursor}&after={forward}"),
        format!("/v1/charges?before={cursor}&before={cursor}"),
        format!("/v1/charges?before={cursor}&status=refunded"),
        format!("/v1/customers?before={cursor}"),
        "/v1/charges?before=".to_owned(),
    ] {
        let refused = call(&app, &token, ("GET", &path), &[], "").await;
        assert_eq!(changed_cursor(&refused), [], "{path}: {refused:?}");
    }
    let again = call(&app, &token, ("GET", &before), &[], "").await;
    assert_eq!(ids(&json(&again)), ids(&json(&first)));
}
