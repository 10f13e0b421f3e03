#![doc = include_str!("../README.md")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a case fails by panicking, as a test does"
)]

pub mod attacks;
#[cfg(feature = "tls")]
pub mod authority;
#[cfg(feature = "tls")]
pub mod client_certificates;
pub mod clients;
mod handlers;
mod peer;
pub mod requests;
mod running;
#[cfg(feature = "tls")]
mod secure;
#[cfg(feature = "tls")]
pub mod tls;
#[cfg(feature = "websocket")]
pub mod websockets;

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::Pin;

use bytes::Bytes;
use host_server::Limits;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;

pub use host_ports_conformance::__store;

/// Body of the responses of a [`Handler`].
pub type Body = UnsyncBoxBody<Bytes, io::Error>;

/// A boxed future that may move between threads.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Request handler that the adapter must serve.
pub type Handler = Box<dyn Fn(Request<Bytes>) -> BoxFuture<Response<Body>> + Send + Sync>;

/// Adapter under test.
pub struct Adapter {
    serve: Box<dyn Fn(Server) -> io::Result<()> + Send + Sync>,
}

impl Adapter {
    /// Creates an adapter.
    ///
    /// The kit calls `serve` on a thread of its own. `serve` must start the runtime of the
    /// framework, serve the [`Server`], and return after the [shutdown](Server::shutdown): when
    /// open requests are finished or [`Limits::drain_timeout`] has passed.
    #[must_use]
    pub fn new(serve: impl Fn(Server) -> io::Result<()> + Send + Sync + 'static) -> Self {
        Self {
            serve: Box::new(serve),
        }
    }
}

impl fmt::Debug for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Adapter").finish_non_exhaustive()
    }
}

/// Server that the adapter must run in one test case.
#[non_exhaustive]
pub struct Server {
    /// Socket that accepts the connections.
    pub listener: TcpListener,
    /// TLS of the server. `None` stands for plain HTTP.
    #[cfg(feature = "tls")]
    pub tls: Option<host_tls::Tls>,
    /// Handler for requests with complete bodies of at most 1 MiB.
    pub handler: Handler,
    /// Limits of the server.
    pub limits: Limits,
    /// Completes when the server must begin its shutdown.
    pub shutdown: BoxFuture<()>,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("listener", &self.listener)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// Creates the response with which the adapter must refuse a request with this `head`. The cases
/// compare it byte by byte.
#[must_use]
pub fn refuse(head: &Request<()>, status: StatusCode) -> Response<Bytes> {
    let tag = head.headers().get("x-tag").map(HeaderValue::as_bytes);
    let peer = head.extensions().get::<SocketAddr>();
    let text = format!(
        "{} {} {} {} {}",
        status.as_u16(),
        head.method(),
        head.uri(),
        tag.unwrap_or(b"-").escape_ascii(),
        peer.is_some_and(|peer| peer.ip().is_loopback()),
    );
    let mut response = Response::new(Bytes::from(text));
    *response.status_mut() = status;
    response
}
