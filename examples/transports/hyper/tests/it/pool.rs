//! Reuse of HTTP/1.1 connections.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use host_ports::{Transport, TransportError, TransportErrorKind};
use host_transport_conformance::Names;
use host_transport_conformance::receiver::{LOOPBACK, NAME, Receiver, post, try_read_request};
use host_transport_conformance::tls::{CERTIFICATE, key, roots};
use host_transport_hyper::HyperTransport;
use http::{Method, Response};
use rustls::pki_types::CertificateDer;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::{Barrier, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Instant, pause};

use crate::Resolver;
use crate::servers::{OK, Server, transport_to};

async fn exchange(transport: &HyperTransport, url: &str) {
    let response = transport.send(post(url)).await.unwrap();
    assert_eq!(response.body().as_ref(), b"ok");
}

/// W31: requests to one origin share a connection, over HTTP and over TLS, also from clones of the
/// transport.
#[tokio::test]
async fn requests_of_an_origin_share_a_connection() {
    for scheme in ["http", "https"] {
        let receiver = Receiver::bind().await;
        let (transport, url) = (transport_to(&receiver), receiver.url(scheme, NAME));
        let server = match scheme {
            "http" => Server::http(receiver, OK),
            _ => Server::https(receiver, OK),
        };
        for _ in 0..5 {
            exchange(&transport.clone(), &url).await;
        }
        assert_eq!(server.connections(), 1, "{scheme}");
    }
}

/// W31: names of one address have connections of their own, and a certificate is checked for each
/// name.
#[tokio::test]
async fn connection_is_not_shared_between_names() {
    let receiver = Receiver::bind().await;
    let transport = transport_to(&receiver);
    let (url, other) = (
        receiver.url("https", NAME),
        receiver.url("https", "other.example.com"),
    );
    let _server = Server::https(receiver, OK);
    exchange(&transport, &url).await;
    let refused = transport.send(post(&other)).await.unwrap_err();
    assert_eq!(refused.kind(), TransportErrorKind::Tls);

    let receiver = Receiver::bind().await;
    let transport = transport_to(&receiver);
    let urls = [NAME, "other.example.com"].map(|name| receiver.url("http", name));
    let server = Server::http(receiver, OK);
    for url in urls.iter().chain(&urls) {
        exchange(&transport, url).await;
    }
    assert_eq!(server.connections(), 2);
}

/// W31: if a name gets another set of addresses, the next request opens a new connection, and the
/// old one is closed. The order of the addresses is no change.
#[tokio::test]
async fn changed_addresses_get_a_new_connection() {
    let receiver = Receiver::bind().await;
    let [one, two]: [IpAddr; 2] = [LOOPBACK, [127, 0, 0, 2].into()];
    let rounds = [vec![one], vec![one, two], vec![two, one], vec![one], vec![one]];
    let expected = [1, 2, 2, 3, 3];
    let round = Arc::new(AtomicUsize::new(0));
    let current = Arc::clone(&round);
    let names = Names::from_fn(move |_| Ok(rounds[current.load(Ordering::SeqCst)].clone()));
    let transport = HyperTransport::new(receiver.loopback_policy()).with_resolver(Resolver(names));
    let url = receiver.url("http", NAME);
    let (ended, mut ends) = mpsc::unbounded_channel();
    let server = Server::start(receiver, move |mut stream, number| {
        let ended = ended.clone();
        async move {
            while try_read_request(&mut stream).await.is_some() {
                stream.write_all(OK).await.unwrap();
            }
            ended.send(number).unwrap();
        }
    });
    for (number, expected) in expected.into_iter().enumerate() {
        round.store(number, Ordering::SeqCst);
        // a server at 127.0.0.2 does not exist: the connection goes to the first address
        exchange(&transport, &url).await;
        assert_eq!(server.connections(), expected, "round {number}");
    }
    assert_eq!([ends.recv().await, ends.recv().await], [Some(0), Some(1)]);
}

/// W31: an unused connection is closed after 30 s.
#[tokio::test]
async fn idle_connection_is_closed_after_30_s() {
    let receiver = Receiver::bind().await;
    let (transport, url) = (transport_to(&receiver), receiver.url("http", NAME));
    let answering = async {
        let (mut stream, _) = receiver.listener.accept().await.unwrap();
        for _ in 0..2 {
            try_read_request(&mut stream).await.unwrap();
            stream.write_all(OK).await.unwrap();
        }
        stream
    };
    let exchanging = async {
        exchange(&transport, &url).await;
        exchange(&transport, &url).await;
    };
    let ((), mut stream) = tokio::join!(exchanging, answering);
    pause();
    let used = Instant::now();
    assert_eq!(stream.read(&mut [0; 16]).await.unwrap(), 0);
    let idle = used.elapsed();
    let expected = Duration::from_millis(29_500)..Duration::from_millis(30_500);
    assert!(expected.contains(&idle), "{idle:?}");
}

