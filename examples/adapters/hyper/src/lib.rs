#![doc = include_str!("../README.md")]

mod carrier;
mod upgrade;

use std::convert::Infallible;
use std::{error::Error, io, panic::AssertUnwindSafe, pin::pin, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::FutureExt;
use http::request::Parts;
use http::{Extensions, HeaderValue, Method, Request, Response, StatusCode, Version, header};
use http_body_util::{BodyExt, Either, Full, LengthLimitError};
use hyper::{body::Body, body::Incoming, server::conn::http1, service::service_fn, upgrade::OnUpgrade};
use hyper_util::{rt::TokioIo, rt::TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::{net::TcpListener, sync::watch, task::JoinSet, time::timeout};

use crate::carrier::{Carrier, Plain};
use crate::upgrade::Switch;

#[cfg(feature = "websocket")]
pub use host_websocket as websocket;

/// Time for which a refused upload is still read, so that the client sees the response and not a
/// reset.
const LINGER: Duration = Duration::from_secs(1);

/// Limits of one server.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Size limit of a request body in bytes; 1 MiB by default.
    pub body: usize,
    /// Time limit for each of: the TLS handshake, the head of a request, its body; 10 s by default.
    pub read_timeout: Duration,
    /// Time limit for open requests after the shutdown began; 30 s by default.
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

/// Serves `handler` until `shutdown` completes, then finishes open requests for at most
/// [`Limits::drain_timeout`].
///
/// - The extensions of a request hold the client's [`SocketAddr`](std::net::SocketAddr).
/// - The server calls `refuse` with the head of a request that it refuses, and sends the result:
///   413 for a body over the limit, 408 for a slow body, 400 for a malformed or incomplete body and
///   for a head without exactly one `Host`, 500 for a panic of the handler.
/// - With feature `websocket`, a response made by `websocket::Upgrade::into_response` becomes a
///   WebSocket, or 400 if the request is not a handshake. A WebSocket counts as an open request.
/// - hyper itself answers a malformed request head, without `refuse`.
/// - When a client disconnects, the server drops the future of the handler, or the streamed body.
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
    F: Future<Output = Response<B>> + Send,
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
    F: Future<Output = Response<B>> + Send,
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    serve_over(tls, listener, Whole(handler, refuse), limits, shutdown).await
}

/// Serves a handler that reads the request's body itself. Adapters of frameworks on hyper use it.
///
/// - [`Limits::body`] is not applied, and [`Limits::read_timeout`] limits only the TLS handshake
///   and the head. The handler must limit the body, for example with [`respond`].
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

/// Parts of a connection that all its requests share.
struct Connection {
    /// Extensions of its requests.
    known: Extensions,
    switch: Switch,
    limits: Limits,
}

/// Handler of the requests of a connection.
trait Answer: Send + Sync + 'static {
    type Body: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static;

    fn answer(
        &self,
        request: Request<Incoming>,
        connection: &Connection,
    ) -> impl Future<Output = Response<Self::Body>> + Send;
}

/// A handler that reads the body itself.
struct Streaming<A>(A);

impl<A, F, B> Answer for Streaming<A>
where
    A: Fn(Request<Incoming>) -> F + Send + Sync + 'static,
    F: Future<Output = Response<B>> + Send,
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    type Body = B;

    fn answer(
        &self,
        mut request: Request<Incoming>,
        connection: &Connection,
    ) -> impl Future<Output = Response<B>> + Send {
        request.extensions_mut().extend(connection.known.clone());
        request.extensions_mut().insert(connection.switch.clone());
        (self.0)(request)
    }
}

/// A handler of requests with complete bodies, and the refusals of the host.
struct Whole<H, R>(H, R);

impl<H, R, F, B> Answer for Whole<H, R>
where
    H: Fn(Request<Bytes>) -> F + Send + Sync + 'static,
    R: Fn(&Request<()>, StatusCode) -> Response<Bytes> + Send + Sync + 'static,
    F: Future<Output = Response<B>> + Send,
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    type Body = Either<Full<Bytes>, B>;

    fn answer(
        &self,
        mut request: Request<Incoming>,
        connection: &Connection,
    ) -> impl Future<Output = Response<Self::Body>> + Send {
        let upgraded = hyper::upgrade::on(&mut request);
        request.extensions_mut().extend(connection.known.clone());
        complete(request, &self.0, &self.1, connection, upgraded)
    }
}

async fn serve_over(
    carrier: impl Carrier,
    listener: std::net::TcpListener,
    answer: impl Answer,
    limits: Limits,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(listener)?;
    let (answer, mut shutdown) = (Arc::new(answer), pin!(shutdown));
    let (closing, mut connections) = (watch::Sender::new(false), JoinSet::new());
    loop {
        let (stream, peer) = tokio::select! {
            () = &mut shutdown => break,
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                // no file descriptor is free, or the client already left
                Err(_) => { tokio::time::sleep(Duration::from_millis(20)).await; continue }
            },
        };
        // without Nagle's algorithm, so that small chunks of a stream are sent at once
        stream.set_nodelay(true).ok();
        let (carrier, answer, mut closed) = (carrier.clone(), Arc::clone(&answer), closing.subscribe());
        connections.spawn(async move {
            let opened = tokio::select! {
                opened = timeout(limits.read_timeout, carrier.open(stream)) => opened,
                _ = closed.changed() => return,
            };
            if let Ok(Ok((stream, mut known))) = opened {
                known.insert(peer);
                let connection = Connection {
                    known,
                    switch: Default::default(),
                    limits,
                };
                converse(stream, &connection, &*answer, closed).await;
                connection.switch.run().await;
            }
        });
    }
    drop(listener);
    closing.send_replace(true);
    let drained = async { while connections.join_next().await.is_some() {} };
    timeout(limits.drain_timeout, drained).await.ok();
    Ok(())
}

