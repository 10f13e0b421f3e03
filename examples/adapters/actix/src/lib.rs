//! Serves a framework-free handler with actix-web 4 over HTTP/1.1; features `tls` and `websocket`
//! add TLS and WebSockets. actix-web 4 uses `http` 0.2: each request and response is converted
//! once.
//!
//! ```no_run
//! # async fn run() -> std::io::Result<()> {
//! use {bytes::Bytes, http::{Request, Response}, http_body_util::Full};
//! let hello = async |_: Request<Bytes>| Response::new(Full::from("hello"));
//! let refuse = |_: &Request<()>, status| {
//!     let mut response = Response::new(Bytes::new());
//!     *response.status_mut() = status;
//!     response
//! };
//! let listener = std::net::TcpListener::bind("127.0.0.1:8080")?;
//! let shutdown = std::future::pending();
//! host_adapter_actix::serve(listener, hello, refuse, Default::default(), shutdown).await
//! # }
//! ```

mod connection;
mod convert;
#[cfg(feature = "websocket")]
mod frames;
mod gate;
mod patience;
#[cfg(feature = "oauth")]
mod sign_in;
mod stream;
mod upgrade;
#[cfg(feature = "webhooks")]
mod webhook;
mod whole;

use std::{error::Error, io, net::TcpListener};

use bytes::Bytes;
use host_server::Plain;
use http::{Request, Response, StatusCode};
use http_body::Body;

use crate::connection::serve_over;

pub use host_server::{Limits, OpenConnections, check_head};
#[cfg(feature = "websocket")]
pub use host_websocket as websocket;
#[cfg(feature = "oauth")]
pub use sign_in::{SignInRefusal, SignedIn, sign_in_routes};
#[cfg(feature = "webhooks")]
pub use webhook::{Webhook, WebhookRefusal};
pub use whole::{Whole, WholeRefusal};

type BoxError = Box<dyn Error + Send + Sync>;

/// Converts a response of the four crates to one of actix-web. The body is streamed.
///
/// For handlers of an app of actix-web, which get their request by [`Whole`]. [`serve`] converts
/// requests and responses itself.
pub fn respond<B>(response: Response<B>) -> actix_web::HttpResponse
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + 'static,
{
    convert::answer(response)
}

/// Serves in the current actix system until `shutdown` completes, then finishes open requests for
/// at most [`Limits::drain_timeout`].
///
/// - The extensions of a request hold the client's [`SocketAddr`](std::net::SocketAddr).
/// - The server calls `refuse` with the head of a request that it refuses, and sends the result:
///   the status of [`check_head`] for a refused head, 413 for a body over the limit, 408 for a slow
///   body, 400 for a malformed or incomplete body, 500 for a panic of the handler.
/// - With feature `websocket`, a response made by `websocket::Upgrade::into_response` becomes a
///   WebSocket, or 400 if the request is not a handshake. A WebSocket counts as an open request.
/// - actix itself answers a malformed request head, one above 128 KiB, and one with more than 96
///   field lines, without `refuse`.
/// - When a client disconnects, the server drops the streamed body, and the future of a handler of
///   a safe method ([RFC 9110 §9.2.1](https://www.rfc-editor.org/rfc/rfc9110#section-9.2.1)). A
///   handler of an unsafe method runs to its end in a task of its own, for which the shutdown
///   waits.
/// - A client that has only closed its sending half gets its response, within
///   [`Limits::half_closed_timeout`].
/// - actix-web measures its time limits with a clock that may lag by 0.5 s.
///
/// # Errors
///
/// The listener cannot be used.
pub async fn serve<H, F, B>(
    listener: TcpListener,
    handler: H,
    refuse: impl Fn(&Request<()>, StatusCode) -> Response<Bytes> + Send + Sync + 'static,
    limits: Limits,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()>
where
    H: Fn(Request<Bytes>) -> F + Send + Sync + 'static,
    F: Future<Output = Response<B>> + 'static,
    B: Body<Data = Bytes, Error: Into<BoxError>> + 'static,
{
    serve_over(Plain, listener, (handler, refuse), limits, shutdown).await
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
    (listener, tls): (TcpListener, host_tls::Tls),
    handler: H,
    refuse: impl Fn(&Request<()>, StatusCode) -> Response<Bytes> + Send + Sync + 'static,
    limits: Limits,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()>
where
    H: Fn(Request<Bytes>) -> F + Send + Sync + 'static,
    F: Future<Output = Response<B>> + 'static,
    B: Body<Data = Bytes, Error: Into<BoxError>> + 'static,
{
    serve_over(tls, listener, (handler, refuse), limits, shutdown).await
}
