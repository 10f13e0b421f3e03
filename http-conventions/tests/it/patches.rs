//! JSON Merge Patch and JSON Patch: parsing, application, refusals.

use http::{HeaderMap, header};
use http_conventions::{
    errors::ProblemBase,
    patching::{Patch, PatchRefusal},
};
use serde_json::{Value, json};

pub(crate) const MERGE: &str = "application/merge-patch+json";
pub(crate) const JSON: &str = "application/json-patch+json";
const BASE: &str = "https://api.example.com/problems/";

pub(crate) fn parse(media_type: &str, content: &[u8]) -> Result<Patch, PatchRefusal> {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, media_type.parse().unwrap());
    Patch::parse(&headers, content)
}

/// Applies a patch to a document.
pub(crate) fn apply(media_type: &str, document: &Value, patch: &Value) -> Result<Value, PatchRefusal> {
    parse(media_type, patch.to_string().as_bytes())?.apply(document)
}

/// Status, and the pointer and code of each fault.
pub(crate) fn refused<T>(result: Result<T, PatchRefusal>) -> (u16, Vec<(String, String)>) {
    let problem = result.err().unwrap().problem(&ProblemBase::new(BASE).unwrap());
    let status = problem.status().as_u16();
    let written: Value = serde_json::from_slice(&problem.to_bytes()).unwrap();
    let errors = written
        .get("errors")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    let text = |error: &Value, name: &str| error[name].as_str().unwrap().to_owned();
    let errors = errors
        .iter()
        .map(|error| (text(error, "pointer"), text(error, "code")));
    (status, errors.collect())
}

fn cases(file: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(file).unwrap();
    file.get("cases").and_then(Value::as_array).unwrap().clone()
}

/// H27: the examples of RFC 7396, Appendix A.
#[test]
fn merge_patches_of_the_rfc_apply() {
    let cases = cases(include_str!("../vectors/merge_patch.json"));
    assert_eq!(cases.len(), 15);
    for case in cases {
        let result = apply(MERGE, &case["document"], &case["patch"]);
        assert_eq!(result.as_ref(), Ok(&case["result"]), "{case}");
    }
}

/// H27: the examples of RFC 6902, Appendix A.
#[test]
fn json_patches_of_the_rfc_apply() {
    let cases = cases(include_str!("../vectors/json_patch.json"));
    assert_eq!(cases.len(), 16);
    for case in cases {
        let text = case["patch_text"]
            .as_str()
            .map_or_else(|| case["patch"].to_string(), str::to_owned);
        let result = parse(JSON, text.as_bytes()).and_then(|patch| patch.apply(&case["document"]));
        match case.get("result") {
            Some(expected) => assert_eq!(result.as_ref(), Ok(expected), "{case}"),
            None => assert_eq!(json!(refused(result).0), case["status"], "{case}"),
        }
    }
}

/// H27: each location that an operation needs must exist; the pointer leads to the operation.
#[test]
fn missing_location_is_a_conflict() {
    let document = json!({"list": [1, 2], "map": {"a": 1}, "text": "x"});
    for (operation, member) in [
        (json!({"op": "add", "path": "/list/3", "value": 0}), "path"),
        (json!({"op": "add", "path": "/list/01", "value": 0}), "path"),
        (json!({"op": "add", "path": "/list/+1", "value": 0}), "path"),
        (json!({"op": "add", "path": "/list/-1", "value": 0}), "path"),
        (json!({"op": "add", "path": "/list/-/a", "value": 0}), "path"),
        (json!({"op": "add", "path": "/list/a", "value": 0}), "path"),
        (
            json!({"op": "add", "path": "/list/18446744073709551616", "value": 0}),
            "path",
        ),
        (
            json!({"op": "add", "path": "/list/4294967295", "value": 0}),
            "path",
        ),
        (json!({"op": "add", "path": "/text/0", "value": 0}), "path"),
        (json!({"op": "add", "path": "/none/a", "value": 0}), "path"),
        (json!({"op": "remove", "path": "/map/b"}), "path"),
        (json!({"op": "remove", "path": "/list/2"}), "path"),
        (json!({"op": "remove", "path": "/list/-"}), "path"),
        (json!({"op": "remove", "path": "/map/__proto__"}), "path"),
        (json!({"op": "replace", "path": "/map/b", "value": 0}), "path"),
        (json!({"op": "replace", "path": "/list/-", "value": 0}), "path"),
        (json!({"op": "replace", "path": "/list/00", "value": 0}), "path"),
        (json!({"op": "move", "from": "/map/b", "path": "/map/c"}), "from"),
        (json!({"op": "move", "from": "/map/b", "path": "/map/b"}), "from"),
        (json!({"op": "move", "from": "/map/a", "path": "/none/c"}), "path"),
        (json!({"op": "copy", "from": "/list/-", "path": "/map/c"}), "from"),
        (json!({"op": "test", "path": "/map/b", "value": null}), "path"),
        (json!({"op": "test", "path": "/list/-", "value": null}), "path"),
    ] {
        let patch = json!([{"op": "test", "path": "/text", "value": "x"}, operation]);
        let expected = (format!("/1/{member}"), "no-such-location".to_owned());
        assert_eq!(
            refused(apply(JSON, &document, &patch)),
            (409, vec![expected]),
            "{operation}"
        );
    }
}

