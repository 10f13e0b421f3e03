//! PATCH of a charge in both formats.

use std::sync::Arc;

use bytes::Bytes;
use http::Response;
use serde_json::{Value, json};
use service::app::App;

use crate::desk::{ALL_SCOPES, ask, bearer, call, charge, header, open, request};

const MERGE: (&str, &str) = ("content-type", "application/merge-patch+json");
const JSON_PATCH: (&str, &str) = ("content-type", "application/json-patch+json");
const BOTH: &str = "application/merge-patch+json, application/json-patch+json";

fn parsed(response: &Response<Bytes>) -> Value {
    crate::desk::json(response)
}

/// A service with a charge; its token, the path of the charge and the entity tag.
async fn with_charge() -> (Arc<App>, String, String, String) {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let path = charge(&app, &token, 500).await;
    let read = call(&app, &token, ("GET", &path), &[], "").await;
    let tag = header(read.headers(), "etag").to_owned();
    (app, token, path, tag)
}

/// H27: both formats change the description, and the response has the new entity tag.
#[tokio::test]
async fn both_formats_change_the_description() {
    let (app, token, path, mut tag) = with_charge().await;
    for (format, patch, expected) in [
        (MERGE, r#"{"description":"tea"}"#, json!("tea")),
        (
            JSON_PATCH,
            r#"[{"op":"test","path":"/description","value":"tea"},{"op":"replace","path":"/description","value":"milk"}]"#,
            json!("milk"),
        ),
        (
            JSON_PATCH,
            r#"[{"op":"remove","path":"/description"}]"#,
            json!(null),
        ),
        (MERGE, r#"{"amount":500,"description":"again"}"#, json!("again")),
        (MERGE, r#"{"description":null}"#, json!(null)),
    ] {
        let changed = call(
            &app,
            &token,
            ("PATCH", &path),
            &[format, ("if-match", &tag)],
            patch,
        )
        .await;
        assert_eq!(changed.status(), 200, "{patch} {:?}", changed.body());
        assert_eq!(parsed(&changed).get("description"), Some(&expected), "{patch}");
        let read = call(&app, &token, ("GET", &path), &[], "").await;
        assert_eq!(read.body(), changed.body());
        assert_ne!(header(read.headers(), "etag"), tag);
        assert_eq!(read.headers().get("etag"), changed.headers().get("etag"));
        tag = header(read.headers(), "etag").to_owned();
    }
}

/// H27, H28: a patch that does not apply is refused with pointers, and changes nothing.
#[tokio::test]
async fn refused_patch_changes_nothing() {
    let (app, token, path, tag) = with_charge().await;
    let long = format!(r#"{{"description":"{}"}}"#, "x".repeat(501));
    for (format, patch, status, pointer) in [
        (MERGE, r#"{"amount":1,"description":7}"#, 422, "/amount"),
        (MERGE, r#"{"description":7}"#, 422, "/description"),
        (MERGE, &*long, 422, "/description"),
        (MERGE, r#"{"other":1}"#, 422, "/other"),
        (MERGE, "{", 400, ""),
        (JSON_PATCH, "{}", 400, ""),
        (
            JSON_PATCH,
            r#"[{"op":"test","path":"/description","value":"x"}]"#,
            409,
            "/0/value",
        ),
        (
            JSON_PATCH,
            r#"[{"op":"replace","path":"/id","value":"x"}]"#,
            422,
            "/id",
        ),
    ] {
        let refused = call(
            &app,
            &token,
            ("PATCH", &path),
            &[format, ("if-match", &tag)],
            patch,
        )
        .await;
        assert_eq!(refused.status(), status, "{patch} {:?}", refused.body());
        let problem = parsed(&refused);
        let found = problem.pointer("/errors/0/pointer").and_then(Value::as_str);
        assert_eq!(found.unwrap_or_default(), pointer, "{patch}");
    }
    let read = call(&app, &token, ("GET", &path), &[], "").await;
    assert_eq!(header(read.headers(), "etag"), tag);
}

/// H27, H7: a patch needs the current entity tag.
#[tokio::test]
async fn patch_needs_the_current_tag() {
    let (app, token, path, tag) = with_charge().await;
    let patch = r#"{"description":"tea"}"#;
    for (fields, status) in [
        (vec![MERGE], 428),
        (vec![MERGE, ("if-match", "\"other\"")], 412),
        (vec![MERGE, ("if-match", &tag)], 200),
        (vec![MERGE, ("if-match", &tag)], 412),
    ] {
        let response = call(&app, &token, ("PATCH", &path), &fields, patch).await;
        assert_eq!(response.status(), status, "{fields:?}");
    }
}

/// H27, H6: a retry with its key gets the first response, although the tag has changed.
#[tokio::test]
async fn patch_takes_effect_once_for_its_key() {
    let (app, token, path, tag) = with_charge().await;
    let fields = [MERGE, ("if-match", &tag), ("idempotency-key", "patch-1")];
    let patch = r#"{"description":"tea"}"#;
    let first = call(&app, &token, ("PATCH", &path), &fields, patch).await;
    let retry = call(&app, &token, ("PATCH", &path), &fields, patch).await;
    assert_eq!(
        (first.status(), retry.status()),
        (http::StatusCode::OK, http::StatusCode::OK)
    );
    assert_eq!(first.body(), retry.body());
    assert_eq!(header(retry.headers(), "idempotency-replayed"), "true");
    assert_eq!(parsed(&retry).get("version"), Some(&json!(2)));
}

/// H27: OPTIONS and the 415 name the formats of the resource.
#[tokio::test]
async fn formats_of_patches_are_announced() {
    let (app, token, path, tag) = with_charge().await;
    let endpoint = "/v1/webhook-endpoints/ep_00000000000000000000000000000000";
    for (path, formats) in [
        (path.as_str(), BOTH),
        (endpoint, "application/merge-patch+json"),
        ("/v1/charges", ""),
    ] {
        let options = ask(&app, request("OPTIONS", path, &[], "")).await;
        assert_eq!(header(options.headers(), "accept-patch"), formats, "{path}");
    }
    let fields = [("if-match", tag.as_str())];
    for (path, formats) in [(path.as_str(), BOTH), (endpoint, "application/merge-patch+json")] {
        let refused = call(&app, &token, ("PATCH", path), &fields, "{}").await;
        assert_eq!(refused.status(), 415, "{path}");
        assert_eq!(header(refused.headers(), "accept-patch"), formats, "{path}");
    }
}
