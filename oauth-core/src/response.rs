//! Responses of the endpoints that clients call directly.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, PRAGMA};
use http::{HeaderValue, Response, StatusCode};
use serde::Serialize;

/// JSON response that must not be cached, [RFC 6749
/// §5.1](https://www.rfc-editor.org/rfc/rfc6749#section-5.1).
pub(crate) fn json(status: StatusCode, body: &impl Serialize) -> Response<Bytes> {
    // strings, numbers and maps with string keys cannot fail
    let mut response = Response::new(serde_json::to_vec(body).unwrap_or_default().into());
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    uncached(response)
}

/// Marks the response as not cacheable.
pub(crate) fn uncached(mut response: Response<Bytes>) -> Response<Bytes> {
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(PRAGMA, HeaderValue::from_static("no-cache"));
    response
}
