//! Request and response bodies.

use std::convert::Infallible;

use bytes::Bytes;
use host_ports::ContentType;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use http_conventions::caching::CacheControl;
use http_conventions::content::{self, JsonReader};
use http_conventions::errors::{Problem, ProblemBase, types};
use http_conventions::patching::ACCEPT_PATCH;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::domain::Fault;

/// Body of a response: complete, or a stream of server-sent events.
pub type Body = UnsyncBoxBody<Bytes, Infallible>;

/// Complete body in the type of the adapters.
pub(super) fn whole(body: Bytes) -> Body {
    Full::new(body).boxed_unsync()
}

/// Content of a complete response, in its extensions.
#[derive(Clone, Debug)]
pub(super) struct Content(pub(super) Bytes);

/// Complete response in the type of the adapters.
pub(super) fn full(mut response: Response<Bytes>) -> Response<Body> {
    let content = Content(response.body().clone());
    response.extensions_mut().insert(content);
    response.map(whole)
}

/// Reads the JSON bodies of the API.
pub(super) const READER: JsonReader = JsonReader::new().with_messages(Fault::DETAILS);

/// Media type of a JSON merge patch.
pub(super) const MERGE_PATCH: &str = "application/merge-patch+json";

/// Reads a JSON body.
///
/// # Errors
///
/// - 415 for another media type or a content coding
/// - 400 for a body that is not JSON, or has a member twice
/// - 422 with all faults of its members
pub(super) fn read_json<T: DeserializeOwned>(
    request: &Request<Bytes>,
    problems: &ProblemBase,
) -> Result<T, Problem> {
    let read = READER.read(request.headers(), request.body());
    read.map_err(|invalid| invalid.problem(problems))
}

/// Reads a JSON merge patch ([RFC 7396](https://www.rfc-editor.org/rfc/rfc7396)).
///
/// # Errors
///
/// As [`read_json`].
pub(super) fn read_merge_patch<T: DeserializeOwned>(
    request: &Request<Bytes>,
    problems: &ProblemBase,
) -> Result<T, Problem> {
    let sent = ContentType::from_headers(request.headers());
    if !sent.is_some_and(|sent| sent.is(MERGE_PATCH) && sent.is_utf8()) {
        let merge_patch = HeaderValue::from_static(MERGE_PATCH);
        return Err(types::UNSUPPORTED_CONTENT
            .problem(problems)
            .with_header(ACCEPT_PATCH, merge_patch));
    }
    content::coding(request.headers(), &[]).map_err(|unsupported| unsupported.problem(problems))?;
    let read = READER.read_bytes(request.body());
    read.map_err(|invalid| invalid.problem(problems))
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
