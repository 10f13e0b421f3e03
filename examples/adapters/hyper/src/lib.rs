//! Serves a framework-free handler with hyper 1 over HTTP/1.1, with feature `tls` over TLS as well; HTTP/2 ends at the proxy in front.
//!
//! ```no_run
//! # async fn run() -> std::io::Result<()> {
//! use {bytes::Bytes, http::{Request, Response}, http_body_util::Full};
//! let hello = async |_: Request<Bytes>| Response::new(Full::from("hello"));
//! let refuse = |_: &Request<()>, status| Response::builder().status(status).body(Bytes::new()).unwrap_or_default();
//! let listener = std::net::TcpListener::bind("127.0.0.1:8080")?;
//! host_adapter_hyper::serve(listener, hello, refuse, Default::default(), std::future::pending()).await
//! # }
//! ```
use std::convert::Infallible;
use std::{error::Error, future::ready, io, panic::AssertUnwindSafe, pin::pin, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::FutureExt;
use http::{Extensions, HeaderValue, Method, Request, Response, StatusCode, Version, header};
use http_body_util::{BodyExt, Either, Full, LengthLimitError, Limited};
use hyper::{body::Body, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{rt::TokioIo, rt::TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::{net::TcpListener, net::TcpStream, sync::watch, task::JoinSet, time::timeout};

use host_websocket::hyper::Switch;

/// How long a refused upload is still read, so that its sender sees the answer and not a reset.
const LINGER: Duration = Duration::from_secs(1);

/// The bounds of one server.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The largest request body in bytes; 1 MiB by default.
    pub body: usize,
    /// How long a peer may take for the handshake of TLS, then to send a request's head, and again its body; 10 s by default.
    pub read_timeout: Duration,
    /// How long open requests may go on after the shutdown; 30 s by default.
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

/// Serves until `shutdown` completes and the open requests are answered or cut off.
///
/// The request's extensions hold the peer's [`SocketAddr`](std::net::SocketAddr). `refuse` answers instead of the
/// handler: 413 for a body over the limit, 408 for a slow one, 400 for a malformed or broken one and for a head without one
/// `Host`, 500 for a panic. It sees the head of the request, so that its answer can be what every other one is to whoever asks.
/// A response made by [`Upgrade::into_response`](host_websocket::Upgrade::into_response) becomes a WebSocket, or 400 where the request is no
/// handshake; a WebSocket counts as an open request.
/// What is not HTTP is answered by hyper itself. The handler or streaming body of a peer that left is dropped.
///
/// # Errors
/// When the listener cannot be used.
pub async fn serve<H, F, B>(
    listener: std::net::TcpListener,
    handler: H,
    refuse: impl Fn(&Request<()>, StatusCode) -> Response<Bytes> + Send + Sync + 'static,
    limits: Limits,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()>
where
    H: Fn(Request<Bytes>) -> F + Send + Sync + 'static,
    F: Future<Output = Response<B>> + Send,
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    serve_over(Plain, listener, (handler, refuse), limits, shutdown).await
}

/// The same over TLS. Beside the peer's address, the request's extensions hold the [`PeerCertificate`](host_tls::PeerCertificate) of the connection, where
/// it has one; of headers none is ever made.
///
/// A handshake that is slow or fails ends its own connection and holds up no other.
///
/// # Errors
/// When the listener cannot be used.
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
    F: Future<Output = Response<B>> + Send,
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    serve_over(tls, listener, (handler, refuse), limits, shutdown).await
}

/// What HTTP is spoken over.
trait Carrier: Clone + Send + 'static {
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// Makes it of a connection that was just accepted, with what each of its requests is to know.
    fn open(self, stream: TcpStream) -> impl Future<Output = io::Result<(Self::Stream, Extensions)>> + Send;
}

#[derive(Clone)]
struct Plain;

impl Carrier for Plain {
    type Stream = TcpStream;

    fn open(self, stream: TcpStream) -> impl Future<Output = io::Result<(TcpStream, Extensions)>> + Send {
        ready(Ok((stream, Extensions::new())))
    }
}

#[cfg(feature = "tls")]
impl Carrier for host_tls::Tls {
    type Stream = tokio_rustls::server::TlsStream<TcpStream>;

    async fn open(self, stream: TcpStream) -> io::Result<(Self::Stream, Extensions)> {
        let (stream, certificate) = self.accept(stream).await?;
        let mut known = Extensions::new();
        certificate.map(|certificate| known.insert(certificate));
        Ok((stream, known))
    }
}

async fn serve_over<C, H, R, F, B>(
    carrier: C,
    listener: std::net::TcpListener,
    host: (H, R),
    limits: Limits,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()>
where
    C: Carrier,
    H: Fn(Request<Bytes>) -> F + Send + Sync + 'static,
    R: Fn(&Request<()>, StatusCode) -> Response<Bytes> + Send + Sync + 'static,
    F: Future<Output = Response<B>> + Send,
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(listener)?;
    let (host, mut shutdown) = (Arc::new(host), pin!(shutdown));
    let (closing, mut connections) = (watch::Sender::new(false), JoinSet::new());
    loop {
        let (stream, peer) = tokio::select! {
            () = &mut shutdown => break,
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                // out of descriptors, or the peer already left
                Err(_) => { tokio::time::sleep(Duration::from_millis(20)).await; continue }
            },
        };
        // small chunks of a stream must not wait for each other
        stream.set_nodelay(true).ok();
        let (carrier, host, mut closed) = (carrier.clone(), Arc::clone(&host), closing.subscribe());
        connections.spawn(async move {
            let opened = tokio::select! {
                opened = timeout(limits.read_timeout, carrier.open(stream)) => opened,
                _ = closed.changed() => return,
            };
            if let Ok(Ok((stream, mut known))) = opened {
                known.insert(peer);
                converse(stream, known, host, limits, closed).await;
            }
        });
    }
    drop(listener);
    closing.send_replace(true);
    let drained = async { while connections.join_next().await.is_some() {} };
    timeout(limits.drain_timeout, drained).await.ok();
    Ok(())
}

