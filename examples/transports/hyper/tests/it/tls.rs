//! Whom the transport believes.

use std::sync::Arc;

use bytes::Bytes;
use host_ports::{Transport, TransportErrorKind};
use host_tls::{ClientCertificates, PeerCertificate, Tls};
use host_transport_hyper::HyperTransport;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{RootCertStore, ServerConfig, crypto::aws_lc_rs};
use tokio::io::AsyncWriteExt;
use tokio_rustls::TlsAcceptor;

use crate::receiver::{NAME, Receiver, post, read_request, resolves_to};

const CERTIFICATE: &[u8] = include_bytes!("../certificates/hooks.example.com.der");
const KEY: &[u8] = include_bytes!("../certificates/hooks.example.com.key.der");

fn key() -> PrivateKeyDer<'static> {
    PrivatePkcs8KeyDer::from(KEY).into()
}

/// Answers one request, and tells the name and the protocol that the handshake asked for.
async fn answer_over_tls(receiver: &Receiver) -> std::io::Result<(Option<String>, Option<Vec<u8>>)> {
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key())
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

/// Answers one request, and tells which certificate the client has shown and proven to have the key of.
async fn answer_whoever_asks(receiver: &Receiver) -> Option<PeerCertificate> {
    let of_anybody = ClientCertificates::of(RootCertStore::empty()).or_of_nobody();
    let own = vec![CertificateDer::from(CERTIFICATE)];
    let tls = Tls::new(own, key(), Some(of_anybody)).unwrap();
    let (stream, _) = receiver.listener.accept().await.unwrap();
    let (mut stream, shown) = tls.accept(stream).await.unwrap();
    read_request(&mut stream).await;
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
    stream.write_all(answer).await.unwrap();
    shown
}

/// O19: a server that asks for a certificate is shown the one that the transport was given, in whichever order it was told its roots; and
/// none by a transport that was given none.
#[tokio::test]
async fn a_certificate_is_shown_to_a_server_that_asks_for_one() {
    let receiver = Receiver::bind().await;
    let own = || vec![CertificateDer::from(CERTIFICATE)];
    let unrooted = distrusting(&receiver)
        .with_client_certificate(own(), key())
        .unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(CERTIFICATE)).unwrap();
    let expected = Some(PeerCertificate::Unverified(Bytes::from_static(CERTIFICATE)));
    for (transport, expected) in [
        (trusting(&receiver), None),
        (
            trusting(&receiver).with_client_certificate(own(), key()).unwrap(),
            expected.clone(),
        ),
        (unrooted.with_roots(roots), expected),
    ] {
        let request = post(&receiver.url("https", NAME));
        let (sent, shown) = tokio::join!(transport.send(request), answer_whoever_asks(&receiver));
        assert_eq!(sent.unwrap().body().as_ref(), b"ok");
        assert_eq!(shown, expected);
    }
}

/// O19: to one that does not ask it is not shown, and the exchange goes on as ever.
#[tokio::test]
async fn a_certificate_is_shown_to_nobody_who_does_not_ask() {
    let receiver = Receiver::bind().await;
    let own = vec![CertificateDer::from(CERTIFICATE)];
    let transport = trusting(&receiver).with_client_certificate(own, key()).unwrap();
    let request = post(&receiver.url("https", NAME));
    let (sent, asked) = tokio::join!(transport.send(request), answer_over_tls(&receiver));
    assert_eq!(sent.unwrap().body().as_ref(), b"ok");
    assert_eq!(asked.unwrap().0.as_deref(), Some(NAME));
}

/// O19: a key that is not of the certificate is found out before a server finds it out.
#[tokio::test]
async fn a_certificate_without_its_key_is_refused_at_once() {
    let receiver = Receiver::bind().await;
    let other = rcgen::KeyPair::generate().unwrap().serialize_der();
    let other = PrivatePkcs8KeyDer::from(other).into();
    let own = vec![CertificateDer::from(CERTIFICATE)];
    assert!(
        distrusting(&receiver)
            .with_client_certificate(own, other)
            .is_err()
    );
    assert!(
        distrusting(&receiver)
            .with_client_certificate(Vec::new(), key())
            .is_err()
    );
}
