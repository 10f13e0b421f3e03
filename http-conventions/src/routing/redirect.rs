//! Redirects.

use bytes::Bytes;
use http::{Method, Response, StatusCode, header::LOCATION};

use crate::routing::Location;

/// For how long a redirect holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "the RFC has no third")]
pub enum Lasting {
    /// For good: 301 or 308. Caches keep it until they are told otherwise, so it cannot be taken back.
    Permanent,
    /// For now: 302 or 307.
    Temporary,
}

/// The same request, its method and content included, is to be sent there.
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

/// 303: the answer to this request is found there, by GET.
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