/// W31: at most 64 connections of an origin stay idle; the others are closed after their exchange.
#[tokio::test]
async fn at_most_64_connections_of_an_origin_stay_idle() {
    let receiver = Receiver::bind().await;
    let (transport, url) = (transport_to(&receiver), receiver.url("http", NAME));
    let all = Arc::new(Barrier::new(70));
    let server = Server::start(receiver, move |mut stream, _| {
        let all = Arc::clone(&all);
        async move {
            while try_read_request(&mut stream).await.is_some() {
                all.wait().await;
                stream.write_all(OK).await.unwrap();
            }
        }
    });
    for expected in [70, 76] {
        let mut exchanges = JoinSet::new();
        for _ in 0..70 {
            let (transport, url) = (transport.clone(), url.clone());
            exchanges.spawn(async move { exchange(&transport, &url).await });
        }
        exchanges.join_all().await;
        assert_eq!(server.connections(), expected);
    }
}

/// W31: a connection that the server announces to close is not used again.
#[tokio::test]
async fn announced_close_ends_the_connection() {
    for answer in [
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok".as_slice(),
        b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok",
    ] {
        let receiver = Receiver::bind().await;
        let (transport, url) = (transport_to(&receiver), receiver.url("http", NAME));
        let server = Server::http(receiver, answer);
        for expected in 1..=3 {
            exchange(&transport, &url).await;
            assert_eq!(server.connections(), expected);
        }
    }
}

/// Result of an exchange on a reused connection, which the server closes without a response as long
/// as it has read fewer than `deaf` further requests. The second value counts all requests.
async fn after_silent_closes(
    method: Method,
    deaf: usize,
) -> (Result<Response<Bytes>, TransportError>, usize) {
    let receiver = Receiver::bind().await;
    let (transport, url) = (transport_to(&receiver), receiver.url("http", NAME));
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&requests);
    let _server = Server::start(receiver, move |mut stream, _| {
        let counted = Arc::clone(&counted);
        async move {
            while try_read_request(&mut stream).await.is_some() {
                if (1..=deaf).contains(&counted.fetch_add(1, Ordering::SeqCst)) {
                    return;
                }
                stream.write_all(OK).await.unwrap();
            }
        }
    });
    exchange(&transport, &url).await;
    let mut request = post(&url);
    *request.method_mut() = method;
    let sent = transport.send(request).await;
    (sent, requests.load(Ordering::SeqCst))
}

/// W31: an idempotent request is sent once more if its reused connection closes unanswered, and no
/// third time. A POST is not.
#[tokio::test]
async fn only_idempotent_requests_are_sent_once_more() {
    for method in [Method::GET, Method::PUT, Method::DELETE] {
        let (sent, requests) = after_silent_closes(method.clone(), 1).await;
        assert_eq!((sent.unwrap().status().as_u16(), requests), (200, 3), "{method}");
    }
    for (method, expected) in [(Method::GET, 3), (Method::POST, 2), (Method::PATCH, 2)] {
        let (sent, requests) = after_silent_closes(method, 9).await;
        assert_eq!(sent.unwrap_err().kind(), TransportErrorKind::Other);
        assert_eq!(requests, expected);
    }
}

/// W31: a transport with other roots or with a client certificate has connections of its own.
#[tokio::test]
async fn other_configuration_gets_connections_of_its_own() {
    let receiver = Receiver::bind().await;
    let (transport, url) = (transport_to(&receiver), receiver.url("https", NAME));
    let server = Server::https(receiver, OK);
    exchange(&transport, &url).await;
    let own = vec![CertificateDer::from(CERTIFICATE)];
    let variants = [
        transport.clone().with_roots(roots()),
        transport.clone().with_client_certificate(own, key()).unwrap(),
        transport
            .clone()
            .with_resolver(Resolver(Names::fixed(&["127.0.0.1"]))),
        transport,
    ];
    for (variant, expected) in variants.iter().zip([2, 3, 4, 4]) {
        exchange(variant, &url).await;
        assert_eq!(server.connections(), expected);
    }
}

/// W31: a transport outlives the runtime of its first exchange.
#[test]
fn connections_end_with_their_runtime() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let policy = host_ports::address::AddressPolicy::new()
        .danger_allow_http()
        .danger_allow_loopback()
        .with_port(port);
    let transport = HyperTransport::new(policy);
    let url = format!("http://127.0.0.1:{port}/");
    for _ in 0..2 {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener.try_clone().unwrap()).unwrap();
            let answering = async {
                let (mut stream, _) = listener.accept().await.unwrap();
                try_read_request(&mut stream).await.unwrap();
                stream.write_all(OK).await.unwrap();
            };
            tokio::join!(exchange(&transport, &url), answering);
        });
    }
}
