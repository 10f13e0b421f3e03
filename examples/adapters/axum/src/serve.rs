//! Serves a router on the server of host-adapter-hyper, with limits that `axum::serve` does not
//! have.

use std::{error::Error, io, net::SocketAddr, sync::Arc};

use axum::{Router, body::Body, extract::ConnectInfo, extract::Request, response::IntoResponse};
use bytes::Bytes;
use futures_util::{FutureExt, future::BoxFuture};
#[cfg(feature = "tls")]
use host_adapter_hyper::serve_streaming_tls;
use host_adapter_hyper::{respond, serve_streaming};
use host_server::read_on;
use http::{StatusCode, header};
use hyper::body::Incoming;
use tower_service::Service;

pub use host_adapter_hyper::{Limits, OpenConnections, check_head};

/// Serves one framework-free handler until `shutdown` completes, then finishes open requests for at
/// most [`Limits::drain_timeout`].
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
    refuse: impl Fn(&http::Request<()>, StatusCode) -> http::Response<Bytes> + Send + Sync + 'static,
    limits: Limits,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()>
where
    H: Fn(http::Request<Bytes>) -> F + Send + Sync + 'static,
    F: Future<Output = http::Response<B>> + Send + 'static,
    B: http_body::Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    let answer = answer(routed(handler, refuse, limits.clone()), None);
    serve_streaming(listener, answer, limits, shutdown).await
}

/// Serves one framework-free handler over TLS, like [`serve`].
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
    refuse: impl Fn(&http::Request<()>, StatusCode) -> http::Response<Bytes> + Send + Sync + 'static,
    limits: Limits,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()>
where
    H: Fn(http::Request<Bytes>) -> F + Send + Sync + 'static,
    F: Future<Output = http::Response<B>> + Send + 'static,
    B: http_body::Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    let answer = answer(routed(handler, refuse, limits.clone()), None);
    serve_streaming_tls((listener, tls), answer, limits, shutdown).await
}

/// Creates a router whose only route is the handler.
fn routed<H, F, B>(
    handler: H,
    refuse: impl Fn(&http::Request<()>, StatusCode) -> http::Response<Bytes> + Send + Sync + 'static,
    limits: Limits,
) -> Router
where
    H: Fn(http::Request<Bytes>) -> F + Send + Sync + 'static,
    F: Future<Output = http::Response<B>> + Send + 'static,
    B: http_body::Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    let host = Arc::new((handler, refuse, limits));
    let answer = move |request: Request| {
        let host = Arc::clone(&host);
        async move {
            let (handler, refuse, limits) = &*host;
            respond(request, handler, refuse, limits).await.map(Body::new)
        }
    };
    Router::new().fallback(answer)
}

/// Serves a router until `shutdown` completes, then finishes open requests for at most
/// [`Limits::drain_timeout`].
///
/// Unlike `axum::serve`, it limits the time for the head of a request, and the time for open
/// requests after `shutdown` has completed.
///
/// - [`Limits::body`] is not applied, and [`Limits::read_timeout`] does not limit the body, because
///   the router reads the bodies. [`Whole`](crate::Whole) waits 10 s for a body; an extractor of
///   axum waits without limit unless a layer of the host limits it.
/// - A refused head gets the status of [`check_head`] without content. The router does not see it.
/// - The client's [`SocketAddr`](std::net::SocketAddr) is in [`ConnectInfo`] and in the extensions
///   of the request.
/// - With feature `websocket`, a response made by `websocket::Upgrade::into_response` becomes a
///   WebSocket, or an empty 400 if the request is not a handshake. axum's own `WebSocketUpgrade`
///   needs no feature of this crate.
///
/// # Errors
///
/// The listener cannot be used.
pub async fn serve_router(
    listener: std::net::TcpListener,
    router: Router,
    limits: Limits,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let answer = answer(router, Some(any_body(&limits)));
    serve_streaming(listener, answer, limits, shutdown).await
}

/// Serves a router over TLS, like [`serve_router`].
///
/// The extensions of a request also hold the [`PeerCertificate`](host_tls::PeerCertificate) of a
/// connection that has one. For tokens bound to a certificate, a layer of the host converts it to
/// an `oauth_core::mtls::ClientCertificate` in the extensions.
///
/// # Errors
///
/// The listener cannot be used.
#[cfg(feature = "tls")]
pub async fn serve_router_tls(
    (listener, tls): (std::net::TcpListener, host_tls::Tls),
    router: Router,
    limits: Limits,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let answer = answer(router, Some(any_body(&limits)));
    serve_streaming_tls((listener, tls), answer, limits, shutdown).await
}

/// The limits without that of the body, which the router applies.
fn any_body(limits: &Limits) -> Limits {
    Limits {
        body: usize::MAX,
        ..limits.clone()
    }
}

/// Makes a handler of the server from the router. With `checked` limits it also checks the heads of
/// the requests.
fn answer(
    router: Router,
    checked: Option<Limits>,
) -> impl Fn(http::Request<Incoming>) -> BoxFuture<'static, http::Response<Body>> + Send + Sync + 'static {
    move |mut request| {
        let check = |limits| check_head(&request, limits);
        if let Some(Err(status)) = checked.as_ref().map(check) {
            let (parts, content) = request.into_parts();
            return async move {
                read_on(&parts.headers, content).await;
                status.into_response()
            }
            .boxed();
        }
        if let Some(peer) = request.extensions().get::<SocketAddr>().copied() {
            request.extensions_mut().insert(ConnectInfo(peer));
        }
        #[cfg(feature = "websocket")]
        let handshake = crate::upgrade::Handshake::of(&request);
        let answered = router.clone().call(request.map(Body::new));
        async move {
            let Ok(mut response) = answered.await;
            if response.status() == StatusCode::NOT_MODIFIED {
                // axum sets the length of the empty body, not that of the unmodified content
                response.headers_mut().remove(header::CONTENT_LENGTH);
            }
            #[cfg(feature = "websocket")]
            let response = crate::upgrade::complete(handshake, response);
            response
        }
        .boxed()
    }
}
