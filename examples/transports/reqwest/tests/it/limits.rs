//! Limits of reqwest beyond those of the port.

use std::time::Duration;

use host_ports::{ExchangeLimits, Transport, TransportErrorKind};
use host_transport_conformance::receiver::{Receiver, post, read_request};
use host_transport_reqwest::ReqwestTransport;
use tokio::io::AsyncWriteExt as _;

/// At the connect timeout the exchange fails with `Connect`, not `Timeout`: nothing was sent.
#[tokio::test]
async fn connect_timeout_is_a_failed_connection() {
    let receiver = Receiver::bind().await;
    let transport = ReqwestTransport::builder(receiver.loopback_policy())
        .with_connect_timeout(Duration::from_millis(100))
        .build()
        .unwrap();
    // the listener accepts no connection, so the TLS handshake never begins
    let request = post(&receiver.url("https", "127.0.0.1"));
    let failed = transport.send(request).await.unwrap_err();
    assert_eq!(failed.kind(), TransportErrorKind::Connect);
}

/// The deadline of the exchange is a timeout at any stage.
#[tokio::test]
async fn deadline_before_the_connect_timeout_is_a_timeout() {
    let receiver = Receiver::bind().await;
    let transport = ReqwestTransport::new(receiver.loopback_policy()).unwrap();
    let mut request = post(&receiver.url("https", "127.0.0.1"));
    request.extensions_mut().insert(ExchangeLimits {
        timeout: Duration::from_millis(100),
        ..Default::default()
    });
    let failed = transport.send(request).await.unwrap_err();
    assert_eq!(failed.kind(), TransportErrorKind::Timeout);
}

/// Result of an exchange whose response has a head of this many bytes.
async fn with_head_of(bytes: usize) -> Result<u16, TransportErrorKind> {
    let receiver = Receiver::bind().await;
    let transport = ReqwestTransport::new(receiver.loopback_policy()).unwrap();
    let begin = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nx-filler: ";
    let filler = "x".repeat(bytes - begin.len() - 4);
    let answering = async {
        let (mut stream, _) = receiver.listener.accept().await.unwrap();
        read_request(&mut stream).await;
        // a transport that has read enough closes the connection
        stream.write_all(begin.as_bytes()).await.ok();
        stream.write_all(filler.as_bytes()).await.ok();
        stream.write_all(b"\r\n\r\n").await.ok();
    };
    let request = post(&receiver.url("http", "127.0.0.1"));
    let (sent, ()) = tokio::join!(transport.send(request), answering);
    sent.map(|response| response.status().as_u16())
        .map_err(|error| error.kind())
}

/// W12: a head of 408 KiB is read, one of 1 MiB is not. Between them it depends on how the bytes
/// arrive.
#[tokio::test]
async fn head_is_capped_between_408_kib_and_1_mib() {
    assert_eq!(with_head_of(417_792).await, Ok(200));
    assert_eq!(with_head_of(1 << 20).await, Err(TransportErrorKind::TooLarge));
}
