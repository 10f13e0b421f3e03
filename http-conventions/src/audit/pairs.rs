//! Checks of responses to follow-up requests. Some checks compare several responses.

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, Response, StatusCode,
    header::{
        ACCEPT_ENCODING, ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_ORIGIN, AGE, CACHE_CONTROL,
        CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_LOCATION, DATE, ETAG, EXPIRES, RETRY_AFTER, SET_COOKIE,
        TRANSFER_ENCODING, VARY,
    },
};

use super::{Finding, Rule};
use crate::{
    caching::EntityTag, errors::ReceivedProblem, field, idempotency::IDEMPOTENCY_REPLAYED,
    routing::X_REQUEST_ID,
};

/// Fields that a 304 has if the 200 has them, [RFC 9110
/// §15.4.5](https://www.rfc-editor.org/rfc/rfc9110#section-15.4.5).
const KEPT_BY_304: [HeaderName; 5] = [CACHE_CONTROL, CONTENT_LOCATION, ETAG, EXPIRES, VARY];

/// Fields that may differ between exchanges, even if the requests are equal.
static OF_ONE_EXCHANGE: [HeaderName; 7] = [
    AGE,
    CONTENT_LENGTH,
    DATE,
    RETRY_AFTER,
    SET_COOKIE,
    TRANSFER_ENCODING,
    X_REQUEST_ID,
];

/// Compares the responses to a GET and to a HEAD of the same resource. The response to HEAD must
/// have the status and the fields of the response to GET, and no content.
///
/// Ignores fields that belong to one exchange, such as the request id, `Date` and the rate-limit
/// fields. `Content-Length` must be equal if both responses have it.
#[must_use]
pub fn head(get: &Response<Bytes>, head: &Response<Bytes>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut differs = |detail: String| findings.push(Finding::new(Rule::HeadDiffers, detail));
    if get.status() != head.status() {
        differs(format!(
            "GET is a {}, HEAD a {}",
            get.status().as_u16(),
            head.status().as_u16()
        ));
        // responses of different statuses have different fields
        return findings;
    }
    if !head.body().is_empty() {
        differs("HEAD has content".to_owned());
    }
    let lengths = (
        get.headers().get(CONTENT_LENGTH),
        head.headers().get(CONTENT_LENGTH),
    );
    if let (Some(get), Some(head)) = lengths
        && get != head
    {
        differs(format!("Content-Length is {get:?}, and {head:?} by HEAD"));
    }
    for name in get.headers().keys().filter(|name| is_of_representation(name)) {
        if values(get.headers(), name) != values(head.headers(), name) {
            differs(format!("{name} differs"));
        }
    }
    findings
}

fn is_of_representation(name: &HeaderName) -> bool {
    let is_of_one_exchange = OF_ONE_EXCHANGE.contains(name);
    let is_limit = name.as_str().starts_with("ratelimit") || name.as_str().starts_with("x-ratelimit");
    !is_of_one_exchange && !is_limit && name.as_str() != "connection"
}

fn values<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Vec<&'a [u8]> {
    headers
        .get_all(name)
        .iter()
        .map(|value| value.as_bytes())
        .collect()
}

/// Compares the responses to two equal GETs of which only the second accepts a content coding.
///
/// If the second response has `Content-Encoding` and the first has not, they must have different
/// strong entity tags, and `Vary: Accept-Encoding` unless no cache may store them.
#[must_use]
pub fn codings(plain: &Response<Bytes>, encoded: &Response<Bytes>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_encoded = |response: &Response<Bytes>| response.headers().contains_key(CONTENT_ENCODING);
    if is_encoded(plain) || !is_encoded(encoded) {
        return findings;
    }
    let tag = |response: &Response<Bytes>| {
        let tag = response.headers().get(ETAG)?;
        EntityTag::parse(tag.as_bytes()).ok()
    };
    if let (Some(plain), Some(encoded)) = (tag(plain), tag(encoded))
        && plain.strong_eq(&encoded)
    {
        let detail = format!("both codings have {:?}", encoded.header_value());
        findings.push(Finding::new(Rule::SharedEntityTag, detail));
    }
    for (response, name) in [(plain, "without"), (encoded, "in")] {
        let headers = response.headers();
        let is_stored = !field::members(headers, &CACHE_CONTROL)
            .any(|directive| directive.eq_ignore_ascii_case(b"no-store"));
        let accept = ACCEPT_ENCODING.as_str().as_bytes();
        let varies =
            field::members(headers, &VARY).any(|name| name == b"*" || name.eq_ignore_ascii_case(accept));
        if is_stored && !varies {
            let detail = format!("no Vary: Accept-Encoding {name} a content coding");
            findings.push(Finding::new(Rule::NoVaryEncoding, detail));
        }
    }
    findings
}

/// Checks the response to a second GET, whose `If-None-Match` contains the `ETag` of the first
/// response. It must be a 304 with the `Cache-Control`, `Content-Location`, `ETag`, `Expires` and
/// `Vary` of the first response.
///
/// There are no findings if the first response is not a 200 or has no `ETag`.
#[must_use]
pub fn conditional_read(first: &Response<Bytes>, again: &Response<Bytes>) -> Vec<Finding> {
    if first.status() != StatusCode::OK || !first.headers().contains_key(ETAG) {
        return Vec::new();
    }
    if again.status() != StatusCode::NOT_MODIFIED {
        let detail = format!("a {} for the ETag that was just sent", again.status().as_u16());
        return vec![Finding::new(Rule::NotRevalidated, detail)];
    }
    let lost = KEPT_BY_304
        .iter()
        .filter(|name| values(first.headers(), name) != values(again.headers(), name));
    lost.map(|name| {
        Finding::new(
            Rule::NotRevalidated,
            format!("{name} of the 304 differs from the 200"),
        )
    })
    .collect()
}

