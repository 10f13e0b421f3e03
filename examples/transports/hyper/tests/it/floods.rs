//! Servers that send without end.

use std::time::Duration;

use host_ports::{ExchangeLimits, Transport, TransportErrorKind};
use host_transport_conformance::receiver::{Receiver, post, read_request};
use host_transport_hyper::HyperTransport;
use tokio::io::AsyncWriteExt;

/// The error of an exchange whose server sends `begin`, then `again` until the transport closes the connection.
async fn flooded(begin: &str, again: &str) -> TransportErrorKind {
    let receiver = Receiver::bind().await;
    let transport = HyperTransport::new(receiver.loopback_policy());
    let mut request = post(&receiver.url("http", "127.0.0.1"));
    request.extensions_mut().insert(ExchangeLimits {
        timeout: Duration::from_millis(300),
        ..Default::default()
    });
    let flooding = async {
        let (mut stream, _) = receiver.listener.accept().await.unwrap();
        read_request(&mut stream).await;
        stream.write_all(begin.as_bytes()).await.unwrap();
        let again = again.repeat(100);
        while stream.write_all(again.as_bytes()).await.is_ok() {}
    };
    let (sent, ()) = tokio::join!(transport.send(request), flooding);
    sent.unwrap_err().kind()
}

/// Headers without end are refused, short as each may be.
#[tokio::test]
async fn a_flood_of_headers_is_too_large() {
    assert_eq!(
        flooded("HTTP/1.1 200 OK\r\n", "a: b\r\n").await,
        TransportErrorKind::TooLarge
    );
}

/// A server that speaks HTTP/2 in clear text fails at once, not at the deadline.
#[tokio::test]
async fn a_receiver_without_http_1_is_a_failure() {
    let settings = "\0\0\0\x04\0\0\0\0\0";
    assert_eq!(flooded(settings, settings).await, TransportErrorKind::Other);
}
