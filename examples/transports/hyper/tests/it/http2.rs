//! HTTP/2 by ALPN.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use h2::server::{Builder, Connection, SendResponse};
use host_ports::{ExchangeLimits, Transport, TransportErrorKind, Truncated};
use host_transport_conformance::Names;
use host_transport_conformance::receiver::{LOOPBACK, NAME, Receiver, post};
use host_transport_conformance::tls::roots;
use host_transport_hyper::HyperTransport;
use http::{Request, Response, Version};
use tokio::net::TcpStream;
use tokio::sync::{Barrier, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Instant, pause};
use tokio_rustls::server::TlsStream;

use crate::Resolver;
use crate::servers::{Server, accept, transport_to};

type Http2 = Connection<TlsStream<TcpStream>, Bytes>;
type Received = (Request<h2::RecvStream>, SendResponse<Bytes>);

/// Serves HTTP/2, each request in a task of its own. `serve` gets the number of the connection.
fn serve<F>(
    receiver: Receiver,
    builder: Builder,
    serve: impl Fn(Received, usize) -> F + Clone + Send + Sync + 'static,
) -> Server
where
    F: Future<Output = ()> + Send + 'static,
{
    Server::start(receiver, move |stream, number| {
        let (builder, serve) = (builder.clone(), serve.clone());
        async move {
            let Some(mut http2) = handshake(stream, &builder).await else {
                return;
            };
            while let Some(Ok(received)) = http2.accept().await {
                tokio::spawn(serve(received, number));
            }
        }
    })
}

async fn handshake(stream: TcpStream, builder: &Builder) -> Option<Http2> {
    let stream = accept(stream, b"h2").await?;
    builder.handshake(stream).await.ok()
}

fn answer(mut respond: SendResponse<Bytes>, body: &'static [u8]) {
    let mut stream = respond.send_response(Response::new(()), false).unwrap();
    stream.send_data(Bytes::from_static(body), true).unwrap();
}

async fn exchange(transport: &HyperTransport, url: &str) {
    let response = transport.send(post(url)).await.unwrap();
    assert_eq!(response.body().as_ref(), b"ok");
    assert_eq!(response.version(), Version::HTTP_2);
}

/// W31: 64 concurrent requests share one HTTP/2 connection, also if none was open.
#[tokio::test]
async fn concurrent_requests_share_a_connection() {
    let receiver = Receiver::bind().await;
    let (transport, url) = (transport_to(&receiver), receiver.url("https", NAME));
    let all = Arc::new(Barrier::new(64));
    let server = serve(receiver, Builder::new(), move |(_, respond), _| {
        let all = Arc::clone(&all);
        async move {
            all.wait().await;
            answer(respond, b"ok");
        }
    });
    for _ in 0..2 {
        let mut exchanges = JoinSet::new();
        for _ in 0..64 {
            let (transport, url) = (transport.clone(), url.clone());
            exchanges.spawn(async move { exchange(&transport, &url).await });
        }
        exchanges.join_all().await;
    }
    assert_eq!(server.connections(), 1);
}

/// W31: a client has at most as many streams open as the server allows; further requests wait.
#[tokio::test]
async fn server_limits_the_number_of_streams() {
    let receiver = Receiver::bind().await;
    let (transport, url) = (transport_to(&receiver), receiver.url("https", NAME));
    let mut builder = Builder::new();
    builder.max_concurrent_streams(2);
    let server = serve(receiver, builder, |(_, respond), _| async move {
        tokio::task::yield_now().await;
        answer(respond, b"ok");
    });
    exchange(&transport, &url).await;
    let mut exchanges = JoinSet::new();
    for _ in 0..16 {
        let (transport, url) = (transport.clone(), url.clone());
        // a stream over the limit would be refused
        exchanges.spawn(async move { exchange(&transport, &url).await });
    }
    exchanges.join_all().await;
    assert_eq!(server.connections(), 1);
}

/// W10: the request names its target in pseudo-header fields, and has no field of a connection,
/// whatever the caller sets.
#[tokio::test]
async fn request_is_framed_for_http_2() {
    let receiver = Receiver::bind().await;
    let (transport, url) = (transport_to(&receiver), receiver.url("https", NAME));
    let authority = format!("{NAME}:{}", receiver.port);
    let (seen, mut requests) = mpsc::unbounded_channel();
    let _server = serve(receiver, Builder::new(), move |(request, respond), _| {
        let seen = seen.clone();
        async move {
            let (head, mut body) = request.into_parts();
            let body = body.data().await.unwrap().unwrap();
            seen.send((head, body)).unwrap();
            answer(respond, b"ok");
        }
    });
    let request = Request::post(url)
        .header("webhook-id", "evt_1")
        .header("host", "metadata.google.internal")
        .header("connection", "close")
        .header("keep-alive", "timeout=5")
        .header("te", "gzip")
        .header("upgrade", "h2c")
        .header("content-length", "99")
        .header("transfer-encoding", "chunked")
        .body(Bytes::from_static(b"{}"));
    let response = transport.send(request.unwrap()).await.unwrap();
    assert_eq!(response.body().as_ref(), b"ok");
    let (head, body) = requests.recv().await.unwrap();
    assert_eq!((head.method.as_str(), &*body), ("POST", b"{}".as_slice()));
    assert_eq!(head.uri.authority().unwrap().as_str(), authority);
    assert_eq!(head.uri.path_and_query().unwrap().as_str(), "/in?a=1");
    let mut names: Vec<_> = head.headers.keys().map(|name| name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["accept-encoding", "content-length", "webhook-id"]);
    assert_eq!(head.headers["content-length"], "2");
}