/// Serves HTTP on one connection until it ends.
async fn converse<S>(
    stream: S,
    connection: &Connection,
    answer: &impl Answer,
    mut closed: watch::Receiver<bool>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let answer = service_fn(|request| answer.answer(request, connection).map(Ok::<_, Infallible>));
    let mut http = http1::Builder::new();
    let http = http
        .timer(TokioTimer::new())
        .header_read_timeout(connection.limits.read_timeout);
    let stream = TokioIo::new(connection.switch.spelled(stream));
    let http = http.serve_connection(stream, answer);
    let mut http = pin!(http.with_upgrades());
    tokio::select! {
        _ = &mut http => {}
        _ = closed.changed() => {
            http.as_mut().graceful_shutdown();
            http.await.ok();
        }
    }
}

/// Reads the body of a request within the limits and returns the response of `handler`, or the
/// response of `refuse` in the cases that [`serve`] lists. Adapters of frameworks on hyper call it
/// in a handler of [`serve_streaming`].
pub async fn respond<I, H, R, F, B>(
    mut request: Request<I>,
    handler: &H,
    refuse: &R,
    limits: Limits,
) -> Response<Either<Full<Bytes>, B>>
where
    I: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Unpin,
    H: Fn(Request<Bytes>) -> F,
    R: Fn(&Request<()>, StatusCode) -> Response<Bytes>,
    F: Future<Output = Response<B>>,
    B: Body,
{
    let upgraded = hyper::upgrade::on(&mut request);
    let switch = request.extensions_mut().remove().unwrap_or_default();
    let connection = Connection {
        known: request.extensions().clone(),
        switch,
        limits,
    };
    complete(request, handler, refuse, &connection, upgraded).await
}

/// Like [`respond`], for a request whose extensions are those of the `connection`.
async fn complete<I, H, R, F, B>(
    request: Request<I>,
    handler: &H,
    refuse: &R,
    connection: &Connection,
    upgraded: OnUpgrade,
) -> Response<Either<Full<Bytes>, B>>
where
    I: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Unpin,
    H: Fn(Request<Bytes>) -> F,
    R: Fn(&Request<()>, StatusCode) -> Response<Bytes>,
    F: Future<Output = Response<B>>,
    B: Body,
{
    let (parts, body) = request.into_parts();
    let mut head = head_of(&parts);
    let is_head = parts.method == Method::HEAD;
    let handled = async {
        check_host(&parts)?;
        let body = collect(body, connection.limits).await?;
        let response = handler(Request::from_parts(parts, body)).await;
        let response = with_length(is_head, response).map(Either::Right);
        connection.switch.complete(response, &head, upgraded)
    };
    let caught = AssertUnwindSafe(handled).catch_unwind().await;
    let handled = caught.unwrap_or(Err(StatusCode::INTERNAL_SERVER_ERROR));
    handled.unwrap_or_else(|status| {
        // only a refusal needs its own copy
        head.extensions_mut().extend(connection.known.clone());
        refuse(&head, status).map(|body| Either::Left(Full::new(body)))
    })
}

/// Copies the head of a request without its extensions.
fn head_of(parts: &Parts) -> Request<()> {
    let mut head = Request::new(());
    head.method_mut().clone_from(&parts.method);
    head.uri_mut().clone_from(&parts.uri);
    *head.version_mut() = parts.version;
    head.headers_mut().clone_from(&parts.headers);
    head
}

async fn collect<I>(mut body: I, limits: Limits) -> Result<Bytes, StatusCode>
where
    I: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Unpin,
{
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    let collected = {
        let mut reading = pin!(read(&mut body, limits.body));
        // most bodies arrive with their head and need no timer
        match reading.as_mut().now_or_never() {
            Some(read) => read,
            None => timeout(limits.read_timeout, reading)
                .await
                .unwrap_or(Err(StatusCode::REQUEST_TIMEOUT)),
        }
    };
    if collected == Err(StatusCode::PAYLOAD_TOO_LARGE) {
        let rest = async { while let Some(Ok(_)) = body.frame().await {} };
        timeout(LINGER, rest).await.ok();
    }
    collected
}

/// Reads a body of at most `limit` bytes. A body in one frame is not copied.
async fn read<I>(body: &mut I, limit: usize) -> Result<Bytes, StatusCode>
where
    I: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Unpin,
{
    let (mut first, mut joined) = (Bytes::new(), Vec::new());
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| match error.into().is::<LengthLimitError>() {
            true => StatusCode::PAYLOAD_TOO_LARGE,
            false => StatusCode::BAD_REQUEST,
        })?;
        let data = frame.into_data().unwrap_or_default();
        if data.len() > limit - first.len().max(joined.len()) {
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
        if first.is_empty() {
            first = data;
        } else {
            if joined.is_empty() {
                joined.extend_from_slice(&first);
            }
            joined.extend_from_slice(&data);
        }
        if body.is_end_stream() {
            break;
        }
    }
    Ok(if joined.is_empty() { first } else { joined.into() })
}

/// Checks that there is exactly one `Host` ([RFC 9112
/// §3.2](https://www.rfc-editor.org/rfc/rfc9112#section-3.2)). If there are two, a proxy in front
/// may have used the other one.
fn check_host(head: &Parts) -> Result<(), StatusCode> {
    let hosts = head.headers.get_all(header::HOST).iter().count();
    match hosts == 1 || (hosts == 0 && head.version < Version::HTTP_11) {
        true => Ok(()),
        false => Err(StatusCode::BAD_REQUEST),
    }
}

/// Sets the length of a HEAD response to that of the omitted content, if that is zero. hyper sets
/// every other length.
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
