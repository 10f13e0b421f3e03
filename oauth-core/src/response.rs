//! Responses of the endpoints that clients call directly.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, PRAGMA};
use http::{HeaderValue, Response, StatusCode};
use serde::Serialize;

/// Capacity of a new body in bytes: enough for a JWT access token without claims of the host.
const COMMON_LENGTH: usize = 1024;

/// Creates a JSON response with `Cache-Control: no-store`, [RFC 6749
/// §5.1](https://www.rfc-editor.org/rfc/rfc6749#section-5.1).
pub(crate) fn json(status: StatusCode, body: &impl Serialize) -> Response<Bytes> {
    // serialization fails only for maps whose keys are not strings, and no body has such a map
    let mut text = Vec::with_capacity(COMMON_LENGTH);
    if serde_json::to_writer(&mut text, body).is_err() {
        text.clear();
    }
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    uncached(response)
}

/// Adds `Cache-Control: no-store` and `Pragma: no-cache`.
pub(crate) fn uncached(mut response: Response<Bytes>) -> Response<Bytes> {
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(PRAGMA, HeaderValue::from_static("no-cache"));
    response
}
