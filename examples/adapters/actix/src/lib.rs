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
#[cfg(feature = "websocket")]
mod frames;
mod upgrade;
#[cfg(feature = "webhooks")]
mod webhook;

#[cfg(feature = "tls")]
use std::any::Any;
use std::{error::Error, io, net::TcpListener, panic::AssertUnwindSafe, sync::Arc, time::Duration};

#[cfg(feature = "tls")]
use actix_tls::accept::rustls_0_23::TlsStream;
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, body::SizedStream, http as http02};
#[cfg(feature = "tls")]
use actix_web::{dev::Extensions, rt::net::TcpStream};
use actix_web::{rt::time::timeout, web, web::Payload};
use bytes::Bytes;
use futures_util::{FutureExt, TryStreamExt};
use http::{Request, Response, StatusCode, header::CONTENT_LENGTH};
use http_body::Body;
use http_body_util::{BodyDataStream, Full};

#[cfg(feature = "websocket")]
pub use host_websocket as websocket;
#[cfg(feature = "webhooks")]
pub use webhook::{Webhook, WebhookRefusal};

type BoxError = Box<dyn Error + Send + Sync>;

/// Limits of one server.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Size limit of a request body in bytes; 1 MiB by default.
    pub body: usize,
    /// Time limit for each of: the TLS handshake, the head of a request, its body; 10 s by default,
    /// at least 1 s. actix-web checks the limit of a head with a clock that may lag by 0.5 s.
    pub read_timeout: Duration,
    /// Time limit for open requests after the shutdown began, in whole seconds, at least 1 s; 30 s
    /// by default.
    pub drain_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 1 << 20,
            read_timeout: Duration::from_secs(10),
            drain_timeout: Duration::from_secs(30),
        }
    }
}

