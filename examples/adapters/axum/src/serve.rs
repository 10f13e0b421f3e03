//! A router on hyper, within bounds that `axum::serve` does not have.

use std::{
    convert::Infallible, error::Error, io, panic::AssertUnwindSafe, pin::pin, sync::Arc, time::Duration,
};

use axum::{Router, body::Body, extract::ConnectInfo, extract::Request};
use bytes::Bytes;
use futures_util::FutureExt;
use host_websocket::hyper::Switch;
use http::{Extensions, StatusCode, Version, header};
use http_body_util::Limited;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::{net::TcpListener, sync::watch, task::JoinSet, time::timeout};
use tower_service::Service;

use crate::carrier::{Carrier, Plain};
use crate::content::collect;

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

/// Serves one framework-free handler until `shutdown` completes and the open requests are answered or cut off.
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
    refuse: impl Fn(&http::Request<()>, StatusCode) -> http::Response<Bytes> + Send + Sync + 'static,
    limits: Limits,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()>
where
    H: Fn(http::Request<Bytes>) -> F + Send + Sync + 'static,
    F: Future<Output = http::Response<B>> + Send,
    B: http_body::Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    let router = routed(handler, refuse, limits);
    serve_over(Plain, listener, router, limits, shutdown).await
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
    refuse: impl Fn(&http::Request<()>, StatusCode) -> http::Response<Bytes> + Send + Sync + 'static,
    limits: Limits,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()>
where
    H: Fn(http::Request<Bytes>) -> F + Send + Sync + 'static,
    F: Future<Output = http::Response<B>> + Send,
    B: http_body::Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    let router = routed(handler, refuse, limits);
    serve_over(tls, listener, router, limits, shutdown).await
}

/// The router whose only route is the handler.
fn routed<H, F, B>(
    handler: H,
    refuse: impl Fn(&http::Request<()>, StatusCode) -> http::Response<Bytes> + Send + Sync + 'static,
    limits: Limits,
) -> Router
where
    H: Fn(http::Request<Bytes>) -> F + Send + Sync + 'static,
    F: Future<Output = http::Response<B>> + Send,
    B: http_body::Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    let host = Arc::new((handler, refuse));
    let answer = move |mut request: Request| {
        let host = Arc::clone(&host);
        async move {
            let (handler, refuse) = &*host;
            let upgraded = hyper::upgrade::on(&mut request);
            let switch = request.extensions_mut().remove::<Switch>().unwrap_or_default();
            let (parts, body) = request.into_parts();
            let head = http::Request::from_parts(parts.clone(), ());
            let handled = async {
                check_host(&head)?;
                let limited = Body::new(Limited::new(body, limits.body));
                let body = collect(limited, limits.read_timeout).await?;
                let response = handler(Request::from_parts(parts, body)).await;
                switch.over(response, &head, upgraded)
            };
            let caught = AssertUnwindSafe(handled).catch_unwind().await;
            match caught.unwrap_or(Err(StatusCode::INTERNAL_SERVER_ERROR)) {
                Ok(response) => response.map(Body::new),
                Err(status) => refuse(&head, status).map(Body::from),
            }
        }
    };
    Router::new().fallback(answer)
}

/// Serves a router until `shutdown` completes and the open requests are answered or cut off.
///
/// As `axum::serve` does, with a bound on how long a head may take and how long open requests may go on: of the limits,
/// [`Limits::body`] is not looked at, and [`Limits::read_timeout`] is for heads alone, as the router reads the bodies: a handler
/// that takes [`Whole`](crate::Whole) waits ten seconds for one, and an extractor of axum's own for as long as the peer likes,
/// unless a layer of the host bounds it. The peer's [`SocketAddr`](std::net::SocketAddr) is in
/// [`ConnectInfo`], and as it is in the request's extensions.
///
/// # Errors
/// When the listener cannot be used.
pub async fn serve_router(
    listener: std::net::TcpListener,
    router: Router,
    limits: Limits,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    serve_over(Plain, listener, router, limits, shutdown).await
}

/// The same over TLS. Beside the peer's address, the request's extensions hold the [`PeerCertificate`](host_tls::PeerCertificate) of the connection, where
/// it has one. It is for a layer of the host to make of it what [`Caller`](crate::Caller) takes tokens with that are bound to one: a
/// [`ClientCertificate`](oauth_core::mtls::ClientCertificate), in the extensions too.
///
/// # Errors
/// When the listener cannot be used.
#[cfg(feature = "tls")]
pub async fn serve_router_tls(
    (listener, tls): (std::net::TcpListener, host_tls::Tls),
    router: Router,
    limits: Limits,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    serve_over(tls, listener, router, limits, shutdown).await
}

async fn serve_over(
    carrier: impl Carrier,
    listener: std::net::TcpListener,
    router: Router,
    limits: Limits,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(listener)?;
    let (stop, mut connections, mut shutdown) = (watch::Sender::new(()), JoinSet::new(), pin!(shutdown));
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
        let (carrier, router, mut stopped) = (carrier.clone(), router.clone(), stop.subscribe());
        connections.spawn(async move {
            let opened = tokio::select! {
                biased;
                opened = timeout(limits.read_timeout, carrier.open(stream)) => opened,
                _stop = stopped.changed() => return,
            };
            if let Ok(Ok((stream, mut known))) = opened {
                known.insert(peer);
                known.insert(ConnectInfo(peer));
                converse(stream, known, router, limits, stopped).await;
            }
        });
    }
    drop((listener, stop));
    let drained = async { while connections.join_next().await.is_some() {} };
    timeout(limits.drain_timeout, drained).await.ok();
    Ok(())
}

/// Speaks HTTP over one connection until it ends.
async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    known: Extensions,
    router: Router,
    limits: Limits,
    mut stopped: watch::Receiver<()>,
) {
    let switch = Switch::default();
    let switches = switch.clone();
    let answer = service_fn(move |mut request: http::Request<Incoming>| {
        request.extensions_mut().extend(known.clone());
        request.extensions_mut().insert(switches.clone());
        let answer = router.clone().call(request.map(Body::new));
        async move {
            let mut answer = answer.await?;
            if answer.status() == StatusCode::NOT_MODIFIED {
                // axum says the length of what it has: nothing, which is not that of what was not modified
                answer.headers_mut().remove(header::CONTENT_LENGTH);
            }
            Ok::<_, Infallible>(answer)
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.read_timeout);
    let connection = http.serve_connection(TokioIo::new(stream), answer);
    let mut connection = pin!(connection.with_upgrades());
    tokio::select! {
        // how a connection ends is its peer's affair
        _ended = connection.as_mut() => {}
        _stop = stopped.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await.ok();
        }
    }
    switch.run().await;
}

/// One `Host`, as [RFC 9112 §3.2](https://www.rfc-editor.org/rfc/rfc9112#section-3.2) asks of HTTP/1.1: a proxy in front may
/// have looked at the other one.
fn check_host(head: &http::Request<()>) -> Result<(), StatusCode> {
    let hosts = head.headers().get_all(header::HOST).iter().count();
    match hosts == 1 || (hosts == 0 && head.version() < Version::HTTP_11) {
        true => Ok(()),
        false => Err(StatusCode::BAD_REQUEST),
    }
}
