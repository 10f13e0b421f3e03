//! Whom the transport believes.

use std::sync::Arc;

use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{RootCertStore, ServerConfig, crypto::aws_lc_rs};
use tokio::io::AsyncWriteExt;
use tokio_rustls::TlsAcceptor;
use transport_hyper::HyperTransport;
use webhook_core::ports::{Transport, TransportErrorKind};

use crate::receiver::{NAME, Receiver, post, read_request, resolves_to};

const CERTIFICATE: &[u8] = include_bytes!("../certificates/hooks.example.com.der");
const KEY: &[u8] = include_bytes!("../certificates/hooks.example.com.key.der");

/// Answers one request, and tells the name and the protocol that the handshake asked for.
async fn answer_over_tls(receiver: &Receiver) -> std::io::Result<(Option<String>, Option<Vec<u8>>)> {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(KEY));
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let (stream, _) = receiver.listener.accept().await?;
    let mut stream = TlsAcceptor::from(Arc::new(config)).accept(stream).await?;
    let session = stream.get_ref().1;
    let asked = (
        session.server_name().map(str::to_owned),
        session.alpn_protocol().map(<[u8]>::to_vec),
    );
    read_request(&mut stream).await;
    stream
        .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
        .await?;
    Ok(asked)
}

fn trusting(receiver: &Receiver) -> HyperTransport {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(CERTIFICATE)).unwrap();
    distrusting(receiver).with_roots(roots)
}

fn distrusting(receiver: &Receiver) -> HyperTransport {
    HyperTransport::new(receiver.loopback_policy()).with_resolver(resolves_to(&["127.0.0.1"]))
}

/// W10: the connection goes to the vetted address, the handshake asks for the name of the URL.
#[tokio::test]
async fn the_handshake_asks_for_the_name_of_the_url() {
    let receiver = Receiver::bind().await;
    let transport = trusting(&receiver);
    let request = post(&receiver.url("https", NAME));
    let (sent, asked) = tokio::join!(transport.send(request), answer_over_tls(&receiver));
    assert_eq!(sent.unwrap().body().as_ref(), b"ok");
    assert_eq!(
        asked.unwrap(),
        (Some(NAME.to_owned()), Some(b"http/1.1".to_vec()))
    );
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused() {
    let receiver = Receiver::bind().await;
    let transport = trusting(&receiver);
    for host in ["other.example.com", "127.0.0.1"] {
        let request = post(&receiver.url("https", host));
        let (sent, answered) = tokio::join!(transport.send(request), answer_over_tls(&receiver));
        assert_eq!(sent.unwrap_err().kind(), TransportErrorKind::Tls, "{host}");
        assert!(answered.is_err(), "{host}: nothing of the request may be sent");
    }
}

#[tokio::test]
async fn a_certificate_of_an_unknown_authority_is_refused() {
    let receiver = Receiver::bind().await;
    let transport = distrusting(&receiver);
    let request = post(&receiver.url("https", NAME));
    let (sent, answered) = tokio::join!(transport.send(request), answer_over_tls(&receiver));
    assert_eq!(sent.unwrap_err().kind(), TransportErrorKind::Tls);
    assert!(answered.is_err());
}
