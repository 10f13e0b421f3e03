#![doc = include_str!("../README.md")]

mod carrier;
mod upgrade;

use std::convert::Infallible;
use std::{error::Error, io, panic::AssertUnwindSafe, pin::pin, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::{Extensions, HeaderValue, Method, Request, Response, StatusCode, Version, header};
use http_body_util::{BodyExt, Either, Full, LengthLimitError, Limited};
use hyper::{body::Body, body::Incoming, server::conn::http1, service::service_fn};
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
    serve_over(Plain, listener, whole(handler, refuse, limits), limits, shutdown).await
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
    serve_over(tls, listener, whole(handler, refuse, limits), limits, shutdown).await
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
    serve_over(Plain, listener, answer, limits, shutdown).await
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
    serve_over(tls, listener, answer, limits, shutdown).await
}

/// Makes a streaming handler from `handler`, which takes requests with complete bodies.
fn whole<H, R, F, B>(
    handler: H,
    refuse: R,
    limits: Limits,
) -> impl Fn(Request<Incoming>) -> BoxFuture<'static, Response<Either<Full<Bytes>, B>>> + Send + Sync + 'static
where
    H: Fn(Request<Bytes>) -> F + Send + Sync + 'static,
    R: Fn(&Request<()>, StatusCode) -> Response<Bytes> + Send + Sync + 'static,
    F: Future<Output = Response<B>> + Send,
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    let host = Arc::new((handler, refuse));
    move |request| {
        let host = Arc::clone(&host);
        async move { respond(request, &host.0, &host.1, limits).await }.boxed()
    }
}

async fn serve_over<A, F, B>(
    carrier: impl Carrier,
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
                converse(stream, known, answer, limits, closed).await;
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
async fn converse<S, A, F, B>(
    stream: S,
    known: Extensions,
    answer: Arc<A>,
    limits: Limits,
    mut closed: watch::Receiver<bool>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    A: Fn(Request<Incoming>) -> F,
    F: Future<Output = Response<B>>,
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + 'static,
{
    let switch: Switch = Default::default();
    let answer = service_fn(|mut request: Request<Incoming>| {
        request.extensions_mut().extend(known.clone());
        request.extensions_mut().insert(switch.clone());
        let answered = answer(request);
        async move { Ok::<_, Infallible>(answered.await) }
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
    let switch = request.extensions_mut().remove::<Switch>().unwrap_or_default();
    let (parts, body) = request.into_parts();
    let head = Request::from_parts(parts.clone(), ());
    let is_head = *head.method() == Method::HEAD;
    let handled = async {
        check_host(&head)?;
        let body = collect(body, limits).await?;
        let response = handler(Request::from_parts(parts, body)).await;
        let response = with_length(is_head, response).map(Either::Right);
        switch.complete(response, &head, upgraded)
    };
    let caught = AssertUnwindSafe(handled).catch_unwind().await;
    caught
        .unwrap_or(Err(StatusCode::INTERNAL_SERVER_ERROR))
        .unwrap_or_else(|status| refuse(&head, status).map(|body| Either::Left(Full::new(body))))
}

async fn collect<I>(mut body: I, limits: Limits) -> Result<Bytes, StatusCode>
where
    I: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Unpin,
{
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

/// Checks that there is exactly one `Host` ([RFC 9112
/// §3.2](https://www.rfc-editor.org/rfc/rfc9112#section-3.2)). If there are two, a proxy in front
/// may have used the other one.
fn check_host(head: &Request<()>) -> Result<(), StatusCode> {
    let hosts = head.headers().get_all(header::HOST).iter().count();
    match hosts == 1 || (hosts == 0 && head.version() < Version::HTTP_11) {
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
