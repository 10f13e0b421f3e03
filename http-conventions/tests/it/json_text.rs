//! JSON text that is malformed or of another media type, and the problem of a host.

use http::{HeaderMap, header};
use http_conventions::{
    content::{Fault, Faults, InvalidContent, JsonReader},
    errors::ProblemBase,
};
use serde_json::Value;

const BASE: &str = "https://api.example.com/problems/";

/// H28: malformed JSON gets 400 with line and column, a repeated member with its pointer.
#[test]
fn malformed_json_gets_400() {
    let base = ProblemBase::new(BASE).unwrap();
    let refused = |content: &[u8]| {
        let error = JsonReader::new().read_bytes::<Value>(content).unwrap_err();
        assert!(matches!(error, InvalidContent::Malformed(_)), "{error:?}");
        let problem = error.problem(&base);
        assert_eq!(problem.status(), 400);
        serde_json::from_slice::<Value>(&problem.to_bytes()).unwrap()
    };
    for (content, detail) in [
        (&b""[..], "the content is empty"),
        (b" \n", "the content is empty"),
        (
            b"{\"a\":\n [1,}",
            "the content is not valid JSON at line 2, column 5",
        ),
        (b"[1, 2", "the content ends before its JSON value is complete"),
        (b"[1] 2", "the content is not valid JSON at line 1, column 5"),
        (b"NaN", "the content is not valid JSON at line 1, column 1"),
        (b"\"\xff\"", "the content is not valid JSON at line 1, column 2"),
        (
            b"\"\\ud800\"",
            "the content is not valid JSON at line 1, column 8",
        ),
        (
            b"\xef\xbb\xbf{}",
            "the content is not valid JSON at line 1, column 1",
        ),
    ] {
        assert_eq!(refused(content)["detail"], detail, "{content:?}");
    }
    for (content, pointer) in [
        (&br#"{"a": 1, "b": {"c": 1, "\u0063": 2}}"#[..], "/b/c"),
        (br#"[{"~/": 1, "~/": 1}]"#, "/0/~0~1"),
        (br#"{"": 1, "": 1}"#, "/"),
    ] {
        let problem = refused(content);
        assert_eq!(problem["errors"][0]["pointer"], pointer);
        assert_eq!(problem["errors"][0]["code"], "duplicate-member");
    }
    let nested = |depth: usize| ["[".repeat(depth), "]".repeat(depth)].concat();
    assert!(
        JsonReader::new()
            .read_bytes::<Value>(nested(64).as_bytes())
            .is_ok()
    );
    for depth in [65, 127, 128, 100_000] {
        let problem = refused(nested(depth).as_bytes());
        assert_eq!(
            problem["detail"],
            "the content is nested more than 64 levels deep"
        );
    }
}

/// H28: a number that no float has is refused, also if a feature of serde_json keeps its digits.
#[test]
fn number_beyond_floats_is_refused() {
    for content in ["1e999", "-1e999", "[1e999]"] {
        let reader = JsonReader::new();
        assert!(
            reader.read_bytes::<Value>(content.as_bytes()).is_err(),
            "{content}"
        );
        assert!(reader.read_bytes::<f64>(content.as_bytes()).is_err(), "{content}");
        assert!(reader.read_bytes::<u8>(content.as_bytes()).is_err(), "{content}");
    }
}

/// H28: other media types and codings get 415; parameters other than another charset are ignored.
#[test]
fn other_media_types_get_415() {
    let read = |fields: &[(header::HeaderName, &str)]| {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(name, value.parse().unwrap());
        }
        JsonReader::new().read::<u8>(&headers, b"1")
    };
    let json = (header::CONTENT_TYPE, "Application/JSON; charset=\"UTF-8\"; v=1");
    assert_eq!(read(std::slice::from_ref(&json)), Ok(1));
    assert_eq!(
        read(&[json.clone(), (header::CONTENT_ENCODING, "identity")]),
        Ok(1)
    );
    let base = ProblemBase::new(BASE).unwrap();
    for (fields, field, value) in [
        (vec![], "accept", "application/json"),
        (
            vec![(header::CONTENT_TYPE, "text/json")],
            "accept",
            "application/json",
        ),
        (
            vec![(header::CONTENT_TYPE, "application/json; charset=utf-16")],
            "accept",
            "application/json",
        ),
        (vec![json.clone(), json.clone()], "accept", "application/json"),
        (
            vec![json.clone(), (header::CONTENT_ENCODING, "gzip")],
            "accept-encoding",
            "identity",
        ),
    ] {
        let response = read(&fields).unwrap_err().problem(&base).into_response();
        assert_eq!(response.status(), 415, "{fields:?}");
        assert_eq!(response.headers()[field], value);
    }
}

/// H28: a host adds the faults of its own rules to the same problem.
#[test]
fn host_adds_faults_of_its_rules() {
    let faults = Faults::from(Fault::new("/amount", "too-small", "must be positive")).with(Fault::new(
        "/customer",
        "unknown-customer",
        "no such customer",
    ));
    let problem = faults.problem(&ProblemBase::new(BASE).unwrap());
    assert_eq!(problem.status(), 422);
    let written: Value = serde_json::from_slice(&problem.to_bytes()).unwrap();
    assert_eq!(written["errors"][1]["code"], "unknown-customer");
    assert_eq!(
        written["type"],
        "https://api.example.com/problems/invalid-content"
    );
}
