//! Request and response bodies.

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

/// Body of a response: complete, or a stream of server-sent events.
pub type Body = UnsyncBoxBody<Bytes, Infallible>;

/// Maximum length of a parse error in a response, in characters.
const LONGEST_REASON: usize = 200;

/// Complete body in the type of the adapters.
pub(super) fn whole(body: Bytes) -> Body {
    Full::new(body).boxed_unsync()
}

/// Complete response in the type of the adapters.
pub(super) fn full(response: Response<Bytes>) -> Response<Body> {
    response.map(whole)
}

/// Parses a JSON body.
///
/// # Errors
///
/// - 415 for another media type or a content coding
/// - 400 for a body that is not a JSON object of this form
pub(super) fn read_json<T: DeserializeOwned>(request: &Request<Bytes>) -> Result<T, Problem> {
    read(request, "application/json")
}

/// Parses a JSON merge patch ([RFC 7396](https://www.rfc-editor.org/rfc/rfc7396)).
///
/// # Errors
///
/// As [`read_json`].
pub(super) fn read_merge_patch<T: DeserializeOwned>(request: &Request<Bytes>) -> Result<T, Problem> {
    read(request, "application/merge-patch+json")
}

fn read<T: DeserializeOwned>(request: &Request<Bytes>, media_type: &str) -> Result<T, Problem> {
    if !ContentType::from_headers(request.headers()).is_some_and(|sent| sent.is(media_type)) {
        return Err(Problem::new(ErrorStatus::UNSUPPORTED_MEDIA_TYPE)
            .with_detail(format!("the media type is not supported; send {media_type}")));
    }
    if request.headers().contains_key(CONTENT_ENCODING) {
        let detail = "content codings are not supported; send the body without Content-Encoding";
        return Err(Problem::new(ErrorStatus::UNSUPPORTED_MEDIA_TYPE).with_detail(detail));
    }
    // serde would also accept an array of the members
    if request.body().trim_ascii_start().first() != Some(&b'{') {
        return Err(Problem::new(ErrorStatus::BAD_REQUEST).with_detail("the body is not a JSON object"));
    }
    serde_json::from_slice(request.body()).map_err(|error| {
        // the reason may quote the whole body
        let reason: String = error.to_string().chars().take(LONGEST_REASON).collect();
        Problem::new(ErrorStatus::BAD_REQUEST)
            .with_detail(format!("the body does not have the expected form: {reason}"))
    })
}

/// A JSON response with one caller's data, which caches must not store.
pub(super) fn json(status: StatusCode, body: &impl Serialize) -> Response<Bytes> {
    let mut response = Response::new(to_json(body));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    CacheControl::private_no_store().apply(response.headers_mut());
    response
}

/// Serializes a value of this service, which cannot fail.
pub(super) fn to_json(body: &impl Serialize) -> Bytes {
    serde_json::to_vec(body).map(Bytes::from).unwrap_or_default()
}