/// An operation, and a value of the result at a location.
const UNUSUAL: [(&str, &str, &str); 19] = [
    (
        r#"{"op": "add", "path": "/list/2", "value": 3}"#,
        "/list",
        "[1, 2, 3]",
    ),
    (
        r#"{"op": "add", "path": "/list/-", "value": 3}"#,
        "/list",
        "[1, 2, 3]",
    ),
    (
        r#"{"op": "add", "path": "/list/0", "value": 3}"#,
        "/list",
        "[3, 1, 2]",
    ),
    (
        r#"{"op": "add", "path": "/map/a", "value": 3}"#,
        "/map",
        r#"{"a": 3}"#,
    ),
    (r#"{"op": "add", "path": "/map/-", "value": 3}"#, "/map/-", "3"),
    (r#"{"op": "add", "path": "/map/01", "value": 3}"#, "/map/01", "3"),
    (
        r#"{"op": "add", "path": "/map/__proto__", "value": {}}"#,
        "/map/__proto__",
        "{}",
    ),
    (r#"{"op": "add", "path": "", "value": 3}"#, "", "3"),
    (r#"{"op": "replace", "path": "", "value": 3}"#, "", "3"),
    (r#"{"op": "replace", "path": "/", "value": 3}"#, "/", "3"),
    (r#"{"op": "replace", "path": "/a~1b", "value": 3}"#, "/a~1b", "3"),
    (r#"{"op": "replace", "path": "/m~0n", "value": 3}"#, "/m~0n", "3"),
    (
        r#"{"op": "replace", "path": "/map/a", "value": null}"#,
        "/map",
        r#"{"a": null}"#,
    ),
    (
        r#"{"op": "move", "from": "/map", "path": "/map"}"#,
        "/map",
        r#"{"a": 1}"#,
    ),
    (r#"{"op": "move", "from": "/map/a", "path": "/map"}"#, "/map", "1"),
    (r#"{"op": "move", "from": "/map", "path": ""}"#, "", r#"{"a": 1}"#),
    (
        r#"{"op": "move", "from": "/map", "path": "/mapping"}"#,
        "/mapping",
        r#"{"a": 1}"#,
    ),
    (
        r#"{"op": "copy", "from": "/map", "path": "/map/a"}"#,
        "/map",
        r#"{"a": {"a": 1}}"#,
    ),
    (
        r#"{"op": "copy", "from": "", "path": "/map"}"#,
        "/map/map",
        r#"{"a": 1}"#,
    ),
];

/// H27: operations that the RFC allows and peers often refuse.
#[test]
fn unusual_operations_apply() {
    let document = json!({"list": [1, 2], "map": {"a": 1}, "": 0, "a/b": 1, "m~n": 2});
    for (operation, pointer, expected) in UNUSUAL {
        let patch = parse(JSON, format!("[{operation}]").as_bytes()).unwrap();
        let changed = patch.apply(&document).unwrap();
        let expected: Value = serde_json::from_str(expected).unwrap();
        assert_eq!(changed.pointer(pointer), Some(&expected), "{operation}");
    }
}

/// H27: a `test` compares numbers by value and objects without order.
#[test]
fn test_compares_values() {
    let holds = |document: &str, value: &str| {
        let document: Value = serde_json::from_str(document).unwrap();
        let patch = format!("[{{\"op\": \"test\", \"path\": \"\", \"value\": {value}}}]");
        parse(JSON, patch.as_bytes()).unwrap().apply(&document).is_ok()
    };
    for (one, other, expected) in [
        ("1", "1.0", true),
        ("1", "1e0", true),
        ("0", "-0.0", true),
        ("9007199254740993", "9007199254740992.0", false),
        ("9007199254740993", "9007199254740993", true),
        ("18446744073709551615", "18446744073709551615", true),
        ("1", "\"1\"", false),
        ("1", "true", false),
        ("null", "false", false),
        ("{\"a\": 1, \"b\": 2}", "{\"b\": 2.0, \"a\": 1}", true),
        ("{\"a\": 1}", "{\"a\": 1, \"b\": null}", false),
        ("[1, 2]", "[2, 1]", false),
        ("[[1.0]]", "[[1]]", true),
        ("\"\u{e9}\"", "\"\\u00e9\"", true),
        ("\"\u{e9}\"", "\"e\u{301}\"", false),
    ] {
        assert_eq!(holds(one, other), expected, "{one} {other}");
        assert_eq!(holds(other, one), expected, "{other} {one}");
    }
}

/// H27: a patch that fails changes nothing, wherever it fails.
#[test]
fn failed_patch_changes_nothing() {
    let document = json!({"a": 1});
    let patch = json!([
        {"op": "add", "path": "/b", "value": 2},
        {"op": "remove", "path": "/a"},
        {"op": "test", "path": "/b", "value": 3},
    ]);
    let failed = apply(JSON, &document, &patch);
    assert_eq!(
        refused(failed),
        (409, vec![("/2/value".to_owned(), "test-failed".to_owned())])
    );
    assert_eq!(document, json!({"a": 1}));
}

/// H27: JSON that is not a JSON Patch gets 400, with all faults.
#[test]
fn malformed_json_patch_gets_400() {
    let check = |patch: Value, expected: &[(&str, &str)]| {
        let expected = expected
            .iter()
            .map(|(pointer, code)| ((*pointer).to_owned(), (*code).to_owned()));
        assert_eq!(
            refused(apply(JSON, &json!({}), &patch)),
            (400, expected.collect()),
            "{patch}"
        );
    };
    check(json!({"op": "remove", "path": "/a"}), &[("", "wrong-type")]);
    check(json!("add"), &[("", "wrong-type")]);
    check(
        json!([
            7,
            {},
            {"op": "Add", "path": "/a", "value": 1},
            {"op": 1},
            {"op": "add", "path": "a"},
            {"op": "remove", "path": 7},
            {"op": "replace", "path": "/a~2", "value": 1},
            {"op": "test", "value": 1},
            {"op": "move", "from": "/a", "path": "/a/b"},
            {"op": "move", "from": "", "path": "/a"},
            {"op": "copy", "path": "#/a"},
            {"op": "remove", "path": "/a".repeat(65)},
        ]),
        &[
            ("/0", "wrong-type"),
            ("/1/op", "missing"),
            ("/2/op", "unknown-value"),
            ("/3/op", "wrong-type"),
            ("/4/path", "invalid-value"),
            ("/4/value", "missing"),
            ("/5/path", "wrong-type"),
            ("/6/path", "invalid-value"),
            ("/7/path", "missing"),
            ("/8/path", "invalid-value"),
            ("/9/path", "invalid-value"),
            ("/10/from", "missing"),
            ("/10/path", "invalid-value"),
            ("/11/path", "invalid-value"),
        ],
    );
    assert_eq!(refused(parse(JSON, b"[{\"op\"")).0, 400);
    assert_eq!(
        refused(parse(MERGE, b"{\"a\": 1, \"a\": 2}")),
        (400, vec![("/a".to_owned(), "duplicate-member".to_owned())])
    );
    assert_eq!(apply(JSON, &json!({"a": 1}), &json!([])), Ok(json!({"a": 1})));
}

/// H27: the whole document is not removed.
#[test]
fn root_is_not_removed() {
    let patch = json!([{"op": "remove", "path": ""}]);
    let expected = ("/0/path".to_owned(), "invalid-value".to_owned());
    assert_eq!(refused(apply(JSON, &json!({}), &patch)), (422, vec![expected]));
}

/// H27: other formats get 415 with `Accept-Patch`; parameters are ignored, except another charset.
#[test]
fn other_formats_get_415_with_accept_patch() {
    for media_type in [
        MERGE,
        "Application/Merge-Patch+JSON",
        "application/merge-patch+json; charset=utf-8; v=1",
    ] {
        assert!(parse(media_type, b"{}").is_ok(), "{media_type}");
    }
    let base = ProblemBase::new(BASE).unwrap();
    let both = http_conventions::patching::accept_patch();
    for media_type in [
        "application/json",
        "text/plain",
        "application/merge-patch+xml",
        "application/merge-patch+json; charset=utf-16",
        "application/json-patch",
        "x",
    ] {
        let response = parse(media_type, b"{}")
            .unwrap_err()
            .problem(&base)
            .into_response();
        assert_eq!(response.status(), 415, "{media_type}");
        assert_eq!(response.headers()["accept-patch"], both, "{media_type}");
    }
    let response = Patch::parse(&HeaderMap::new(), b"{}")
        .unwrap_err()
        .problem(&base)
        .into_response();
    assert_eq!(response.headers()["accept-patch"], both, "without Content-Type");

    let mut packed = HeaderMap::new();
    packed.insert(header::CONTENT_TYPE, MERGE.parse().unwrap());
    packed.insert(header::CONTENT_ENCODING, "gzip".parse().unwrap());
    let response = Patch::parse(&packed, b"{}")
        .unwrap_err()
        .problem(&base)
        .into_response();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["accept-encoding"]),
        (415, &"identity".parse().unwrap())
    );
}