/// Serves in the current actix system until `shutdown` completes, then finishes open requests for
/// at most [`Limits::drain_timeout`].
///
/// - The extensions of a request hold the client's [`SocketAddr`](std::net::SocketAddr).
/// - The server calls `refuse` with the head of a request that it refuses, and sends the result:
///   413 for a body over the limit, 408 for a slow body, 400 for a malformed or incomplete body,
///   500 for a panic of the handler.
/// - With feature `websocket`, a response made by `websocket::Upgrade::into_response` becomes a
///   WebSocket, or 400 if the request is not a handshake. A WebSocket counts as an open request.
/// - actix itself answers a request that is not HTTP.
/// - When a client leaves, the server drops its handler or streaming body.
///
/// # Errors
///
/// The listener cannot be used.
pub async fn serve<H, F, B>(
    listener: TcpListener,
    handler: H,
    refuse: impl Fn(&Request<()>, StatusCode) -> Response<Bytes> + Send + Sync + 'static,
    limits: Limits,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()>
where
    H: Fn(Request<Bytes>) -> F + Send + Sync + 'static,
    F: Future<Output = Response<B>> + 'static,
    B: Body<Data = Bytes, Error: Into<BoxError>> + 'static,
{
    serve_over(Carrier::Plain, listener, (handler, refuse), limits, shutdown).await
}

/// Serves over TLS, like [`serve`].
///
/// The extensions of a request also hold the [`PeerCertificate`](host_tls::PeerCertificate) of a
/// connection that has one. It is never taken from a header.
///
/// A handshake that is slow or fails ends its own connection and delays no other. The shutdown
/// waits for pending handshakes, for at most [`Limits::read_timeout`].
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
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()>
where
    H: Fn(Request<Bytes>) -> F + Send + Sync + 'static,
    F: Future<Output = Response<B>> + 'static,
    B: Body<Data = Bytes, Error: Into<BoxError>> + 'static,
{
    serve_over(Carrier::Tls(tls), listener, (handler, refuse), limits, shutdown).await
}

/// The transport below HTTP.
enum Carrier {
    Plain,
    #[cfg(feature = "tls")]
    Tls(host_tls::Tls),
}

async fn serve_over<H, R, F, B>(
    carrier: Carrier,
    listener: TcpListener,
    host: (H, R),
    limits: Limits,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()>
where
    H: Fn(Request<Bytes>) -> F + Send + Sync + 'static,
    R: Fn(&Request<()>, StatusCode) -> Response<Bytes> + Send + Sync + 'static,
    F: Future<Output = Response<B>> + 'static,
    B: Body<Data = Bytes, Error: Into<BoxError>> + 'static,
{
    let host = Arc::new(host);
    let handle = move |request: HttpRequest, body: Payload| {
        let host = Arc::clone(&host);
        async move {
            let (handler, refuse) = &*host;
            let Some(head) = head(&request) else {
                return answer(refuse(&Request::new(()), StatusCode::BAD_REQUEST).map(Full::new));
            };
            let parts = head.clone().into_parts().0;
            let handled = async {
                let (body, frames) = match upgrade::is_requested(&head) {
                    // the bytes after the head are frames, not a body
                    true => (Bytes::new(), Some(body)),
                    false => (collect(body, limits).await?, None),
                };
                let response = handler(Request::from_parts(parts, body)).await;
                upgrade::complete(&request, frames, response).await
            };
            let caught = AssertUnwindSafe(handled).catch_unwind().await;
            caught
                .unwrap_or(Err(StatusCode::INTERNAL_SERVER_ERROR))
                .unwrap_or_else(|status| answer(refuse(&head, status).map(Full::new)))
        }
    };
    let server = HttpServer::new(move || App::new().default_service(web::to(handle.clone())))
        .workers(1)
        .tcp_nodelay(true)
        .h1_allow_half_closed(false)
        .client_request_timeout(limits.read_timeout)
        .shutdown_signal(shutdown)
        .shutdown_timeout(limits.drain_timeout.as_secs().max(1));
    let server = match carrier {
        Carrier::Plain => server.listen(listener)?,
        #[cfg(feature = "tls")]
        Carrier::Tls(tls) => {
            let config = rustls::ServerConfig::clone(tls.config());
            server
                .on_connect(move |stream, known| note_certificate(&tls, stream, known))
                .tls_handshake_timeout(limits.read_timeout)
                .max_connection_rate(HANDSHAKES)
                .listen_rustls_0_23(listener, config)?
        }
    };
    server.run().await
}

/// Limit of pending handshakes, equal to actix-web's limit of connections.
#[cfg(feature = "tls")]
const HANDSHAKES: usize = 25_600;

/// Puts the certificate of a connection into the extensions of its requests.
#[cfg(feature = "tls")]
fn note_certificate(tls: &host_tls::Tls, stream: &dyn Any, known: &mut Extensions) {
    let stream = stream.downcast_ref::<TlsStream<TcpStream>>();
    let certificate = stream.and_then(|stream| tls.certificate(stream.get_ref().1.peer_certificates()));
    certificate.map(|certificate| known.insert(certificate));
}

async fn collect(body: Payload, limits: Limits) -> Result<Bytes, StatusCode> {
    let in_time = timeout(limits.read_timeout, body.to_bytes_limited(limits.body)).await;
    let within_limit = in_time.map_err(|_| StatusCode::REQUEST_TIMEOUT)?;
    let whole = within_limit.map_err(|_| StatusCode::PAYLOAD_TOO_LARGE)?;
    whole.map_err(|_| StatusCode::BAD_REQUEST)
}

/// Converts the head to `http` 1; `None` for a head that `http` 1 cannot represent.
fn head(from: &HttpRequest) -> Option<Request<()>> {
    let (method, uri) = (from.method().as_str(), from.uri().to_string());
    let mut request = Request::builder().method(method).uri(uri);
    for (name, value) in from.headers() {
        request = request.header(name.as_str(), value.as_bytes());
    }
    if let Some(peer) = from.peer_addr() {
        request = request.extension(peer);
    }
    #[cfg(feature = "tls")]
    if let Some(certificate) = from.conn_data::<host_tls::PeerCertificate>() {
        request = request.extension(certificate.clone());
    }
    request.body(()).ok()
}

fn answer<B: Body<Data = Bytes, Error: Into<BoxError>> + 'static>(response: Response<B>) -> HttpResponse {
    let (parts, body) = response.into_parts();
    let status = http02::StatusCode::from_u16(parts.status.as_u16());
    let mut answer = HttpResponse::build(status.unwrap_or(http02::StatusCode::INTERNAL_SERVER_ERROR));
    for (name, value) in &parts.headers {
        answer.append_header((name.as_str(), value.as_bytes()));
    }
    let length = parts.headers.get(CONTENT_LENGTH);
    let declared = length.and_then(|length| length.to_str().ok()?.parse().ok());
    let size = declared.or(body.size_hint().exact());
    let chunks = BodyDataStream::new(body).map_err(io::Error::other);
    match size {
        Some(size) => answer.body(SizedStream::new(size, chunks)),
        None => answer.streaming(chunks),
    }
}
