//! Serves a framework-free handler with actix-web 4, which still speaks `http` 0.2: one conversion each way. Over HTTP/1.1, with
//! feature `tls` over TLS as well, and with feature `websocket` WebSockets.
//!
//! ```no_run
//! # async fn run() -> std::io::Result<()> {
//! use {bytes::Bytes, http::{Request, Response}, http_body_util::Full};
//! let hello = async |_: Request<Bytes>| Response::new(Full::from("hello"));
//! let refuse = |_: &Request<()>, status| Response::builder().status(status).body(Bytes::new()).unwrap_or_default();
//! let listener = std::net::TcpListener::bind("127.0.0.1:8080")?;
//! host_adapter_actix::serve(listener, hello, refuse, Default::default(), std::future::pending()).await
//! # }
//! ```
#[cfg(feature = "websocket")]
mod frames;
mod upgrade;

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

type BoxError = Box<dyn Error + Send + Sync>;

/// The bounds of one server.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The largest request body in bytes; 1 MiB by default.
    pub body: usize,
    /// How long a peer may take for the handshake of TLS, then to send a request's head, and again its body; 10 s by default. At
    /// least a second: the clock that actix-web looks at for the head may be half a second late.
    pub read_timeout: Duration,
    /// How long open requests may go on after the shutdown, in whole seconds, at least one; 30 s by default.
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

/// Serves in the current actix system until `shutdown` completes and open requests are answered or cut off.
///
/// The request's extensions hold the peer's [`SocketAddr`](std::net::SocketAddr). `refuse` answers instead of the
/// handler: 413 for a body over the limit, 408 for a slow one, 400 for a malformed or broken one, 500 for a panic. It sees
/// the head of the request, so that its answer can be what every other one is to whoever asks.
/// With feature `websocket`, a response made by `websocket::Upgrade::into_response` becomes a WebSocket, or 400 if the request is
/// not a handshake; a WebSocket counts as an open request.
/// What is not HTTP is answered by actix itself. The handler or streaming body of a peer that left is dropped.
///
/// # Errors
/// When the listener cannot be used.
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

/// The same over TLS. Beside the peer's address, the request's extensions hold the [`PeerCertificate`](host_tls::PeerCertificate) of the connection, where
/// it has one; of headers none is ever made.
///
/// A handshake that is slow or fails ends its own connection and holds up no other. The shutdown waits for those under way, no longer
/// than [`Limits::read_timeout`].
///
/// # Errors
/// When the listener cannot be used.
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

/// What HTTP is spoken over.
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
                let (body, frames) = match upgrade::is_asked_for(&head) {
                    // what comes after the head is not its body
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

/// As many as actix-web keeps connections: those that are slow leave room for others.
#[cfg(feature = "tls")]
const HANDSHAKES: usize = 25_600;

/// Puts the certificate of a connection where its requests have it.
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

/// The head in the words of `http` 1; `None` for one that it cannot say.
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
