//! Checks fields with a syntax of their own.

use std::time::SystemTime;

use bytes::Bytes;
use http::{
    HeaderMap, Response,
    header::{
        ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_ORIGIN, ETAG, ORIGIN, RETRY_AFTER, VARY,
    },
};

use super::{Finding, Rule};
use crate::{
    caching::EntityTag,
    field, http_date,
    limits::{
        RATE_LIMIT, RATE_LIMIT_POLICY, RetryAfter,
        rate_limit::{PLAIN, PREFIXED},
    },
    single_value,
    tracing::{SERVER_TIMING, is_metric},
    versions::{DEPRECATION, SUNSET},
};

/// Placeholder time: it decides the century of two-digit years alone, which servers do not write.
const ANY_TIME: SystemTime = SystemTime::UNIX_EPOCH;

pub(super) fn check(response: &Response<Bytes>, findings: &mut Vec<Finding>) {
    let headers = response.headers();
    retry_after(headers, findings);
    rate_limits(headers, findings);
    origins(headers, findings);
    lifecycle(headers, findings);
    for metric in field::members(headers, &SERVER_TIMING).filter(|metric| !is_metric(metric)) {
        let text = String::from_utf8_lossy(metric);
        findings.push(Finding::new(
            Rule::InvalidServerTiming,
            format!("{SERVER_TIMING}: {text}"),
        ));
    }
    let tag = headers.get(ETAG);
    if let Some(tag) = tag.filter(|tag| EntityTag::parse(tag.as_bytes()).is_err()) {
        findings.push(Finding::new(Rule::InvalidEntityTag, format!("ETag: {tag:?}")));
    }
}

fn retry_after(headers: &HeaderMap, findings: &mut Vec<Finding>) {
    let Some(value) = headers.get(RETRY_AFTER) else {
        return;
    };
    let bytes = value.as_bytes();
    let is_at_once = !bytes.is_empty() && bytes.iter().all(|byte| *byte == b'0');
    if is_at_once || RetryAfter::parse(bytes, ANY_TIME).is_err() {
        findings.push(Finding::new(
            Rule::InvalidRetryAfter,
            format!("Retry-After: {value:?}"),
        ));
    }
}

fn rate_limits(headers: &HeaderMap, findings: &mut Vec<Finding>) {
    // `t` is optional, because a quota need not have a window
    for (name, needed) in [(RATE_LIMIT_POLICY, &b"q"[..]), (RATE_LIMIT, &b"r"[..])] {
        for member in field::members(headers, &name) {
            if !is_limit(member, needed) {
                let text = String::from_utf8_lossy(member);
                findings.push(Finding::new(Rule::InvalidRateLimit, format!("{name}: {text}")));
            }
        }
    }
    // numbers; the third of each is in seconds or a Unix time
    for name in PLAIN.into_iter().chain(PREFIXED) {
        for value in headers.get_all(&name) {
            if !is_number(value.as_bytes()) {
                findings.push(Finding::new(Rule::InvalidRateLimit, format!("{name}: {value:?}")));
            }
        }
    }
}

/// Returns `true` if the member is a string whose parameters are numbers, with the required one,
/// [RFC 9651 §3](https://www.rfc-editor.org/rfc/rfc9651#section-3).
fn is_limit(member: &[u8], needed: &[u8]) -> bool {
    let (name, parameters) = field::split_once(member, b';');
    let is_string = name.len() > 2 && name.starts_with(b"\"") && name.ends_with(b"\"");
    let mut has_needed = false;
    let are_numbers = field::split(parameters.unwrap_or_default(), b';').all(|part| {
        let Some((key, value)) = field::parameter(part) else {
            return false;
        };
        has_needed |= key == needed;
        !matches!(key, b"q" | b"w" | b"r" | b"t") || is_number(value)
    });
    is_string && are_numbers && has_needed
}

fn is_number(text: &[u8]) -> bool {
    // integers of structured fields have at most 15 digits
    (1..=15).contains(&text.len()) && text.iter().all(u8::is_ascii_digit)
}

fn origins(headers: &HeaderMap, findings: &mut Vec<Finding>) {
    let Some(allowed) = headers.get(ACCESS_CONTROL_ALLOW_ORIGIN) else {
        return;
    };
    if allowed == "*" {
        if headers.contains_key(ACCESS_CONTROL_ALLOW_CREDENTIALS) {
            let detail = "any origin, and Access-Control-Allow-Credentials";
            findings.push(Finding::new(Rule::CredentialsForAnyOrigin, detail));
        }
        return;
    }
    let origin = ORIGIN.as_str().as_bytes();
    let varies = |name: &[u8]| name == b"*" || name.eq_ignore_ascii_case(origin);
    if !field::members(headers, &VARY).any(varies) {
        findings.push(Finding::new(
            Rule::NoVaryOrigin,
            format!("{allowed:?} is allowed without Vary: Origin"),
        ));
    }
}

fn lifecycle(headers: &HeaderMap, findings: &mut Vec<Finding>) {
    let deprecated = headers.get(DEPRECATION).map(|value| {
        let seconds = value.to_str().ok().and_then(|text| text.strip_prefix('@'));
        seconds.and_then(|seconds| seconds.parse::<i64>().ok())
    });
    let sunset = headers.contains_key(SUNSET).then(|| {
        let date = single_value(headers, &SUNSET)?;
        let at = http_date::parse(date.as_bytes(), ANY_TIME)?;
        let since = at.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        i64::try_from(since.as_secs()).ok()
    });
    for (name, value) in [(DEPRECATION, deprecated), (SUNSET, sunset)] {
        if value == Some(None) {
            let value = headers.get(&name);
            findings.push(Finding::new(Rule::InvalidLifecycle, format!("{name}: {value:?}")));
        }
    }
    if let (Some(Some(deprecated)), Some(Some(sunset))) = (deprecated, sunset)
        && sunset < deprecated
    {
        let detail = format!("sunset at {sunset}, deprecated at {deprecated}");
        findings.push(Finding::new(Rule::SunsetBeforeDeprecation, detail));
    }
}
