//! Converts a response to its stored form and back.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header::RETRY_AFTER};

use super::StoredResponse;
use crate::limits::RetryAfter;

/// Marks a replayed response.
pub(crate) const IDEMPOTENCY_REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// Fields of one exchange, connection or origin; they are not part of the outcome.
const OF_ONE_EXCHANGE: [&str; 13] = [
    "connection",
    "content-length",
    "date",
    "keep-alive",
    "proxy-authenticate",
    "retry-after",
    "server-timing",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-request-id",
];
/// Prefixes of such fields.
const PREFIXES_OF_ONE_EXCHANGE: [&str; 3] = ["access-control-", "ratelimit", "x-ratelimit-"];

/// Statuses whose responses carry `Retry-After`.
const OWES_A_WAIT: [StatusCode; 2] = [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE];

/// Stored form of a response.
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

/// Restores a stored response; `None` if the store returned an invalid one.
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
        // the stored wait was relative to the first response; a retry gets this one at any time
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
