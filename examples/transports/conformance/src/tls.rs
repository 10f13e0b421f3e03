//! Cases of TLS: certificates of servers and of clients.

use std::sync::Arc;

use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::{WantsServerCert, WebPkiClientVerifier};
use rustls::{ConfigBuilder, RootCertStore, ServerConfig, SupportedProtocolVersion, crypto::aws_lc_rs};
use tokio::io::AsyncWriteExt;
use tokio_rustls::TlsAcceptor;

use crate::receiver::{Receiver, read_request};

/// A self-signed certificate for [`NAME`](crate::receiver::NAME), in DER.
pub const CERTIFICATE: &[u8] = include_bytes!("../certificates/hooks.example.com.der");
const KEY: &[u8] = include_bytes!("../certificates/hooks.example.com.key.der");

/// Returns the private key of [`CERTIFICATE`].
#[must_use]
pub fn key() -> PrivateKeyDer<'static> {
    PrivatePkcs8KeyDer::from(KEY).into()
}

/// Returns roots with [`CERTIFICATE`] alone.
#[must_use]
pub fn roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(CERTIFICATE)).unwrap();
    roots
}

/// Server name of the handshake (SNI), and the negotiated ALPN protocol.
type Hello = (Option<String>, Option<Vec<u8>>);

/// Answers one request over TLS with [`CERTIFICATE`], accepting the ALPN `protocols`. Returns the
/// server name of the handshake (SNI) and the negotiated ALPN protocol.
///
/// # Errors
///
/// The handshake failed, or the client closed the connection.
pub async fn answer(receiver: &Receiver, protocols: &[&[u8]]) -> std::io::Result<Hello> {
    answer_with(receiver, anonymous_clients(), protocols).await
}

/// Accepts one connection over TLS with [`CERTIFICATE`] and the ALPN `protocols`, and closes it
/// after the handshake.
async fn accept(receiver: &Receiver, protocols: &[&[u8]]) -> std::io::Result<()> {
    let acceptor = acceptor(anonymous_clients(), protocols);
    let (stream, _) = receiver.listener.accept().await?;
    acceptor.accept(stream).await.map(drop)
}

fn anonymous_clients() -> ConfigBuilder<ServerConfig, WantsServerCert> {
    ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
}

fn acceptor(config: ConfigBuilder<ServerConfig, WantsServerCert>, protocols: &[&[u8]]) -> TlsAcceptor {
    let own = vec![CertificateDer::from(CERTIFICATE)];
    let mut config = config.with_single_cert(own, key()).unwrap();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    TlsAcceptor::from(Arc::new(config))
}

/// Like [`answer`], for a server that speaks one version of TLS and requires a client certificate,
/// which the client does not have.
///
/// # Errors
///
/// The handshake failed.
async fn require_certificate(
    receiver: &Receiver,
    version: &'static SupportedProtocolVersion,
) -> std::io::Result<Hello> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let roots = Arc::new(roots());
    let verifier = WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(&provider));
    let config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[version])
        .unwrap()
        .with_client_cert_verifier(verifier.build().unwrap());
    answer_with(receiver, config, &[b"http/1.1"]).await
}

async fn answer_with(
    receiver: &Receiver,
    config: ConfigBuilder<ServerConfig, WantsServerCert>,
    protocols: &[&[u8]],
) -> std::io::Result<Hello> {
    let acceptor = acceptor(config, protocols);
    let (stream, _) = receiver.listener.accept().await?;
    let mut stream = acceptor.accept(stream).await?;
    let session = stream.get_ref().1;
    let hello = (
        session.server_name().map(str::to_owned),
        session.alpn_protocol().map(<[u8]>::to_vec),
    );
    read_request(&mut stream).await;
    stream
        .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
        .await?;
    Ok(hello)
}

/// The cases.
#[host_ports_conformance::kit(tls)]
mod cases {
    use std::sync::Arc;

    use host_ports::TransportErrorKind;

