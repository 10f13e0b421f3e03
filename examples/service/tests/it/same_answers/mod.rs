//! The same bytes from every server: each request is sent to hyper, axum and actix-web in front of
//! one service, and status, headers and content are compared. Differences of the servers themselves
//! are listed one by one.

mod corpus;

use std::sync::Arc;

use http::Method;
use serde_json::Value;
use service::app::App;
use service::clock::DemoClock;

use crate::desk::{bearer, call, header, json, open};
use crate::possession::Bound;
use crate::servers::Server;

/// A response in comparable form: status line, sorted headers and content.
#[derive(Clone, Debug, Eq, PartialEq)]
struct RecordedResponse {
    status: String,
    fields: Vec<String>,
    content: String,
}

impl RecordedResponse {
    fn of(received: &[u8]) -> Self {
        let received = received
            .strip_prefix(b"HTTP/1.1 100 Continue\r\n\r\n")
            .unwrap_or(received);
        let text = received.escape_ascii().to_string();
        let (head, content) = text.split_once("\\r\\n\\r\\n").unwrap_or((&text, ""));
        let mut lines = head.split("\\r\\n");
        let status = lines.next().unwrap_or_default().to_owned();
        let mut fields: Vec<_> = lines.map(field).collect();
        fields.sort();
        Self {
            status,
            fields,
            content: without_secret(content, "name=\\\"csrf_token\\\" value=\\\""),
        }
    }

    fn code(&self) -> u16 {
        let code = self.status.split(' ').nth(1);
        code.and_then(|code| code.parse().ok()).unwrap_or_default()
    }
}

/// A header with a lower-case name, without values that depend on time or on earlier requests.
fn field(line: &str) -> String {
    let (name, value) = line.split_once(": ").unwrap_or((line, ""));
    let name = name.to_ascii_lowercase();
    let passes = ["date", "dpop-nonce"].contains(&name.as_str())
        || name.ends_with("-reset")
        || name.ends_with("-remaining")
        || name == "ratelimit";
    match passes {
        true => name,
        false => without_secret(&format!("{name}: {value}"), "session=ss_"),
    }
}

/// Masks a random secret of 43 characters that follows `before`.
fn without_secret(text: &str, before: &str) -> String {
    match text.split_once(before) {
        Some((start, rest)) => format!("{start}{before}{}", rest.get(43..).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// A service with one charge, and the values that the corpus needs.
async fn desk() -> (Arc<App>, corpus::Known) {
    let app = open().await;
    let token = bearer(&app, "read:charges write:charges write:refunds").await;
    let key = [("idempotency-key", "\"same-answers\"")];
    let made = call(&app, &token, ("POST", "/v1/charges"), &key, corpus::CHARGE).await;
    let charge = json(&made).get("id").and_then(Value::as_str).unwrap().to_owned();
    let etag = header(made.headers(), "etag").to_owned();
    let bound = Bound::at(Arc::clone(&app), DemoClock::new()).await;
    let proof = bound.proof(Method::GET, "/v1/charges", "");
    let proof = proof.with_access_token(&bound.token).sign(&bound.key).unwrap();
    let (bound, proof) = (bound.token, proof.expose().to_owned());
    let known = corpus::Known {
        token,
        charge,
        etag,
        bound,
        proof,
    };
    (app, known)
}

/// X3: every request of the corpus gets the same response from the three servers.
#[test]
fn the_servers_give_the_same_bytes() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (app, known) = runtime.block_on(desk());
    let servers = Server::all(&app);
    let mut wrong = Vec::new();
    for (name, request) in corpus::requests(&known) {
        let answers = servers
            .each_ref()
            .map(|server| RecordedResponse::of(&server.ask(&request)));
        let alike = answers.iter().all(|answer| *answer == answers[0]);
        if !alike || answers[0].code() == 0 {
            wrong.push(format!("{name}: {answers:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// X3: requests that no handler sees get the listed responses of each server.
#[test]
fn servers_differ_only_as_listed() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let app = runtime.block_on(open());
    let servers = Server::all(&app);
    let mut wrong = Vec::new();
    for (name, request, expected) in corpus::edges() {
        let answers = servers
            .each_ref()
            .map(|server| RecordedResponse::of(&server.ask(&request)).code());
        if answers != expected {
            wrong.push(format!("{name}: {answers:?} and not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for server in &servers {
        let alive = server.ask(b"GET /nowhere HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
        assert!(alive.starts_with(b"HTTP/1.1 404"), "{}", server.name);
    }
}
