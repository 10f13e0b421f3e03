//! 304 Not Modified, [RFC 9110 §15.4.5](https://www.rfc-editor.org/rfc/rfc9110#section-15.4.5).

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, Response, StatusCode,
    header::{
        CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, LAST_MODIFIED,
        TRAILER, TRANSFER_ENCODING,
    },
};

use crate::content::{CONTENT_DIGEST, REPR_DIGEST};

/// Fields that describe the content, which a 304 does not have.
const ABOUT_CONTENT: [HeaderName; 9] = [
    CONTENT_ENCODING,
    CONTENT_LANGUAGE,
    CONTENT_LENGTH,
    CONTENT_RANGE,
    CONTENT_TYPE,
    TRAILER,
    TRANSFER_ENCODING,
    CONTENT_DIGEST,
    REPR_DIGEST,
];

/// Builds a 304 response from the headers of the 200 response.
///
/// - Fields that update a stored response stay: `ETag`, `Vary`, `Cache-Control`, `Expires`, `Date`,
///   `Content-Location`.
/// - Fields of this response stay: request id, CORS, cookies.
/// - Fields that describe content are removed.
/// - `Last-Modified` stays only without an `ETag`.
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
