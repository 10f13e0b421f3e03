//! Server-sent events as [`graphql-sse`](https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md) has them.
//!
//! *Distinct connections*, one response for each operation, is what [`Engine::respond`](crate::Engine::respond) answers to
//! `Accept: text/event-stream`. *Single connection* is for browsers over HTTP/1.1, which open six connections to a host at most: one
//! response carries the events of all operations, and [`Engine::respond_single`](crate::Engine::respond_single) is its endpoint,
//! beside the other, such as `/graphql/stream`.
//!
//! | request | answer |
//! |---|---|
//! | PUT | 201 with the token of a stream, to be opened soon |
//! | GET with the token and `Accept: text/event-stream` | the stream |
//! | POST with the token, of an operation with `extensions.operationId` | 202; its events come by the stream |
//! | DELETE `?operationId=` with the token | 200; the operation is stopped |
//!
//! The token is in `X-GraphQL-Event-Stream-Token`, or in the query as `token`.
//!
//! | what is wrong | status |
//! |---|---|
//! | no `operationId`, or what is wrong with any request of [`http`](crate::http) | 400 and the others there |
//! | no such token, or one that somebody else was given | 404 |
//! | the stream is open already, or an operation comes before it is; an operation has the id of one that runs | 409 |
//! | an operation is longer than [allowed](StreamLimits::with_operation) | 413 |
//! | too many streams or operations: `RATE_LIMITED` | 429 |
//!
//! An operation that does not fit the schema is answered at once with 400, as everywhere. What fails later is an event.
//!
//! A stream ends with its response, and with it what ran on it. All of this is in the memory of one process: a host of several sends a
//! client always to the same one.
//!
//! # Security
//!
//! What clients can make grow has a bound: [`StreamLimits`]. A stream that nobody has opened keeps no operation, and an operation nothing of
//! the request that it came by but its document and variables. Whoever is anonymous shares the streams of one principal with everybody
//! else who is, so that one client can take them all: a host refuses anonymous requests before they come here, or counts them by
//! their addresses.
//!
//! # Slow consumers
//!
//! Nothing is queued: an operation is asked for its next response when the one before is taken. What a slow consumer then misses is
//! for the source of the events to decide.

mod event;
mod stream;
mod streams;

pub use self::streams::{EventStreams, StreamLimits};
pub(crate) use self::streams::{Missing, Wanted};
