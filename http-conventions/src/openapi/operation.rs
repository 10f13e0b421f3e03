//! Parts of an operation that follow from the conventions.

use std::collections::BTreeSet;

use http::StatusCode;
use serde_json::{Map, Value, json};

use super::{Described, Takes, parameters, problems, reference, responses};
use crate::{
    limits::OnStoreFailure,
    patching::{JSON_PATCH, MERGE_PATCH, MOST_OPERATIONS},
    versions::VersionScheme,
};

/// Members `parameters` and `responses` of an operation with these features; `requestBody` of a
/// PATCH.
pub(crate) fn operation(conventions: &Described<'_>, takes: &[Takes]) -> Value {
    let mut names = Vec::new();
    let mut statuses = of_every_request(conventions);
    for part in takes {
        names.extend(parameters_of(*part, conventions));
        statuses.extend(statuses_of(*part, conventions));
    }
    names.extend(parameters::version(conventions).map(|_| parameters::VERSION));
    let parameters: Vec<Value> = names
        .into_iter()
        .map(|name| reference("parameters", name))
        .collect();
    let responses: Map<String, Value> = statuses
        .into_iter()
        .map(|status| {
            (
                status.as_str().to_owned(),
                reference("responses", &responses::name(status)),
            )
        })
        .collect();
    let mut operation = Map::from_iter([
        ("parameters".to_owned(), json!(parameters)),
        ("responses".to_owned(), json!(responses)),
    ]);
    if takes.contains(&Takes::Patch) {
        operation.insert("requestBody".to_owned(), patch());
    }
    Value::Object(operation)
}

/// Content of a PATCH. The host can replace the schema of the merge patch by that of its resource.
fn patch() -> Value {
    let pointer = json!({ "type": "string", "format": "json-pointer" });
    let names = ["add", "remove", "replace", "move", "copy", "test"];
    let operation = json!({
        "type": "object",
        "required": ["op", "path"],
        "properties": { "op": { "enum": names }, "path": pointer, "from": pointer, "value": {} },
    });
    let operations = json!({ "type": "array", "maxItems": MOST_OPERATIONS, "items": operation });
    json!({
        "required": true,
        "content": {
            MERGE_PATCH: { "schema": { "type": "object" } },
            JSON_PATCH: { "schema": operations },
        },
    })
}

/// Statuses that can end any exchange before or in its handler.
fn of_every_request(conventions: &Described<'_>) -> BTreeSet<StatusCode> {
    let mut statuses = BTreeSet::from([
        StatusCode::REQUEST_TIMEOUT,
        StatusCode::PAYLOAD_TOO_LARGE,
        StatusCode::URI_TOO_LONG,
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
        StatusCode::INTERNAL_SERVER_ERROR,
    ]);
    if conventions.checks_hosts {
        statuses.extend([StatusCode::BAD_REQUEST, StatusCode::MISDIRECTED_REQUEST]);
    }
    if let Some(versions) = conventions.versions {
        statuses.extend(match versions.scheme() {
            VersionScheme::Path => vec![StatusCode::NOT_FOUND],
            VersionScheme::Header(_) | VersionScheme::Query(_) => vec![StatusCode::BAD_REQUEST],
            VersionScheme::MediaType(_) => {
                vec![StatusCode::NOT_ACCEPTABLE, StatusCode::UNSUPPORTED_MEDIA_TYPE]
            }
        });
        statuses.extend(versions.end().then_some(StatusCode::GONE));
    }
    if let Some(limiter) = conventions.limiter {
        statuses.insert(StatusCode::TOO_MANY_REQUESTS);
        let closes = limiter.on_failure() == OnStoreFailure::FailClosed;
        statuses.extend(closes.then_some(StatusCode::SERVICE_UNAVAILABLE));
    }
    statuses
}

fn parameters_of(part: Takes, conventions: &Described<'_>) -> Vec<&'static str> {
    match (part, conventions.pages) {
        (Takes::PageBothWays, Some(rules)) if rules.walks_back() => vec!["Limit", "After", "Before"],
        (Takes::Page | Takes::PageBothWays, Some(_)) => vec!["Limit", "After"],
        (Takes::IdempotencyKey, _) if conventions.idempotency.is_some() => vec!["IdempotencyKey"],
        (Takes::ReadPreconditions, _) => vec!["IfNoneMatch"],
        (Takes::Content | Takes::Patch, _) if conventions.requires_digest => vec!["ContentDigest"],
        (Takes::Ranges, _) => vec!["Range", "IfRange"],
        (Takes::WritePreconditions, _) => vec!["IfMatch"],
        _ => Vec::new(),
    }
}

fn statuses_of(part: Takes, conventions: &Described<'_>) -> Vec<StatusCode> {
    match part {
        Takes::Page | Takes::PageBothWays if conventions.pages.is_none() => Vec::new(),
        Takes::Page | Takes::PageBothWays => vec![StatusCode::BAD_REQUEST],
        Takes::IdempotencyKey => of_keys(conventions),
        Takes::ReadPreconditions => vec![StatusCode::NOT_MODIFIED, StatusCode::PRECONDITION_FAILED],
        Takes::WritePreconditions => vec![StatusCode::PRECONDITION_FAILED, StatusCode::PRECONDITION_REQUIRED],
        Takes::Ranges => vec![StatusCode::RANGE_NOT_SATISFIABLE],
        Takes::Content => vec![
            StatusCode::BAD_REQUEST,
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            StatusCode::UNPROCESSABLE_ENTITY,
        ],
        Takes::Patch => vec![
            StatusCode::BAD_REQUEST,
            StatusCode::CONFLICT,
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            StatusCode::UNPROCESSABLE_ENTITY,
        ],
        Takes::ConcurrencyLimit | Takes::Deadline => vec![StatusCode::SERVICE_UNAVAILABLE],
        Takes::CallerConcurrency => vec![StatusCode::TOO_MANY_REQUESTS],
        Takes::GatewayDeadline => vec![StatusCode::GATEWAY_TIMEOUT],
        Takes::Credentials => vec![
            StatusCode::BAD_REQUEST,
            StatusCode::UNAUTHORIZED,
            StatusCode::FORBIDDEN,
        ],
    }
}

/// Statuses of the idempotency problem types, and of a failed store.
fn of_keys(conventions: &Described<'_>) -> Vec<StatusCode> {
    if conventions.idempotency.is_none() {
        return Vec::new();
    }
    let kinds = problems::kinds(conventions);
    let of_keys = kinds.iter().filter(|kind| kind.name.starts_with("Idempotency"));
    let statuses = of_keys.map(|kind| kind.status);
    statuses.chain([StatusCode::SERVICE_UNAVAILABLE]).collect()
}