/// Checks the response to a write whose `If-Match` names an entity tag that never existed. The
/// write must not succeed.
#[must_use]
pub fn stale_write(answer: &Response<Bytes>) -> Vec<Finding> {
    let passed = answer.status().is_success();
    only_if(passed, Rule::LostUpdate, || {
        format!(
            "a {} for an entity tag that never existed",
            answer.status().as_u16()
        )
    })
}

/// Checks the responses to duplicates of one request with one `Idempotency-Key`, in any order.
///
/// One response is the original. Every other response must be one of these:
///
/// - the original response with `Idempotency-Replayed: true`,
/// - a 409 with `Retry-After`,
/// - a 429 or 503,
/// - a 409 whose problem has `original_status`: the request took effect, and its response is not
///   stored.
///
/// There are no findings if no request succeeded.
#[must_use]
pub fn duplicates(answers: &[Response<Bytes>]) -> Vec<Finding> {
    let is_replay = |answer: &&Response<Bytes>| answer.headers().contains_key(IDEMPOTENCY_REPLAYED);
    let (replays, others): (Vec<_>, Vec<_>) = answers
        .iter()
        .filter(|answer| answer.status().is_success())
        .partition(is_replay);
    let mut findings = Vec::new();
    if others.len() > 1 {
        let detail = format!("{} of {} duplicates took effect", others.len(), answers.len());
        findings.push(Finding::new(Rule::RanTwice, detail));
    }
    let first = others.first().or(replays.first());
    for replay in &replays {
        let is_same =
            |first: &&Response<Bytes>| first.status() == replay.status() && first.body() == replay.body();
        if !first.is_some_and(is_same) {
            findings.push(Finding::new(
                Rule::NotReplayed,
                "a replay differs from the first response",
            ));
        }
    }
    if first.is_some() {
        let refused = answers.iter().filter(|answer| !answer.status().is_success());
        findings.extend(refused.filter_map(refused_duplicate));
    }
    findings
}

fn says_it_ran(answer: &Response<Bytes>) -> bool {
    ReceivedProblem::parse(answer.body()).is_ok_and(|problem| problem.extension("original_status").is_some())
}

fn refused_duplicate(answer: &Response<Bytes>) -> Option<Finding> {
    match answer.status() {
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => None,
        StatusCode::CONFLICT if answer.headers().contains_key(RETRY_AFTER) => None,
        StatusCode::CONFLICT if says_it_ran(answer) => None,
        StatusCode::CONFLICT => Some(Finding::new(
            Rule::NotReplayed,
            "a 409 without Retry-After for a duplicate in flight",
        )),
        status => Some(Finding::new(
            Rule::NotReplayed,
            format!("a duplicate is a {}", status.as_u16()),
        )),
    }
}

/// Checks the response to an `Idempotency-Key` that was sent before with another request. It must
/// be a 400, 409 or 422.
#[must_use]
pub fn reused_key(answer: &Response<Bytes>) -> Vec<Finding> {
    let is_refused = matches!(answer.status().as_u16(), 400 | 409 | 422);
    only_if(!is_refused, Rule::KeyReused, || {
        format!("a {} for a key of another request", answer.status().as_u16())
    })
}

/// Checks the response to a page cursor with one changed character. It must be a 400.
#[must_use]
pub fn changed_cursor(answer: &Response<Bytes>) -> Vec<Finding> {
    only_if(
        answer.status() != StatusCode::BAD_REQUEST,
        Rule::TamperedCursor,
        || format!("a {} for a changed cursor", answer.status().as_u16()),
    )
}

/// Checks the response to a `limit` that is not a number or is out of range. It must be a 400.
#[must_use]
pub fn limit_out_of_range(answer: &Response<Bytes>) -> Vec<Finding> {
    only_if(
        answer.status() != StatusCode::BAD_REQUEST,
        Rule::LimitOutOfRange,
        || format!("a {} for a limit out of range", answer.status().as_u16()),
    )
}

/// Checks the response to an unknown method. It must be a 405 or 501.
#[must_use]
pub fn unknown_method(answer: &Response<Bytes>) -> Vec<Finding> {
    let is_refused = matches!(answer.status().as_u16(), 405 | 501);
    only_if(!is_refused, Rule::UnknownMethod, || {
        format!("a {} for an unknown method", answer.status().as_u16())
    })
}

/// Checks the response to a request from `origin`, which no CORS rule lists. The response must not
/// allow that origin to read it with credentials.
#[must_use]
pub fn unlisted_origin(origin: &str, answer: &Response<Bytes>) -> Vec<Finding> {
    let headers = answer.headers();
    let is_allowed = headers
        .get(ACCESS_CONTROL_ALLOW_ORIGIN)
        .is_some_and(|allowed| allowed == origin);
    let has_credentials = headers.contains_key(ACCESS_CONTROL_ALLOW_CREDENTIALS);
    only_if(is_allowed && has_credentials, Rule::ReflectedOrigin, || {
        format!("{origin} may read the answer with credentials")
    })
}

fn only_if(holds: bool, rule: Rule, detail: impl FnOnce() -> String) -> Vec<Finding> {
    match holds {
        true => vec![Finding::new(rule, detail())],
        false => Vec::new(),
    }
}
