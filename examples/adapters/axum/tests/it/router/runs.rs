//! Idempotency keys, rate limits and cancelled requests, partly over sockets.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use bytes::Bytes;
use host_adapter_axum::{Admission, ConventionsLayer, Limits, Refusal, serve_router};
use http_conventions::limits::{Policy, Quota};
use http_conventions::routing::AllowedHosts;
use tower_service::Service;

use super::fixture::{Running, conventions, request, routes};
use super::{assert_complete, whole};

/// H6, H22: the layer passes a response that the exchange finished unchanged, each field once.
#[tokio::test]
async fn a_post_runs_once_for_each_key() {
    let running = Running::new();
    let bearer = running.bearer("write:charges");
    let ask = async |key: &str, body: &'static str| {
        let fields = [("authorization", bearer.as_str()), ("idempotency-key", key)];
        running.ask(request("POST", "/charges", &fields, body)).await
    };
    let first = ask("\"a\"", "1").await;
    assert_eq!(
        (first.status().as_u16(), first.body().as_ref()),
        (200, &b"charge 1"[..])
    );
    assert_complete(&first, "/charges");
    let again = ask("\"a\"", "1").await;
    assert_eq!(again.body(), first.body());
    assert_eq!(again.headers()["idempotency-replayed"], "true");
    assert_complete(&again, "/charges");
    let other = ask("\"a\"", "2").await;
    assert_eq!(other.status(), 409);
    assert_complete(&other, "/charges");
    assert_eq!(ask("\"b\"", "1").await.body(), "charge 2");
    assert_eq!(running.desk.runs.load(SeqCst), 2);
}

/// H15: rate-limit fields are on each response and on the 429, which the handler returns with `?`.
#[tokio::test]
async fn rate_limit_is_enforced_and_announced() {
    let running = Running::new();
    let bearer = running.bearer("write:charges");
    for left in (0..5).rev() {
        let answer = running
            .ask(request("POST", "/charges", &[("authorization", &bearer)], ""))
            .await;
        assert_eq!(answer.status(), 200);
        let told = answer.headers()["ratelimit"].to_str().unwrap();
        assert!(told.starts_with(&format!("\"user\";r={left};")), "{told}");
    }
    let refused = running
        .ask(request("POST", "/charges", &[("authorization", &bearer)], ""))
        .await;
    assert_eq!(refused.status(), 429);
    assert!(refused.headers().contains_key("retry-after"));
    assert_complete(&refused, "/charges");
    assert_eq!(running.desk.runs.load(SeqCst), 5);
}

/// H15, H22: rate-limit fields of a middleware stand beside those of the handler.
#[tokio::test]
async fn a_middleware_limits_many_routes() {
    let running = Running::new();
    let policy = Policy::new("address", Quota::per(2, Duration::from_secs(60)).unwrap()).unwrap();
    let policy = Arc::new(policy);
    let limit = move |Admission(exchange): Admission, request: Request, next: Next| {
        let policy = Arc::clone(&policy);
        async move {
            let exchange = exchange.limit(&[policy.spend("192.0.2.1")]).await?;
            let answer = next.run(request).await;
            Ok::<_, Refusal>(exchange.finish_as(Ok(answer), Body::from))
        }
    };
    let mut router = routes()
        .layer(from_fn(limit))
        .layer(ConventionsLayer::new(conventions(&running.clock)))
        .with_state(running.desk.clone());
    let bearer = running.bearer("write:charges");
    let mut ask = async |path: &str| {
        let asked = request("POST", path, &[("authorization", &bearer)], "");
        whole(router.call(asked).await.unwrap()).await
    };
    let told = |answer: &http::Response<Bytes>| {
        let lines = answer.headers().get_all("ratelimit").iter();
        lines
            .map(|line| line.to_str().unwrap().split(';').next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let first = ask("/charges").await;
    assert_eq!(first.status(), 200);
    assert_eq!(told(&first), ["\"user\"", "\"address\""]);
    let nowhere = ask("/nowhere").await;
    assert_eq!(nowhere.status(), 404);
    assert_eq!(told(&nowhere), ["\"address\""]);
    assert_complete(&nowhere, "/nowhere");
    let refused = ask("/charges").await;
    assert_eq!(refused.status(), 429);
    assert_eq!(told(&refused), ["\"address\""]);
    assert_complete(&refused, "/charges");
}

/// H6, H24: a request whose client left is dropped if its method is safe, and otherwise runs to
/// its end.
#[tokio::test]
async fn unsafe_request_outlives_its_client() {
    let mut running = Running::new();
    for (method, runs) in [("GET", 0), ("POST", 1)] {
        let asked = running.router.call(request(method, "/slow", &[], ""));
        let asked = tokio::spawn(asked);
        running.has_entered.recv().await.unwrap();
        asked.abort();
        assert!(asked.await.unwrap_err().is_cancelled());
        running.desk.gate.notify_one();
        // yields until the runtime is idle
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        assert_eq!(running.desk.runs.load(SeqCst), runs, "{method}");
        // takes the permit that the dropped request left
        let _permit = tokio::time::timeout(Duration::from_millis(1), running.desk.gate.notified()).await;
    }
}

/// H24: the shutdown waits for an unsafe request whose client left.
#[tokio::test]
async fn shutdown_waits_for_unsafe_request_without_client() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    let mut running = Running::new();
    let (listener, limits) = (
        TcpListener::bind("127.0.0.1:0").unwrap(),
        Limits {
            half_closed_timeout: Duration::from_millis(10),
            ..Limits::default()
        },
    );
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let stopped = async { stopped.await.unwrap_or(()) };
    let served = tokio::spawn(serve_router(listener, running.router.clone(), limits, stopped));
    let mut peer = tokio::net::TcpStream::connect(address).await.unwrap();
    let post = "POST /slow HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n";
    peer.write_all(post.as_bytes()).await.unwrap();
    running.has_entered.recv().await.unwrap();
    peer.shutdown().await.unwrap();
    assert_eq!(peer.read(&mut [0]).await.unwrap_or(0), 0);
    stop.send(()).unwrap();
    // yields until the runtime is idle
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    assert!(!served.is_finished());
    running.desk.gate.notify_one();
    served.await.unwrap().unwrap();
    assert_eq!(running.desk.runs.load(SeqCst), 1);
}

/// H26, X10: a client that uploads to a foreign host sees the refusal, not a reset.
#[test]
fn refused_upload_to_a_router_gets_its_response() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    peer.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let limits = Limits {
        hosts: AllowedHosts::parse(["desk.example"]).unwrap(),
        ..Limits::default()
    };
    let served = runtime.spawn(serve_router(
        listener,
        axum::Router::new(),
        limits,
        std::future::pending(),
    ));
    let length = 8 << 20;
    let head = format!("POST / HTTP/1.1\r\nhost: rebound.example\r\ncontent-length: {length}\r\n\r\n");
    peer.write_all(head.as_bytes()).unwrap();
    peer.write_all(&vec![b'x'; length]).unwrap();
    let mut status = [0; 12];
    peer.read_exact(&mut status).unwrap();
    assert_eq!(&status, b"HTTP/1.1 421");
    served.abort();
}

