//! Checks the content against status and fields.

use bytes::Bytes;
use host_ports::ContentType;
use http::{Method, Request, Response, header::CONTENT_TYPE};
use serde_json::Value;

use super::{Finding, Rule};
use crate::{errors::PROBLEM_JSON, uri::is_uri_byte};

pub(super) fn check(request: &Request<Bytes>, response: &Response<Bytes>, findings: &mut Vec<Finding>) {
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    let content_type = essence(response);
    let is_problem = content_type.eq_ignore_ascii_case(PROBLEM_JSON.as_bytes());
    let has_content = *request.method() != Method::HEAD;
    match (is_error, is_problem) {
        (true, false) => {
            let text = String::from_utf8_lossy(content_type);
            let detail = format!("a {} of the type {text:?}", status.as_u16());
            findings.push(Finding::new(Rule::NoProblem, detail));
        }
        (true, true) if has_content => {
            let faults = problem_faults(response);
            findings.extend(
                faults
                    .into_iter()
                    .map(|fault| Finding::new(Rule::InvalidProblem, fault)),
            );
        }
        (false, true) => {
            let detail = format!("a {} is a problem", status.as_u16());
            findings.push(Finding::new(Rule::ProblemInSuccess, detail));
        }
        (false, false) if content_type.eq_ignore_ascii_case(b"application/json") => {
            if let Some(fault) = page_fault(response.body()) {
                findings.push(Finding::new(Rule::InvalidPage, fault));
            }
        }
        _ => {}
    }
}

fn essence(response: &Response<Bytes>) -> &[u8] {
    let value = response.headers().get(CONTENT_TYPE);
    ContentType::new(value.map(|value| value.as_bytes()).unwrap_or_default()).essence()
}

fn problem_faults(response: &Response<Bytes>) -> Vec<String> {
    let Ok(Value::Object(problem)) = serde_json::from_slice(response.body()) else {
        return vec!["the content is not a JSON object".to_owned()];
    };
    let mut faults = Vec::new();
    match problem.get("status").map(Value::as_u64) {
        None => {}
        Some(Some(status)) if status == u64::from(response.status().as_u16()) => {}
        Some(_) => faults.push(format!(
            "a {} with the member status {}",
            response.status().as_u16(),
            problem.get("status").unwrap_or(&Value::Null)
        )),
    }
    for name in ["title", "detail"] {
        if problem.get(name).is_some_and(|value| !value.is_string()) {
            faults.push(format!("{name} is not a string"));
        }
    }
    for name in ["type", "instance"] {
        let is_uri = |text: &str| !text.is_empty() && text.bytes().all(is_uri_byte);
        if problem
            .get(name)
            .is_some_and(|value| !value.as_str().is_some_and(is_uri))
        {
            faults.push(format!("{name} is not a URI reference"));
        }
    }
    if problem
        .get("type")
        .and_then(Value::as_str)
        .is_some_and(|text| !text.contains(':'))
    {
        faults.push("type is not an absolute URI".to_owned());
    }
    faults
}

/// Checks a page: an object with `data` and `has_more`.
fn page_fault(body: &[u8]) -> Option<&'static str> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let (data, has_more) = (body.get("data")?, body.get("has_more")?);
    let cursor = body.get("next_cursor");
    if !data.is_array() {
        return Some("data is not an array");
    }
    match (has_more.as_bool(), cursor) {
        (None, _) => Some("has_more is neither true nor false"),
        (_, None) => Some("next_cursor is missing"),
        (Some(true), Some(Value::String(cursor))) if !cursor.is_empty() => None,
        (Some(true), Some(_)) => Some("has_more is true, and next_cursor is not a cursor"),
        (Some(false), Some(Value::Null)) => None,
        (Some(false), Some(_)) => Some("has_more is false, and next_cursor is not null"),
    }
}
