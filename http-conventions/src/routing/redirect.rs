//! Redirects.

use bytes::Bytes;
use http::{Method, Response, StatusCode, header::LOCATION};

use crate::routing::Location;

/// Duration of a redirect.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "the RFC has no third kind")]
pub enum Lasting {
    /// Permanent: 301 or 308. Caches may keep it without limit, so it cannot be undone.
    Permanent,
    /// Temporary: 302 or 307.
    Temporary,
}

/// Redirects a request to `location` and keeps its method and content.
#[must_use]
pub fn redirect(method: &Method, lasting: Lasting, location: &Location) -> Response<Bytes> {
    let loses_nothing = matches!(*method, Method::GET | Method::HEAD);
    let status = match (lasting, loses_nothing) {
        (Lasting::Permanent, true) => StatusCode::MOVED_PERMANENTLY,
        (Lasting::Permanent, false) => StatusCode::PERMANENT_REDIRECT,
        (Lasting::Temporary, true) => StatusCode::FOUND,
        (Lasting::Temporary, false) => StatusCode::TEMPORARY_REDIRECT,
    };
    located(status, location)
}

/// Redirects with 303: the client gets the response to this request at `location`, by GET.
#[must_use]
pub fn see_other(location: &Location) -> Response<Bytes> {
    located(StatusCode::SEE_OTHER, location)
}

fn located(status: StatusCode, location: &Location) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = status;
    response.headers_mut().insert(LOCATION, location.header_value());
    response
}