/// X3: `axum::serve` and `serve_router` send the same bytes.
#[test]
fn both_servers_of_a_router_give_the_same_bytes() {
    let requests = [
        "GET / HTTP/1.1\r\nhost: a\r\n",
        "HEAD /nowhere HTTP/1.1\r\nhost: a\r\n",
        "OPTIONS /charges HTTP/1.1\r\nhost: a\r\n",
        "DELETE /charges HTTP/1.1\r\nhost: a\r\n",
        "GET /panic HTTP/1.1\r\nhost: a\r\n",
        "GET /stream HTTP/1.1\r\nhost: a\r\n",
        "POST /whole HTTP/1.1\r\nhost: a\r\ncontent-length: 9999\r\n",
    ];
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let ask = |own: bool| {
        let router = Running::new().router;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let served = runtime.spawn(async move {
            if own {
                serve_router(listener, router, Default::default(), std::future::pending()).await
            } else {
                listener.set_nonblocking(true)?;
                axum::serve(tokio::net::TcpListener::from_std(listener)?, router).await
            }
        });
        let answers = requests.map(|request| {
            let mut peer = TcpStream::connect(address).unwrap();
            peer.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            let fixed = "x-request-id: checkout-7f3a\r\nconnection: close\r\n\r\n";
            peer.write_all(format!("{request}{fixed}").as_bytes()).unwrap();
            let mut answer = String::new();
            peer.read_to_string(&mut answer).unwrap();
            let lasting = answer.split("\r\n").filter(|line| !line.starts_with("date: "));
            lasting.collect::<Vec<_>>().join("\r\n")
        });
        served.abort();
        answers
    };
    let (own, axums) = (ask(true), ask(false));
    assert_eq!(own, axums);
    for answer in &own {
        assert!(answer.contains("\r\nx-request-id: checkout-7f3a\r\n"), "{answer}");
    }
    assert!(
        own[1].starts_with("HTTP/1.1 404") && own[1].ends_with("\r\n\r\n"),
        "{}",
        own[1]
    );
    assert!(own[1].contains("\r\ncontent-length: "), "{}", own[1]);
}

/// X3: the client's address is in `ConnectInfo`.
#[test]
fn the_address_of_a_peer_is_where_axum_has_it() {
    use axum::extract::ConnectInfo;
    use axum::routing::get;
    use std::net::SocketAddr;

    let router = axum::Router::new().route(
        "/",
        get(async |ConnectInfo(peer): ConnectInfo<SocketAddr>| peer.to_string()),
    );
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let served = runtime.spawn(serve_router(
        listener,
        router,
        Default::default(),
        std::future::pending(),
    ));
    peer.write_all(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    peer.read_to_string(&mut answer).unwrap();
    assert!(
        answer.ends_with(&peer.local_addr().unwrap().to_string()),
        "{answer}"
    );
    served.abort();
}

/// X3: a router can be called without a server, as tests of hosts do.
#[tokio::test]
async fn a_router_can_be_asked_without_a_server() {
    let mut running = Running::new();
    let answer = running
        .router
        .call(request("GET", "/", &[], Body::empty()))
        .await
        .unwrap();
    assert_eq!(whole(answer).await.body(), "fine");
}
