//! Error page, for a browser that the server must not redirect to a client.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_FRAME_OPTIONS};
use http::{HeaderName, HeaderValue, Response, StatusCode};

const HEADERS: [(HeaderName, HeaderValue); 5] = [
    (CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
    (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"),
    ),
    (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
];

const BODY: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Sign-in failed</title>\n\
    <h1>Sign-in failed</h1>\n\
    <p>The application you came from sent a request that cannot be answered, or you took too long. \
    Go back to the application and start again.</p>\n</html>\n";

/// Builds the error page, with status 400. The page contains no part of the request.
pub(super) fn error_page() -> Response<Bytes> {
    let mut response = Response::new(Bytes::from_static(BODY.as_bytes()));
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response.headers_mut().extend(HEADERS);
    response
}
