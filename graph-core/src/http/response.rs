//! HTTP responses of the endpoint: a complete body, or a stream.

use std::future::ready;
use std::sync::LazyLock;

use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt as _};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, VARY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, Response, StatusCode};

use super::accept::Rendering;
use super::incremental::{self, DeferFormat};
use super::status::StatusProfile;
use super::stream::EventStream;
use crate::error::ErrorCode;
use crate::response::GraphResponse;
use crate::subscription::{StreamItem, multipart};

/// Response headers by media type. Cloning them is faster than building them for each response.
static JSON: LazyLock<HeaderMap> = LazyLock::new(|| fields("application/json; charset=utf-8"));
static GRAPHQL_RESPONSE: LazyLock<HeaderMap> =
    LazyLock::new(|| fields("application/graphql-response+json; charset=utf-8"));
static EVENT_STREAM: LazyLock<HeaderMap> = LazyLock::new(|| fields("text/event-stream; charset=utf-8"));
static MULTIPART: LazyLock<HeaderMap> = LazyLock::new(|| fields(multipart::MEDIA_TYPE));
static APOLLO: LazyLock<HeaderMap> = LazyLock::new(|| fields(incremental::APOLLO));
static GRAPHQL_JS: LazyLock<HeaderMap> = LazyLock::new(|| fields(incremental::GRAPHQL_JS));
static TEXT: LazyLock<HeaderMap> = LazyLock::new(|| fields("text/plain; charset=utf-8"));
pub(super) static HTML: LazyLock<HeaderMap> = LazyLock::new(|| fields("text/html; charset=utf-8"));

/// HTTP response of [`Engine::respond`](crate::Engine::respond).
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a host must handle every variant")]
pub enum HttpResponse {
    /// Response with a complete body.
    Full(Response<Bytes>),
    /// Response with server-sent events or parts, complete when the stream ends.
    Stream(Response<EventStream>),
}

/// Renders `answer` as a complete response.
pub(crate) fn json(answer: GraphResponse, rendering: Rendering, profile: StatusProfile) -> Response<Bytes> {
    let status = profile.status(&answer, rendering);
    response(status, of(rendering), answer.into_json())
}

/// Renders the responses of a batch, or the one refusal of the whole batch.
pub(crate) fn list(
    answered: Result<Vec<GraphResponse>, GraphResponse>,
    rendering: Rendering,
) -> Response<Bytes> {
    match answered {
        Ok(answers) => {
            let mut body = vec![b'['];
            for (at, answer) in answers.into_iter().enumerate() {
                if at > 0 {
                    body.push(b',');
                }
                body.extend_from_slice(&answer.into_json());
            }
            body.push(b']');
            response(StatusCode::OK, of(rendering), body.into())
        }
        Err(refused) => response(StatusCode::BAD_REQUEST, of(rendering), refused.into_json()),
    }
}

/// Response with one error.
pub(crate) fn refused(status: StatusCode, code: ErrorCode, message: &str) -> Response<Bytes> {
    response(
        status,
        &JSON,
        GraphResponse::request_error(code, message).into_json(),
    )
}

/// Plain text response.
pub(crate) fn text(status: StatusCode, body: Bytes) -> Response<Bytes> {
    response(status, &TEXT, body)
}

/// Headers of a JSON response in the requested media type; streams and the explorer fall back to
/// JSON.
pub(super) fn of(rendering: Rendering) -> &'static HeaderMap {
    match rendering {
        Rendering::GraphqlResponse => &GRAPHQL_RESPONSE,
        Rendering::Json | Rendering::EventStream | Rendering::Explorer => &JSON,
    }
}

/// Renders `answers` as server-sent events in [distinct connections
/// mode](https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md#distinct-connections-mode).
pub(crate) fn events(answers: impl Stream<Item = GraphResponse> + Send + 'static) -> Response<EventStream> {
    let complete = stream::iter([Bytes::from_static(COMPLETE)]);
    event_stream(EventStream::events(answers.map(next_event).chain(complete)))
}

/// Final event of a response with one operation.
const COMPLETE: &[u8] = b"event: complete\ndata:\n\n";

/// Event with one result of the only operation.
fn next_event(response: GraphResponse) -> Bytes {
    let json = response.into_json();
    [b"event: next\ndata: ".as_slice(), &json, b"\n\n"]
        .concat()
        .into()
}

/// Renders the `items` of an open subscription as parts; see [`multipart`].
pub(crate) fn parts(items: impl Stream<Item = StreamItem> + Send + 'static) -> Response<EventStream> {
    let opening = stream::iter([Bytes::from_static(multipart::OPENING)]);
    let parts = items.filter_map(|item| ready(multipart::part(item)));
    let closing = stream::iter([Bytes::from_static(multipart::CLOSING)]);
    let body = EventStream::parts(opening.chain(parts).chain(closing), multipart::HEARTBEAT);
    streamed(&MULTIPART, body)
}

/// Renders the payloads of an operation with deferred fragments as parts; see [`incremental`]. The
/// last payload is marked.
pub(crate) fn deferred(
    payloads: impl Stream<Item = (Vec<u8>, bool)> + Send + 'static,
    format: DeferFormat,
) -> Response<EventStream> {
    let opening = stream::iter([Bytes::from_static(multipart::START)]);
    let parts = payloads.map(|(payload, is_last)| multipart::json(&payload, is_last));
    let body = EventStream::parts(opening.chain(parts), multipart::DEFERRED_HEARTBEAT);
    let fields = match format {
        DeferFormat::Apollo => &APOLLO,
        DeferFormat::GraphqlJs => &GRAPHQL_JS,
    };
    streamed(fields, body)
}

/// Response with the body `events`.
pub(crate) fn event_stream(events: EventStream) -> Response<EventStream> {
    streamed(&EVENT_STREAM, events)
}

fn streamed(fields: &HeaderMap, body: EventStream) -> Response<EventStream> {
    let mut response = response(StatusCode::OK, fields, body);
    // a buffering proxy would delay the events
    let buffering = HeaderName::from_static("x-accel-buffering");
    response
        .headers_mut()
        .insert(buffering, HeaderValue::from_static("no"));
    response
}

pub(super) fn response<B>(status: StatusCode, fields: &HeaderMap, body: B) -> Response<B> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = fields.clone();
    response
}

fn fields(media_type: &'static str) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(4);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    // responses depend on the principal
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    headers.insert(VARY, HeaderValue::from_static("accept"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers
}
