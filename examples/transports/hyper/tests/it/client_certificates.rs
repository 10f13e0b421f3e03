//! Client certificates.

use bytes::Bytes;
use host_ports::Transport;
use host_tls::{ClientCertificates, PeerCertificate, Tls};
use host_transport_conformance::Names;
use host_transport_conformance::receiver::{NAME, Receiver, post, read_request};
use host_transport_conformance::tls::{CERTIFICATE, answer, key, roots};
use host_transport_hyper::HyperTransport;
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use tokio::io::AsyncWriteExt;

use crate::Resolver;

fn trusting(receiver: &Receiver) -> HyperTransport {
    distrusting(receiver).with_roots(roots())
}

fn distrusting(receiver: &Receiver) -> HyperTransport {
    HyperTransport::new(receiver.loopback_policy()).with_resolver(Resolver(Names::fixed(&["127.0.0.1"])))
}

/// Answers one request; returns the certificate whose key the client has proven to hold.
async fn answer_whoever_asks(receiver: &Receiver) -> Option<PeerCertificate> {
    let any_certificate = ClientCertificates::new(RootCertStore::empty()).with_unverified();
    let own = vec![CertificateDer::from(CERTIFICATE)];
    let tls = Tls::new(own, key(), Some(any_certificate)).unwrap();
    let (stream, _) = receiver.listener.accept().await.unwrap();
    let (mut stream, shown) = tls.accept(stream).await.unwrap();
    read_request(&mut stream).await;
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
    stream.write_all(answer).await.unwrap();
    shown
}

/// O19: a server that requests a certificate gets that of the transport, for either order of the
/// settings, and none without one.
#[tokio::test]
async fn certificate_is_sent_to_a_server_that_requests_it() {
    let receiver = Receiver::bind().await;
    let own = || vec![CertificateDer::from(CERTIFICATE)];
    let unrooted = distrusting(&receiver)
        .with_client_certificate(own(), key())
        .unwrap();
    let expected = Some(PeerCertificate::Unverified(Bytes::from_static(CERTIFICATE)));
    for (transport, expected) in [
        (trusting(&receiver), None),
        (
            trusting(&receiver).with_client_certificate(own(), key()).unwrap(),
            expected.clone(),
        ),
        (unrooted.with_roots(roots()), expected),
    ] {
        let request = post(&receiver.url("https", NAME));
        let (sent, shown) = tokio::join!(transport.send(request), answer_whoever_asks(&receiver));
        assert_eq!(sent.unwrap().body().as_ref(), b"ok");
        assert_eq!(shown, expected);
    }
}

/// O19: a server that requests no certificate gets none, and the exchange succeeds.
#[tokio::test]
async fn certificate_is_sent_only_on_request() {
    let receiver = Receiver::bind().await;
    let own = vec![CertificateDer::from(CERTIFICATE)];
    let transport = trusting(&receiver).with_client_certificate(own, key()).unwrap();
    let request = post(&receiver.url("https", NAME));
    let (sent, asked) = tokio::join!(transport.send(request), answer(&receiver, &[b"http/1.1"]));
    assert_eq!(sent.unwrap().body().as_ref(), b"ok");
    assert_eq!(asked.unwrap().0.as_deref(), Some(NAME));
}

/// O19: a private key of another certificate is refused when the transport is built.
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
