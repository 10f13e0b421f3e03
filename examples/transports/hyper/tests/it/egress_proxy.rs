//! Connections through an HTTP proxy.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use host_ports::address::AddressPolicy;
use host_ports::{ExchangeLimits, Transport, TransportErrorKind};
use host_transport_conformance::Names;
use host_transport_conformance::receiver::{NAME, Receiver, post};
use host_transport_hyper::{HyperTransport, InvalidProxy, Proxy};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use crate::Resolver;
use crate::servers::{OK, Server, transport_to};

const UNREACHABLE: &[u8] = b"HTTP/1.1 502 Bad Gateway\r\n\r\n";

/// A proxy that opens tunnels, and the heads of the requests that it got.
struct Egress {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Egress {
    /// Relays to the address that a client asks for.
    fn relay() -> Self {
        Self::start(|head| {
            let address = head.split(' ').nth(1).unwrap();
            (b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), address.parse().ok())
        })
    }

    /// Answers every request with these bytes and closes the connection.
    fn answering(answer: &'static [u8]) -> Self {
        Self::start(move |_| (answer.to_vec(), None))
    }

    fn start(decide: impl Fn(&str) -> (Vec<u8>, Option<SocketAddr>) + Copy + Send + 'static) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let listener = TcpListener::from_std(listener).unwrap();
        let heads = Arc::<Mutex<Vec<String>>>::default();
        let seen = Arc::clone(&heads);
        tokio::spawn(async move {
            loop {
                let (mut client, _) = listener.accept().await.unwrap();
                let seen = Arc::clone(&seen);
                tokio::spawn(async move {
                    let head = read_head(&mut client).await;
                    let (answer, target) = decide(&head);
                    seen.lock().unwrap().push(head);
                    let Some(target) = target else {
                        client.write_all(&answer).await.ok();
                        return;
                    };
                    match TcpStream::connect(target).await {
                        Ok(mut server) => {
                            client.write_all(&answer).await.ok();
                            copy_bidirectional(&mut client, &mut server).await.ok();
                        }
                        Err(_) => client.write_all(UNREACHABLE).await.unwrap_or_default(),
                    }
                });
            }
        });
        Self { address, heads }
    }

    fn proxy(&self) -> Proxy {
        Proxy::new(&self.address.to_string()).unwrap()
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

async fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(head).unwrap()
}

/// The checks of addresses and certificates hold through a proxy too.
mod through_a_proxy {
    use host_transport_conformance::{Maker, Setup};

    use super::*;

    fn make() -> Maker {
        Maker::new(|setup: Setup| {
            let mut transport = HyperTransport::new(setup.policy).with_proxy(Egress::relay().proxy());
            if let Some(names) = setup.names {
                transport = transport.with_resolver(Resolver(names));
            }
            if let Some(roots) = setup.roots {
                transport = transport.with_roots(roots);
            }
            transport
        })
    }

    mod addresses {
        host_transport_conformance::addresses!(
            #[tokio::test]
            super::make()
        );
    }

