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
//! | POST of an operation with the token | 202; the events arrive on the stream |
//! | DELETE `?operationId=` with the token | 200; the operation is stopped |
//!
//! The token is sent in the header `X-GraphQL-Event-Stream-Token` or the query parameter `token`.
//! The POST contains `extensions.operationId`, which the client chooses (1 to 256 bytes).
//!
//! | error | status |
//! |---|---|
//! | unknown token, token of another principal, or [expired][reservation] reservation | 404 |
//! | GET that does not accept `text/event-stream`, POST that accepts no JSON | 406 |
//! | GET of a stream that is already open; POST to a stream that is not open | 409 |
//! | POST with the `operationId` of a running operation | 409 |
//! | the operation is larger than [allowed](StreamLimits::with_operation) | 413 |
//! | too many streams or operations (`RATE_LIMITED`) | 429 with `Retry-After: 1` |
//! | any other error of a request in [`http`](crate::http) | the status listed there |
//! | no valid `operationId`, or an operation that cannot start | 400, or 4xx by [profile] |
//!
//! An operation cannot start if it has parse, validation or limit errors, or an unknown document
//! id. A later failure, such as an invalid variable, is an event.
//!
//! When the response ends, the stream and its operations end. All state is in the memory of one
//! process: a host with several processes needs sticky routing.
//!
//! [reservation]: StreamLimits::with_reservation
//! [profile]: crate::http::StatusProfile
//!
//! # Security
//!
//! - [`StreamLimits`] bounds everything that a client can allocate.
//! - A reserved stream that is not open holds no operations. An operation keeps only its document
//!   and variables, not the request body.
//! - All anonymous clients together count as one principal, so one anonymous client can exhaust
//!   the streams of all anonymous clients. The host must refuse anonymous requests, or limit them
//!   by address, before this endpoint.
//!
//! # Performance
//!
//! The stream queues nothing: it polls the next response of an operation after the host took the
//! previous one. If the client is slow, the source of the events decides which events are lost.

mod event;
mod stream;
mod streams;

pub use self::streams::{EventStreams, StreamLimits};
pub(crate) use self::streams::{Missing, Wanted};
