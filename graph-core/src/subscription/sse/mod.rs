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
//! | POST with the token, of an operation with `extensions.operationId` (1 to 256 bytes) | 202; the events arrive on the stream |
//! | DELETE `?operationId=` with the token | 200; the operation is stopped |
//!
//! The token is sent in the header `X-GraphQL-Event-Stream-Token` or the query parameter `token`.
//!
//! | error | status |
//! |---|---|
//! | unknown token, token of another principal, or an [expired](StreamLimits::with_reservation) reservation | 404 |
//! | GET that does not accept `text/event-stream`, POST that accepts no JSON | 406 |
//! | GET of a stream that is already open; POST to a stream that is not open | 409 |
//! | POST with the `operationId` of a running operation | 409 |
//! | the operation is larger than [allowed](StreamLimits::with_operation) | 413 |
//! | too many streams or operations (`RATE_LIMITED`) | 429 with `Retry-After: 1` |
//! | any other error of a request in [`http`](crate::http) | the status listed there |
//! | no valid `operationId`; parse, validation and limit errors; unknown document ids | 400, or the 4xx status of the [`StatusProfile`](crate::http::StatusProfile) |
//!
//! A later failure, such as an invalid variable, is an event.
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
//!   of all. The host must refuse anonymous requests, or limit them by address, before this
//!   endpoint.
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