/// W12, W32: a body that is too long, or late, resets its stream. The connection stays usable.
#[tokio::test]
async fn truncated_body_resets_its_stream_alone() {
    let receiver = Receiver::bind().await;
    let (transport, url) = (transport_to(&receiver), receiver.url("https", NAME));
    let (reset, mut resets) = mpsc::unbounded_channel();
    let server = serve(receiver, Builder::new(), move |(_, mut respond), _| {
        let reset = reset.clone();
        async move {
            let mut stream = respond.send_response(Response::new(()), false).unwrap();
            stream.send_data(Bytes::from_static(b"too long"), false).unwrap();
            let reason = std::future::poll_fn(|context| stream.poll_reset(context)).await;
            reset.send(reason.unwrap()).unwrap();
        }
    });
    let capped = ExchangeLimits {
        max_response_body: 3,
        ..Default::default()
    };
    let late = ExchangeLimits {
        body_timeout: Some(Duration::from_millis(50)),
        ..Default::default()
    };
    for (limits, expected) in [(capped, "too"), (late, "too long"), (capped, "too")] {
        let mut request = post(&url);
        request.extensions_mut().insert(limits);
        let response = transport.send(request).await.unwrap();
        assert_eq!(response.body(), expected.as_bytes());
        assert!(response.extensions().get::<Truncated>().is_some());
        assert_eq!(resets.recv().await, Some(h2::Reason::CANCEL));
    }
    assert_eq!(server.connections(), 1);
}

/// W12: a head over 65,536 bytes, or of 101 or 10,000 fields, is too large. One of 100 fields is
/// read.
#[tokio::test]
async fn large_heads_are_refused() {
    for (count, size, expected) in [
        (100, 600, Ok(100)),
        (1, 65_000, Ok(1)),
        (1, 66_000, Err(TransportErrorKind::TooLarge)),
        (101, 1, Err(TransportErrorKind::TooLarge)),
        (10_000, 1, Err(TransportErrorKind::TooLarge)),
    ] {
        let receiver = Receiver::bind().await;
        let (transport, url) = (transport_to(&receiver), receiver.url("https", NAME));
        let _server = serve(receiver, Builder::new(), move |(_, mut respond), _| async move {
            let mut response = Response::new(());
            let value: http::HeaderValue = "x".repeat(size).parse().unwrap();
            for _ in 0..count {
                response.headers_mut().append("a", value.clone());
            }
            respond.send_response(response, true).ok();
        });
        let sent = transport.send(post(&url)).await;
        let fields = sent.map(|response| response.headers().len());
        assert_eq!(fields.map_err(|error| error.kind()), expected, "{count} {size}");
    }
}

/// W31: a request that the server refuses (`REFUSED_STREAM`) is sent once more on a new connection,
/// and no third time.
#[tokio::test]
async fn refused_stream_is_sent_once_more() {
    let receiver = Receiver::bind().await;
    let (transport, url) = (transport_to(&receiver), receiver.url("https", NAME));
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&requests);
    let server = serve(receiver, Builder::new(), move |(_, mut respond), _| {
        let number = counted.fetch_add(1, Ordering::SeqCst);
        async move {
            match number {
                0 | 2 => answer(respond, b"ok"),
                _ => respond.send_reset(h2::Reason::REFUSED_STREAM),
            }
        }
    });
    exchange(&transport, &url).await;
    exchange(&transport, &url).await;
    assert_eq!((server.connections(), requests.load(Ordering::SeqCst)), (2, 3));
    let refused = transport.send(post(&url)).await.unwrap_err();
    assert_eq!(refused.kind(), TransportErrorKind::Other);
    assert_eq!(requests.load(Ordering::SeqCst), 5);
}

/// W31: a POST whose stream is reset for another reason is not sent again.
#[tokio::test]
async fn reset_stream_is_not_sent_again() {
    for reason in [
        h2::Reason::INTERNAL_ERROR,
        h2::Reason::CANCEL,
        h2::Reason::NO_ERROR,
    ] {
        let receiver = Receiver::bind().await;
        let (transport, url) = (transport_to(&receiver), receiver.url("https", NAME));
        let requests = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&requests);
        let _server = serve(receiver, Builder::new(), move |(_, mut respond), _| {
            let number = counted.fetch_add(1, Ordering::SeqCst);
            async move {
                match number {
                    0 => answer(respond, b"ok"),
                    _ => respond.send_reset(reason),
                }
            }
        });
        exchange(&transport, &url).await;
        let failed = transport.send(post(&url)).await.unwrap_err();
        assert_eq!(failed.kind(), TransportErrorKind::Other, "{reason:?}");
        assert_eq!(requests.load(Ordering::SeqCst), 2, "{reason:?}");
    }
}