    mod tls {
        host_transport_conformance::tls!(
            #[tokio::test]
            super::make()
        );
    }
}

/// W10: the proxy is asked for the vetted address, once for a reused connection, with its
/// credentials, which the receiver does not get.
#[tokio::test]
async fn tunnel_leads_to_the_vetted_address() {
    for scheme in ["http", "https"] {
        let receiver = Receiver::bind().await;
        let (url, port) = (receiver.url(scheme, NAME), receiver.port);
        let egress = Egress::relay();
        let proxy = egress.proxy().with_basic_auth("webhooks", "s3cret").unwrap();
        let transport = transport_to(&receiver).with_proxy(proxy);
        let server = match scheme {
            "http" => Server::http(receiver, OK),
            _ => Server::https(receiver, OK),
        };
        for _ in 0..2 {
            assert_eq!(transport.send(post(&url)).await.unwrap().body(), "ok", "{scheme}");
        }
        let expected = format!(
            "CONNECT 127.0.0.1:{port} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\
             Proxy-Authorization: Basic d2ViaG9va3M6czNjcmV0\r\n\r\n"
        );
        assert_eq!(egress.heads(), [expected], "{scheme}");
        assert_eq!(server.connections(), 1, "{scheme}");
    }
}

/// W10: a refused address does not reach the proxy.
#[tokio::test]
async fn refused_address_does_not_reach_the_proxy() {
    let egress = Egress::relay();
    let transport = HyperTransport::new(AddressPolicy::new())
        .with_resolver(Resolver(Names::fixed(&["10.0.0.7"])))
        .with_proxy(egress.proxy());
    for url in ["https://169.254.169.254/", "https://hooks.example.com/"] {
        let refused = transport.send(post(url)).await.unwrap_err();
        assert_eq!(refused.kind(), TransportErrorKind::RefusedAddress, "{url}");
    }
    assert!(egress.heads().is_empty());
}

/// Answers that open no tunnel are temporary errors; nothing is sent to the receiver directly.
#[tokio::test]
async fn proxy_without_a_tunnel_is_a_temporary_error() {
    for (answer, expected) in [
        (&b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"[..], "407"),
        (b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n", "403"),
        (b"HTTP/1.1 101 Switching Protocols\r\n\r\n", "101"),
        // bytes that the client would take for the server's
        (
            b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
            "after its response",
        ),
        (b"HTTP/1.1 200 OK\r\nx: 1", "end of file"),
        (b"", "end of file"),
        (b"\x16\x03\x01\x00", "HTTP"),
    ] {
        let receiver = Receiver::bind().await;
        let url = receiver.url("http", NAME);
        let proxy = Egress::answering(answer).proxy();
        let proxy = proxy.with_basic_auth("webhooks", "s3cret").unwrap();
        let failed = transport_to(&receiver).with_proxy(proxy).send(post(&url)).await;
        let failed = failed.unwrap_err();
        let told = format!("{failed:?} {}", std::error::Error::source(&failed).unwrap());
        assert_eq!(failed.kind(), TransportErrorKind::Connect, "{told}");
        assert!(told.contains(expected), "{expected}: {told}");
        assert!(!told.contains("s3cret") && !told.contains("d2ViaG"), "{told}");
        assert!(!receiver.was_called(), "{expected}");
    }
}

/// Interim responses are skipped (RFC 9110 §15.2), and a next address is tried.
#[tokio::test]
async fn next_address_is_tried_when_the_proxy_reaches_none() {
    let receiver = Receiver::bind().await;
    let url = receiver.url("http", NAME);
    let egress = Egress::start(|head| {
        let address: SocketAddr = head.split(' ').nth(1).unwrap().parse().unwrap();
        if address.ip().to_string() == "127.0.0.2" {
            return (UNREACHABLE.to_vec(), None);
        }
        let answer = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200 Connection established\r\nvia: x\r\n\r\n";
        (answer.to_vec(), Some(address))
    });
    let transport = transport_to(&receiver)
        .with_resolver(Resolver(Names::fixed(&["127.0.0.2", "127.0.0.1"])))
        .with_proxy(egress.proxy());
    let _server = Server::http(receiver, OK);
    assert_eq!(transport.send(post(&url)).await.unwrap().body(), "ok");
    assert_eq!(egress.heads().len(), 2);
}

/// A proxy that does not answer is bounded by the deadline of the exchange, and one that sends a
/// head without an end by its length.
#[tokio::test]
async fn slow_or_endless_proxy_is_bounded() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let receiver = Receiver::bind().await;
    let proxy = Proxy::new(&silent.local_addr().unwrap().to_string()).unwrap();
    let mut request = post(&receiver.url("http", NAME));
    let limits = ExchangeLimits {
        timeout: Duration::from_millis(200),
        ..ExchangeLimits::default()
    };
    request.extensions_mut().insert(limits);
    let failed = transport_to(&receiver).with_proxy(proxy).send(request).await;
    assert_eq!(failed.unwrap_err().kind(), TransportErrorKind::Timeout);

    let endless: &'static [u8] =
        Box::leak(format!("HTTP/1.1 200 OK\r\nx: {}", "a".repeat(9_000)).into_boxed_str()).as_bytes();
    let transport = transport_to(&receiver).with_proxy(Egress::answering(endless).proxy());
    let failed = transport.send(post(&receiver.url("http", NAME))).await;
    assert_eq!(failed.unwrap_err().kind(), TransportErrorKind::Connect);
}

#[test]
fn settings_of_a_proxy_are_checked() {
    for text in [
        "",
        "proxy.example.com",
        "http://proxy.example.com:3128",
        "user:secret@proxy.example.com:3128",
        ":3128",
        "proxy.example.com:99999",
    ] {
        assert_eq!(Proxy::new(text).unwrap_err(), InvalidProxy::Authority, "{text}");
    }
    for text in ["proxy.example.com:3128", "127.0.0.1:3128", "[::1]:3128"] {
        assert!(Proxy::new(text).is_ok(), "{text}");
    }
    let proxy = Proxy::new("127.0.0.1:3128").unwrap();
    for (user, password) in [("a:b", "c"), ("a\n", "c"), ("a", "c\r\nx: y")] {
        let refused = proxy.clone().with_basic_auth(user, password).unwrap_err();
        assert_eq!(refused, InvalidProxy::Credentials);
    }
}