/// Speaks HTTP over one connection until it ends.
async fn converse<S, H, R, F, B>(
    stream: S,
    known: Extensions,
    host: Arc<(H, R)>,
    limits: Limits,
    mut closed: watch::Receiver<bool>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    H: Fn(Request<Bytes>) -> F,
    R: Fn(&Request<()>, StatusCode) -> Response<Bytes>,
    F: Future<Output = Response<B>>,
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + 'static,
{
    let switch = Switch::default();
    let answer = service_fn(|mut request: Request<Incoming>| {
        request.extensions_mut().extend(known.clone());
        let (host, switch) = (Arc::clone(&host), switch.clone());
        async move { Ok::<_, Infallible>(answered(request, host.as_ref(), limits, &switch).await) }
    });
    let mut http = http1::Builder::new();
    let http = http
        .timer(TokioTimer::new())
        .header_read_timeout(limits.read_timeout);
    let connection = http.serve_connection(TokioIo::new(stream), answer);
    let mut connection = pin!(connection.with_upgrades());
    tokio::select! {
        _ = &mut connection => {}
        _ = closed.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await.ok();
        }
    }
    switch.run().await;
}

/// The handler's answer, or the host's refusal.
async fn answered<H, R, F, B>(
    mut request: Request<Incoming>,
    (handler, refuse): &(H, R),
    limits: Limits,
    switch: &Switch,
) -> Response<Either<Full<Bytes>, B>>
where
    H: Fn(Request<Bytes>) -> F,
    R: Fn(&Request<()>, StatusCode) -> Response<Bytes>,
    F: Future<Output = Response<B>>,
    B: Body,
{
    let upgraded = hyper::upgrade::on(&mut request);
    let (parts, body) = request.into_parts();
    let head = Request::from_parts(parts.clone(), ());
    let is_head = *head.method() == Method::HEAD;
    let handled = async {
        check_host(&head)?;
        let body = collect(body, limits).await?;
        let response = handler(Request::from_parts(parts, body)).await;
        let response = with_length(is_head, response).map(Either::Right);
        switch.over(response, &head, upgraded)
    };
    let caught = AssertUnwindSafe(handled).catch_unwind().await;
    caught
        .unwrap_or(Err(StatusCode::INTERNAL_SERVER_ERROR))
        .unwrap_or_else(|status| refuse(&head, status).map(|body| Either::Left(Full::new(body))))
}

async fn collect(mut body: Incoming, limits: Limits) -> Result<Bytes, StatusCode> {
    let limited = Limited::new(&mut body, limits.body).collect();
    match timeout(limits.read_timeout, limited).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let rest = async { while let Some(Ok(_)) = body.frame().await {} };
            timeout(LINGER, rest).await.ok();
            Err(StatusCode::PAYLOAD_TOO_LARGE)
        }
        Ok(Err(_)) => Err(StatusCode::BAD_REQUEST),
        Err(_) => Err(StatusCode::REQUEST_TIMEOUT),
    }
}

/// One `Host`, as [RFC 9112 §3.2](https://www.rfc-editor.org/rfc/rfc9112#section-3.2) asks of HTTP/1.1: a proxy in front may
/// have looked at the other one.
fn check_host(head: &Request<()>) -> Result<(), StatusCode> {
    let hosts = head.headers().get_all(header::HOST).iter().count();
    match hosts == 1 || (hosts == 0 && head.version() < Version::HTTP_11) {
        true => Ok(()),
        false => Err(StatusCode::BAD_REQUEST),
    }
}

/// An answer to HEAD says the length of what it leaves out; hyper does so itself, unless that is nothing.
fn with_length<B: Body>(is_head: bool, mut response: Response<B>) -> Response<B> {
    let has_content = !matches!(
        response.status(),
        StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED
    );
    if is_head && has_content && response.body().size_hint().exact() == Some(0) {
        let length = response.headers_mut().entry(header::CONTENT_LENGTH);
        length.or_insert(HeaderValue::from_static("0"));
    }
    response
}
