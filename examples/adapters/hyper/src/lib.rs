#![doc = include_str!("../README.md")]

mod connection;
mod respond;
mod upgrade;

use std::{error::Error, io};

use bytes::Bytes;
use host_server::Plain;
use http::{Request, Response, StatusCode};
use hyper::body::{Body, Incoming};

use crate::connection::{Streaming, Whole, serve_over};

pub use crate::respond::respond;
pub use host_server::{Limits, OpenConnections, check_head};
#[cfg(feature = "websocket")]
pub use host_websocket as websocket;

/// Serves `handler` until `shutdown` completes, then finishes open requests for at most
/// [`Limits::drain_timeout`].
///
/// - The extensions of a request hold the client's [`SocketAddr`](std::net::SocketAddr).
/// - The server calls `refuse` with the head of a request that it refuses, and sends the result:
///   the status of [`check_head`] for a refused head, 413 for a body over the limit, 408 for a slow
///   body, 400 for a malformed or incomplete body, 500 for a panic of the handler.
/// - With feature `websocket`, a response made by `websocket::Upgrade::into_response` becomes a
///   WebSocket, or 400 if the request is not a handshake. A WebSocket counts as an open request.
/// - hyper itself answers a malformed request head, one above 64 KiB, and one with more than 256
///   field lines, without `refuse`.
/// - When a client disconnects, the server drops the streamed body, and the future of a handler of
///   a safe method ([RFC 9110 §9.2.1](https://www.rfc-editor.org/rfc/rfc9110#section-9.2.1)). A
///   handler of an unsafe method runs to its end in a task of its own, for which the shutdown
///   waits.
/// - A client that has only closed its sending half gets its response, within
///   [`Limits::half_closed_timeout`].
///
/// # Errors
///
/// The listener cannot be used.
pub async fn serve<H, F, B>(
    listener: std::net::TcpListener,
    handler: H,
    refuse: impl Fn(&Request<()>, StatusCode) -> Response<Bytes> + Send + Sync + 'static,
    limits: Limits,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()>
where
    H: Fn(Request<Bytes>) -> F + Send + Sync + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    serve_over(Plain, listener, Whole(handler, refuse), limits, shutdown).await
}

/// Serves over TLS, like [`serve`].
///
/// The extensions of a request also hold the [`PeerCertificate`](host_tls::PeerCertificate) of a
/// connection that has one. It is never taken from a header.
///
/// A handshake that is slow or fails ends its own connection and delays no other.
///
/// # Errors
///
/// The listener cannot be used.
#[cfg(feature = "tls")]
pub async fn serve_tls<H, F, B>(
    (listener, tls): (std::net::TcpListener, host_tls::Tls),
    handler: H,
    refuse: impl Fn(&Request<()>, StatusCode) -> Response<Bytes> + Send + Sync + 'static,
    limits: Limits,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()>
where
    H: Fn(Request<Bytes>) -> F + Send + Sync + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    serve_over(tls, listener, Whole(handler, refuse), limits, shutdown).await
}

/// Serves a handler that reads the request's body itself. Adapters of frameworks on hyper use it.
///
/// - [`Limits::body`] is not applied, and [`Limits::read_timeout`] limits only the TLS handshake
///   and the head. The handler must limit the body, for example with [`respond`].
/// - The handler must check the head with [`check_head`]; [`respond`] does.
/// - A panic of the handler ends its connection.
/// - The extensions of a request hold the client's [`SocketAddr`](std::net::SocketAddr).
///
/// # Errors
///
/// The listener cannot be used.
pub async fn serve_streaming<A, F, B>(
    listener: std::net::TcpListener,
    answer: A,
    limits: Limits,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()>
where
    A: Fn(Request<Incoming>) -> F + Send + Sync + 'static,
    F: Future<Output = Response<B>> + Send,
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    serve_over(Plain, listener, Streaming(answer), limits, shutdown).await
}

/// Serves over TLS, like [`serve_streaming`].
///
/// The extensions of a request also hold the [`PeerCertificate`](host_tls::PeerCertificate) of a
/// connection that has one.
///
/// # Errors
///
/// The listener cannot be used.
#[cfg(feature = "tls")]
pub async fn serve_streaming_tls<A, F, B>(
    (listener, tls): (std::net::TcpListener, host_tls::Tls),
    answer: A,
    limits: Limits,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()>
where
    A: Fn(Request<Incoming>) -> F + Send + Sync + 'static,
    F: Future<Output = Response<B>> + Send,
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    serve_over(tls, listener, Streaming(answer), limits, shutdown).await
}
