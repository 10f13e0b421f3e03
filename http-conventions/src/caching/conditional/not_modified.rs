//! The 304, [RFC 9110 §15.4.5](https://www.rfc-editor.org/rfc/rfc9110#section-15.4.5).

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, Response, StatusCode,
    header::{
        CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, LAST_MODIFIED,
        TRAILER, TRANSFER_ENCODING,
    },
};

/// Describes the content that a 304 does not have.
const ABOUT_CONTENT: [HeaderName; 9] = [
    CONTENT_ENCODING,
    CONTENT_LANGUAGE,
    CONTENT_LENGTH,
    CONTENT_RANGE,
    CONTENT_TYPE,
    TRAILER,
    TRANSFER_ENCODING,
    HeaderName::from_static("content-digest"),
    HeaderName::from_static("repr-digest"),
];

/// Turns the headers that a 200 would have into the 304.
///
/// Keeps what a cache updates its stored response with (`ETag`, `Vary`, `Cache-Control`, `Expires`, `Date`,
/// `Content-Location`) and what belongs to the answer itself (request id, CORS, cookies); drops what describes content.
/// `Last-Modified` stays only where there is no `ETag`.
#[must_use]
pub fn not_modified(mut headers: HeaderMap) -> Response<Bytes> {
    for name in ABOUT_CONTENT {
        headers.remove(name);
    }
    if headers.contains_key(ETAG) {
        headers.remove(LAST_MODIFIED);
    }
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    *response.headers_mut() = headers;
    response
}
