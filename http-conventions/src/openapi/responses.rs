//! Error responses, one per status.

use std::collections::BTreeMap;

use http::{HeaderName, StatusCode, header};
use serde_json::{Map, Value, json};

use super::{
    Described, fields, named,
    problems::{self, BLANK, Kind},
    reference,
};
use crate::{content::WANT_CONTENT_DIGEST, errors::phrase, patching::ACCEPT_PATCH};

/// Statuses that any host may send.
const OF_ANY_HOST: [StatusCode; 10] = [
    StatusCode::BAD_REQUEST,
    StatusCode::UNAUTHORIZED,
    StatusCode::FORBIDDEN,
    StatusCode::NOT_FOUND,
    StatusCode::METHOD_NOT_ALLOWED,
    StatusCode::REQUEST_TIMEOUT,
    StatusCode::TOO_MANY_REQUESTS,
    StatusCode::INTERNAL_SERVER_ERROR,
    StatusCode::SERVICE_UNAVAILABLE,
    StatusCode::GATEWAY_TIMEOUT,
];

/// Responses of all statuses with a problem, and of 304.
pub(super) fn all(conventions: &Described<'_>) -> Map<String, Value> {
    let kinds = problems::kinds(conventions);
    let mut by_status: BTreeMap<StatusCode, Vec<&Kind>> = BTreeMap::new();
    let of_hosts = conventions
        .checks_hosts
        .then_some(StatusCode::MISDIRECTED_REQUEST);
    for status in OF_ANY_HOST.into_iter().chain(of_hosts) {
        by_status.entry(status).or_default();
    }
    for kind in &kinds {
        by_status.entry(kind.status).or_default().push(kind);
    }
    let refusals = by_status
        .into_iter()
        .map(|(status, kinds)| (name(status), refusal(status, &kinds, conventions)));
    named(refusals.chain([(name(StatusCode::NOT_MODIFIED), not_modified(conventions))]))
}

/// Component name of a status, such as `NotFound`.
pub(super) fn name(status: StatusCode) -> String {
    phrase(status)
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect()
}

fn refusal(status: StatusCode, kinds: &[&Kind], conventions: &Described<'_>) -> Value {
    let mut types: Vec<Value> = kinds
        .iter()
        .map(|kind| reference("schemas", &kind.name))
        .collect();
    types.push(reference("schemas", BLANK));
    json!({
        "description": phrase(status),
        "headers": headers(owed(status, conventions), conventions),
        "content": {
            "application/problem+json": {
                "schema": { "properties": { "status": { "const": status.as_u16() } }, "oneOf": types },
            },
        },
    })
}

/// Header that the status requires, or that only responses of this status have.
fn owed(status: StatusCode, conventions: &Described<'_>) -> Option<HeaderName> {
    match status {
        StatusCode::BAD_REQUEST if conventions.requires_digest => Some(WANT_CONTENT_DIGEST),
        StatusCode::UNAUTHORIZED => Some(header::WWW_AUTHENTICATE),
        StatusCode::METHOD_NOT_ALLOWED => Some(header::ALLOW),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Some(ACCEPT_PATCH),
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => Some(header::RETRY_AFTER),
        StatusCode::RANGE_NOT_SATISFIABLE => Some(header::CONTENT_RANGE),
        _ => None,
    }
}

fn not_modified(conventions: &Described<'_>) -> Value {
    let mut headers = headers(None, conventions);
    headers.extend(fields::of_state());
    json!({ "description": "The client has this state.", "headers": headers })
}

fn headers(more: Option<HeaderName>, conventions: &Described<'_>) -> Map<String, Value> {
    let mut headers = fields::of_every_answer(conventions);
    headers.extend(fields::refer(more));
    headers
}
