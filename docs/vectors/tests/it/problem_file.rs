//! `problems.json`.

use base64::{Engine, prelude::BASE64_STANDARD};
use http_conventions::errors::ReceivedProblem;
use serde::Serialize;

use crate::file::{Case, VectorFile};

#[derive(Serialize)]
struct Content {
    /// In base64.
    body: String,
    /// Extension to read.
    extension: &'static str,
}

/// The members of a problem; `null` if the body is no problem.
#[derive(Debug, PartialEq, Serialize)]
struct Members {
    #[serde(rename = "type")]
    type_uri: String,
    title: Option<String>,
    status: Option<u16>,
    detail: Option<String>,
    instance: Option<String>,
    /// The extension, if it is an integer or a string.
    extension: Option<Extension>,
}

#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
enum Extension {
    Integer(i64),
    Text(String),
}

fn case(name: &str, body: &[u8]) -> Case<Content, Option<Members>> {
    let text = |text: Option<&str>| text.map(str::to_owned);
    let extension = "balance";
    let expect = ReceivedProblem::parse(body).ok().map(|problem| {
        let member = problem.extension(extension);
        let integer = member.and_then(|member| member.as_integer().map(Extension::Integer));
        Members {
            type_uri: problem.type_uri().to_owned(),
            title: text(problem.title()),
            status: problem.status(),
            detail: text(problem.detail()),
            instance: text(problem.instance()),
            extension: integer
                .or_else(|| member.and_then(|member| text(member.as_str()).map(Extension::Text))),
        }
    });
    let body = BASE64_STANDARD.encode(body);
    Case::new(name, Content { body, extension }, expect)
}

/// H13: the file says how a client reads problem documents.
#[test]
fn problems_are_as_the_crate_reads_them() {
    let printed = r#"{
 "type": "https://example.com/probs/out-of-credit",
 "title": "You do not have enough credit.",
 "detail": "Your current balance is 30, but that costs 50.",
 "instance": "/account/12345/msgs/abc",
 "balance": 30,
 "accounts": ["/account/12345",
              "/account/67890"]
}"#;
    let known = Members {
        type_uri: "https://example.com/probs/out-of-credit".to_owned(),
        title: Some("You do not have enough credit.".to_owned()),
        status: None,
        detail: Some("Your current balance is 30, but that costs 50.".to_owned()),
        instance: Some("/account/12345/msgs/abc".to_owned()),
        extension: Some(Extension::Integer(30)),
    };
    let cases = [
        case("section 3", printed.as_bytes()).known("RFC 9457, section 3", &Some(known)),
        case("no members", b"{}"),
        case("a type that is no string", br#"{"type":7,"title":"No funds"}"#),
        case("a status that is a string", br#"{"status":"403"}"#),
        case("a status of 100", br#"{"status":100}"#),
        case("a status of 599", br#"{"status":599}"#),
        case("a status of 99", br#"{"status":99}"#),
        case("a status of 600", br#"{"status":600}"#),
        case("a status that is no integer", br#"{"status":403.5}"#),
        case(
            "members that are null",
            br#"{"type":null,"title":null,"detail":null}"#,
        ),
        case("an extension of text", br#"{"balance":"thirty"}"#),
        case("an array", b"[]"),
        case("a string", br#""problem""#),
        case("no JSON", b"<html>"),
        case("an empty body", b""),
        case("bytes that are not UTF-8", b"{\"title\":\"\xff\"}"),
        case("two documents", b"{}{}"),
    ];
    VectorFile::new(
        "problems.json",
        "Problem documents as a client reads them, RFC 9457, section 3.1",
    )
    .with_cases("received", &cases)
    .check();
}