    use rustls::version::{TLS12, TLS13};

    use super::{accept, answer, require_certificate, roots};
    use crate::receiver::{NAME, Receiver, post};
    use crate::{Maker, Names, Setup};

    const HTTP_1: &[&[u8]] = &[b"http/1.1"];

    fn loopback(receiver: &Receiver) -> Setup {
        Setup::new(receiver.loopback_policy()).with_names(Names::fixed(&["127.0.0.1"]))
    }

    /// W10: the connection goes to the vetted address, and the handshake names the host of the URL
    /// (SNI).
    pub async fn handshake_asks_for_the_name_of_the_url(make: &Arc<Maker>) {
        let receiver = Receiver::bind().await;
        let transport = make.make(loopback(&receiver).with_roots(roots()));
        let request = post(&receiver.url("https", NAME));
        let (sent, hello) = tokio::join!(transport.send(request), answer(&receiver, HTTP_1));
        assert_eq!(&sent.unwrap().body()[..], b"ok");
        assert_eq!(
            hello.unwrap(),
            (Some(NAME.to_owned()), Some(b"http/1.1".to_vec()))
        );
    }

    /// W10: a certificate for another name is refused, and no part of the request is sent.
    pub async fn certificate_of_another_name_is_refused(make: &Arc<Maker>) {
        let receiver = Receiver::bind().await;
        let transport = make.make(loopback(&receiver).with_roots(roots()));
        for host in ["other.example.com", "127.0.0.1"] {
            let request = post(&receiver.url("https", host));
            let (sent, answered) = tokio::join!(transport.send(request), answer(&receiver, HTTP_1));
            assert_eq!(sent.unwrap_err().kind(), TransportErrorKind::Tls, "{host}");
            assert!(answered.is_err(), "{host}");
        }
    }

    /// W10: a certificate of an unknown authority is refused, and no part of the request is sent.
    pub async fn certificate_of_unknown_authority_is_refused(make: &Arc<Maker>) {
        let receiver = Receiver::bind().await;
        let transport = make.make(loopback(&receiver));
        let request = post(&receiver.url("https", NAME));
        let (sent, answered) = tokio::join!(transport.send(request), answer(&receiver, HTTP_1));
        assert_eq!(sent.unwrap_err().kind(), TransportErrorKind::Tls);
        assert!(answered.is_err());
    }

    /// A server that requires a client certificate ends an exchange without one: over TLS 1.2
    /// during the handshake, over TLS 1.3 after it, when the request may have been sent.
    pub async fn missing_client_certificate_fails(make: &Arc<Maker>) {
        let receiver = Receiver::bind().await;
        let transport = make.make(loopback(&receiver).with_roots(roots()));
        for (version, kind) in [
            (&TLS12, TransportErrorKind::Tls),
            (&TLS13, TransportErrorKind::Other),
        ] {
            let request = post(&receiver.url("https", NAME));
            let (sent, answered) =
                tokio::join!(transport.send(request), require_certificate(&receiver, version));
            assert_eq!(sent.unwrap_err().kind(), kind, "{version:?}");
            assert!(answered.is_err(), "{version:?}");
        }
    }

    /// An exchange with a server that speaks only HTTP/2 and closes the connection after the
    /// handshake fails at once. A transport without HTTP/2 fails in the handshake.
    pub async fn server_that_leaves_after_the_handshake_fails(make: &Arc<Maker>) {
        let receiver = Receiver::bind().await;
        let transport = make.make(loopback(&receiver).with_roots(roots()));
        let request = post(&receiver.url("https", NAME));
        let (sent, accepted) = tokio::join!(transport.send(request), accept(&receiver, &[b"h2"]));
        let expected = match accepted {
            Ok(()) => TransportErrorKind::Other,
            Err(_) => TransportErrorKind::Tls,
        };
        assert_eq!(sent.unwrap_err().kind(), expected);
    }
}

pub use cases::*;
