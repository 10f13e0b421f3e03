//! Receivers that never come to the point, or that speak something else.

use std::sync::Arc;
use std::time::Duration;

use host_ports::{ExchangeLimits, Transport, TransportErrorKind};
use host_transport_hyper::HyperTransport;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, crypto::aws_lc_rs};
use tokio::io::AsyncWriteExt;
use tokio_rustls::TlsAcceptor;

use crate::receiver::{Receiver, post, read_request};

/// What becomes of an exchange whose receiver says `begin`, and then `again` for as long as anybody listens.
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

/// W12: interim answers without end do not outlast the deadline, however fast they come.
#[tokio::test]
async fn a_flood_of_interim_answers_is_cut_off() {
    let interim = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n";
    assert_eq!(flooded("", interim).await, TransportErrorKind::Timeout);
}

/// Headers without end are refused, short as each may be.
#[tokio::test]
async fn a_flood_of_headers_is_too_large() {
    assert_eq!(
        flooded("HTTP/1.1 200 OK\r\n", "a: b\r\n").await,
        TransportErrorKind::TooLarge
    );
}

/// A receiver that speaks HTTP/2 alone is a failure at once, not at the deadline.
#[tokio::test]
async fn a_receiver_without_http_1_is_a_failure() {
    let settings = "\0\0\0\x04\0\0\0\0\0";
    assert_eq!(flooded(settings, settings).await, TransportErrorKind::Other);

    let key = include_bytes!("../certificates/hooks.example.com.key.der").as_slice();
    let certificate = include_bytes!("../certificates/hooks.example.com.der").as_slice();
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from(certificate)],
            PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key)),
        )
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let receiver = Receiver::bind().await;
    let transport = HyperTransport::new(receiver.loopback_policy());
    let accepting = async {
        let (stream, _) = receiver.listener.accept().await.unwrap();
        TlsAcceptor::from(Arc::new(config)).accept(stream).await
    };
    let request = post(&receiver.url("https", "127.0.0.1"));
    let (sent, accepted) = tokio::join!(transport.send(request), accepting);
    assert_eq!(sent.unwrap_err().kind(), TransportErrorKind::Tls);
    assert!(accepted.is_err());
}

/// What is kept of an answer takes no more memory than its cap, whatever the size of the pieces it came in.
#[tokio::test]
async fn what_is_kept_is_no_larger_than_the_cap() {
    let receiver = Receiver::bind().await;
    let transport = HyperTransport::new(receiver.loopback_policy());
    let mut request = post(&receiver.url("http", "127.0.0.1"));
    request.extensions_mut().insert(ExchangeLimits {
        max_response_body: 10,
        ..Default::default()
    });
    let answering = async {
        let (mut stream, _) = receiver.listener.accept().await.unwrap();
        read_request(&mut stream).await;
        let answer = [
            b"HTTP/1.1 200 OK\r\ncontent-length: 60000\r\n\r\n".as_slice(),
            &[b'x'; 60_000],
        ];
        stream.write_all(&answer.concat()).await.ok();
    };
    let (sent, ()) = tokio::join!(transport.send(request), answering);
    let kept = sent.unwrap().into_body().try_into_mut().unwrap();
    assert_eq!(kept, [b'x'; 10].as_slice());
    assert!(kept.capacity() <= 64, "{}", kept.capacity());
}
