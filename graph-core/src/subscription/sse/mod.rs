//! Server-sent events by the
//! [`graphql-sse`](https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md) protocol.
//!
//! - **Distinct connections mode**, one response per operation:
//!   [`Engine::respond`](crate::Engine::respond) serves it for `Accept: text/event-stream`.
//! - **Single connection mode**, one response for the events of all operations:
//!   [`Engine::respond_single`](crate::Engine::respond_single) serves it at an endpoint of its own,
//!   such as `/graphql/stream`. It is for browsers over HTTP/1.1, which open at most six
//!   connections to a host.
//!
//! # Single connection mode
//!
//! | request | response |
//! |---|---|
//! | PUT | 201 with the token of a reserved stream |
//! | GET with the token and `Accept: text/event-stream` | the stream |
//! | POST with the token, of an operation with `extensions.operationId` | 202; the events arrive on the stream |
//! | DELETE `?operationId=` with the token | 200; the operation is stopped |
//!
//! The token is sent in the header `X-GraphQL-Event-Stream-Token` or the query parameter `token`.
//!
//! | error | status |
//! |---|---|
//! | no `operationId`, or any error of a request in [`http`](crate::http) | 400, or the status listed there |
//! | unknown token, or token of another principal | 404 |
//! | the stream is already open, or not yet open for an operation; the operation id is in use | 409 |
//! | the operation is larger than [allowed](StreamLimits::with_operation) | 413 |
//! | too many streams or operations (`RATE_LIMITED`) | 429 |
//!
//! An operation that fails validation gets 400 at once. A later failure is an event.
//!
//! A stream ends with its response, and its operations end with it. All state is in the memory of
//! one process: a host with several processes needs sticky routing.
//!
//! # Security
//!
//! - [`StreamLimits`] bounds everything that a client can allocate.
//! - A reserved stream that is not open holds no operations. An operation keeps only its document
//!   and variables, not the request body.
//! - All anonymous clients together count as one principal, so one of them can exhaust the streams
//!   of all. A host refuses anonymous requests, or limits them by address, before this endpoint.
//!
//! # Performance
//!
//! Nothing is queued. The next response of an operation is polled after the previous one was taken.
//! With a slow consumer the source of the events decides which events are lost.

mod event;
mod stream;
mod streams;

pub use self::streams::{EventStreams, StreamLimits};
pub(crate) use self::streams::{Missing, Wanted};
