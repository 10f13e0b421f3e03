//! HTTP responses of the endpoint: whole, or a stream of server-sent events.

use std::fmt;
use std::pin::Pin;
use std::sync::LazyLock;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt as _};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, VARY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, Response, StatusCode};

use super::accept::Rendering;
use super::status::StatusProfile;
use crate::error::ErrorCode;
use crate::response::GraphResponse;

/// The fields of an answer by its media type: made once, since to copy them takes a fraction of the time.
static JSON: LazyLock<HeaderMap> = LazyLock::new(|| fields("application/json; charset=utf-8"));
static GRAPHQL_RESPONSE: LazyLock<HeaderMap> =
    LazyLock::new(|| fields("application/graphql-response+json; charset=utf-8"));
static EVENT_STREAM: LazyLock<HeaderMap> = LazyLock::new(|| fields("text/event-stream; charset=utf-8"));
static TEXT: LazyLock<HeaderMap> = LazyLock::new(|| fields("text/plain; charset=utf-8"));
pub(super) static HTML: LazyLock<HeaderMap> = LazyLock::new(|| fields("text/html; charset=utf-8"));

/// A comment that keeps a connection alive.
///
/// A host that wants it writes it between two items of an [`EventStream`] whenever its own timer says that nothing was sent
/// for a while; 15 seconds are usual. This crate has no timers.
pub const KEEP_ALIVE: &[u8] = b":\n\n";

/// HTTP response of [`Engine::respond`](crate::Engine::respond).
#[derive(Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a host that did not know of a way to answer must not compile"
)]
pub enum HttpResponse {
    /// A response with its whole body.
    Full(Response<Bytes>),
    /// Server-sent events; the response ends when the stream does.
    Stream(Response<EventStream>),
}

/// The body of a response of `text/event-stream`, one event an item.
///
/// Dropping it ends the operation behind it.
pub struct EventStream {
    events: Pin<Box<dyn Stream<Item = Bytes> + Send>>,
}

impl EventStream {
    pub(crate) fn new(events: impl Stream<Item = Bytes> + Send + 'static) -> Self {
        Self {
            events: Box::pin(events),
        }
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream").finish_non_exhaustive()
    }
}

impl Stream for EventStream {
    type Item = Bytes;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.events.as_mut().poll_next(cx)
    }
}

/// Writes `answer` as a whole response.
pub(crate) fn json(answer: GraphResponse, rendering: Rendering, profile: StatusProfile) -> Response<Bytes> {
    let status = profile.status(&answer, rendering);
    response(status, of(rendering), answer.into_json())
}

/// Writes the answers to a batch, or why there is one for all of them.
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

/// Refuses with one error.
pub(crate) fn refused(status: StatusCode, code: ErrorCode, message: &str) -> Response<Bytes> {
    response(status, &JSON, GraphResponse::refused(code, message).into_json())
}

/// A response that is no envelope.
pub(crate) fn text(status: StatusCode, body: Bytes) -> Response<Bytes> {
    response(status, &TEXT, body)
}

/// The fields of an envelope that is written as the client asked, unless it asked for a stream or the page.
pub(super) fn of(rendering: Rendering) -> &'static HeaderMap {
    match rendering {
        Rendering::GraphqlResponse => &GRAPHQL_RESPONSE,
        Rendering::Json | Rendering::EventStream | Rendering::Explorer => &JSON,
    }
}

/// Writes `answers` as server-sent events of
/// [distinct connections mode](https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md#distinct-connections-mode).
pub(crate) fn events(answers: impl Stream<Item = GraphResponse> + Send + 'static) -> Response<EventStream> {
    let complete = stream::iter([Bytes::from_static(COMPLETE)]);
    event_stream(EventStream::new(answers.map(next_event).chain(complete)))
}

/// End of a response with one operation.
const COMPLETE: &[u8] = b"event: complete\ndata:\n\n";

/// One result of the only operation.
fn next_event(response: GraphResponse) -> Bytes {
    let json = response.into_json();
    [b"event: next\ndata: ".as_slice(), &json, b"\n\n"]
        .concat()
        .into()
}

/// The response whose body is `events`.
pub(crate) fn event_stream(events: EventStream) -> Response<EventStream> {
    let mut response = response(StatusCode::OK, &EVENT_STREAM, events);
    // a proxy that collects the response would hold the events back
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
    // an answer depends on who asks
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    headers.insert(VARY, HeaderValue::from_static("accept"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers
}
