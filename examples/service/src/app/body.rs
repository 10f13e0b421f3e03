//! The bodies that the service reads and answers with.

use std::convert::Infallible;

use bytes::Bytes;
use host_ports::ContentType;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use http_conventions::caching::CacheControl;
use http_conventions::errors::{ErrorStatus, Problem};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The body of an answer: whole, or a stream of events.
pub type Body = UnsyncBoxBody<Bytes, Infallible>;

/// In characters.
const LONGEST_REASON: usize = 200;

/// A whole body as the adapters take it.
pub(super) fn whole(body: Bytes) -> Body {
    Full::new(body).boxed_unsync()
}

/// A whole answer as the adapters take it.
pub(super) fn full(response: Response<Bytes>) -> Response<Body> {
    response.map(whole)
}

/// Reads a JSON body.
///
/// # Errors
///
/// 415 for another media type and for a content coding, 400 for text that is not JSON of this form.
pub(super) fn read_json<T: DeserializeOwned>(request: &Request<Bytes>) -> Result<T, Problem> {
    if !ContentType::from_headers(request.headers()).is_some_and(|sent| sent.is("application/json")) {
        return Err(Problem::new(ErrorStatus::UNSUPPORTED_MEDIA_TYPE).with_detail("send application/json"));
    }
    if request.headers().contains_key(CONTENT_ENCODING) {
        let detail = "send the body as it is, without Content-Encoding";
        return Err(Problem::new(ErrorStatus::UNSUPPORTED_MEDIA_TYPE).with_detail(detail));
    }
    // a derived structure would also be read from an array of its members
    if request.body().trim_ascii_start().first() != Some(&b'{') {
        return Err(Problem::new(ErrorStatus::BAD_REQUEST).with_detail("the body is not a JSON object"));
    }
    serde_json::from_slice(request.body()).map_err(|error| {
        // the reason may quote the body, which may be large
        let reason: String = error.to_string().chars().take(LONGEST_REASON).collect();
        Problem::new(ErrorStatus::BAD_REQUEST).with_detail(format!("the body is not as expected: {reason}"))
    })
}

/// A JSON answer about one caller's data, which no cache keeps.
pub(super) fn json(status: StatusCode, body: &impl Serialize) -> Response<Bytes> {
    let mut response = Response::new(to_json(body));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    CacheControl::private_no_store().apply(response.headers_mut());
    response
}

/// The JSON of a value of this service, none of which can fail to serialise.
pub(super) fn to_json(body: &impl Serialize) -> Bytes {
    serde_json::to_vec(body).map(Bytes::from).unwrap_or_default()
}
