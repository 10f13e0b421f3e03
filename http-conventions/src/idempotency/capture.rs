//! From an answer to what is kept of it, and back.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header::RETRY_AFTER};

use super::StoredResponse;
use crate::limits::RetryAfter;

/// Set on an answer that was given before.
pub(crate) const IDEMPOTENCY_REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// What belongs to one exchange, connection or origin, not to the outcome.
const OF_ONE_EXCHANGE: [&str; 12] = [
    "connection",
    "content-length",
    "date",
    "keep-alive",
    "proxy-authenticate",
    "retry-after",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-request-id",
];
/// Families of such fields.
const PREFIXES_OF_ONE_EXCHANGE: [&str; 3] = ["access-control-", "ratelimit", "x-ratelimit-"];

/// Answers that say when to come again, whatever else they say.
const OWES_A_WAIT: [StatusCode; 2] = [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE];

/// What is kept of an answer.
pub(super) fn capture(response: &Response<Bytes>) -> StoredResponse {
    let kept = response
        .headers()
        .iter()
        .filter(|(name, _)| belongs_to_outcome(name));
    StoredResponse {
        status: response.status().as_u16(),
        headers: kept
            .map(|(name, value)| (name.as_str().to_owned(), to_bytes(value)))
            .collect(),
        body: response.body().clone(),
    }
}

/// The answer again; absent when a store gave back what is no answer.
pub(super) fn replay(stored: StoredResponse) -> Option<Response<Bytes>> {
    let mut headers = HeaderMap::new();
    for (name, value) in stored.headers {
        let name = HeaderName::try_from(name).ok()?;
        let value = HeaderValue::from_maybe_shared(value).ok()?;
        headers.try_append(name, value).ok()?;
    }
    headers.insert(IDEMPOTENCY_REPLAYED, HeaderValue::from_static("true"));
    let status = StatusCode::from_u16(stored.status).ok()?;
    if OWES_A_WAIT.contains(&status) && !headers.contains_key(RETRY_AFTER) {
        // what the first asked for counted from then; whoever comes again gets the same at any time
        RetryAfter::new(Duration::ZERO).apply(&mut headers);
    }
    let mut response = Response::new(stored.body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    Some(response)
}

fn to_bytes(value: &HeaderValue) -> Bytes {
    Bytes::copy_from_slice(value.as_bytes())
}

fn belongs_to_outcome(name: &HeaderName) -> bool {
    let name = name.as_str();
    !OF_ONE_EXCHANGE.contains(&name)
        && !PREFIXES_OF_ONE_EXCHANGE
            .iter()
            .any(|prefix| name.starts_with(prefix))
}