/// W31: after a timeout, before the head or in the body, the connection takes no further requests,
/// since its server may be gone.
#[tokio::test]
async fn timeout_ends_the_reuse_of_the_connection() {
    let receiver = Receiver::bind().await;
    let (transport, url) = (transport_to(&receiver), receiver.url("https", NAME));
    let server = serve(receiver, Builder::new(), |(request, mut respond), _| async move {
        let silent_in = request.headers().get("x-silent-in");
        match silent_in.map(|stage| stage.as_bytes()) {
            None => answer(respond, b"ok"),
            Some(b"head") => std::future::pending::<()>().await,
            Some(_) => {
                let _open = respond.send_response(Response::new(()), false).unwrap();
                std::future::pending::<()>().await;
            }
        }
    });
    exchange(&transport, &url).await;
    for (stage, expected) in [("head", 2), ("body", 3)] {
        let mut silent = post(&url);
        silent.headers_mut().insert("x-silent-in", stage.parse().unwrap());
        silent.extensions_mut().insert(ExchangeLimits {
            timeout: Duration::from_millis(100),
            ..Default::default()
        });
        let late = transport.send(silent).await.unwrap_err();
        assert_eq!(late.kind(), TransportErrorKind::Timeout);
        exchange(&transport, &url).await;
        exchange(&transport, &url).await;
        assert_eq!(server.connections(), expected, "{stage}");
    }
}

/// W31: a connection that hangs in its TLS handshake holds up other requests for 1 s at most.
#[tokio::test]
async fn hung_handshake_does_not_hold_up_other_requests() {
    let receiver = Receiver::bind().await;
    let (transport, url) = (transport_to(&receiver), receiver.url("https", NAME));
    let _server = Server::start(receiver, |stream, number| async move {
        if number == 0 {
            std::future::pending::<()>().await;
        }
        let mut http2 = handshake(stream, &Builder::new()).await.unwrap();
        while let Some(Ok((_, respond))) = http2.accept().await {
            answer(respond, b"ok");
        }
    });
    let begun = Instant::now();
    let mut hung = post(&url);
    hung.extensions_mut().insert(ExchangeLimits {
        timeout: Duration::from_secs(3),
        ..Default::default()
    });
    let hung = transport.send(hung);
    let other = async {
        exchange(&transport, &url).await;
        begun.elapsed()
    };
    let (hung, took) = tokio::join!(hung, other);
    assert_eq!(hung.unwrap_err().kind(), TransportErrorKind::Timeout);
    assert!(took < Duration::from_millis(2_500), "{took:?}");
}

/// W31: an unused HTTP/2 connection is closed after 30 s.
#[tokio::test]
async fn idle_http2_connection_is_closed_after_30_s() {
    let receiver = Receiver::bind().await;
    let (transport, url) = (transport_to(&receiver), receiver.url("https", NAME));
    let (ended, mut ends) = mpsc::unbounded_channel();
    let _server = Server::start(receiver, move |stream, _| {
        let ended = ended.clone();
        async move {
            let mut http2 = handshake(stream, &Builder::new()).await.unwrap();
            while let Some(Ok((_, respond))) = http2.accept().await {
                answer(respond, b"ok");
            }
            ended.send(()).unwrap();
        }
    });
    exchange(&transport, &url).await;
    pause();
    let used = Instant::now();
    ends.recv().await.unwrap();
    let idle = used.elapsed();
    let expected = Duration::from_millis(29_500)..Duration::from_millis(30_500);
    assert!(expected.contains(&idle), "{idle:?}");
}

/// W10, W31: a name that moves to a refused address is refused, and one that moves to other allowed
/// addresses gets a new connection.
#[tokio::test]
async fn moved_name_does_not_use_the_open_connection() {
    let receiver = Receiver::bind().await;
    let count = AtomicUsize::new(0);
    let names = Names::from_fn(move |_| {
        Ok(match count.fetch_add(1, Ordering::SeqCst) {
            0 => vec![LOOPBACK],
            1 => vec![[10, 0, 0, 1].into()],
            _ => vec![LOOPBACK, [127, 0, 0, 2].into()],
        })
    });
    let transport = HyperTransport::new(receiver.loopback_policy())
        .with_resolver(Resolver(names))
        .with_roots(roots());
    let url = receiver.url("https", NAME);
    let server = serve(receiver, Builder::new(), |(_, respond), _| async {
        answer(respond, b"ok");
    });
    exchange(&transport, &url).await;
    let refused = transport.send(post(&url)).await.unwrap_err();
    assert_eq!(refused.kind(), TransportErrorKind::RefusedAddress);
    assert_eq!(server.connections(), 1);
    exchange(&transport, &url).await;
    exchange(&transport, &url).await;
    assert_eq!(server.connections(), 2);
}
