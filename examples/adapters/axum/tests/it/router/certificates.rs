//! A router over TLS whose callers have certificate-bound tokens.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use axum::Router;
use axum::extract::{ConnectInfo, FromRef, Request};
use axum::middleware::map_request;
use axum::routing::get;
use host_adapter_axum::{Caller, ConventionsLayer, Limits, serve_router_tls};
use host_tls::{ClientCertificates, PeerCertificate, Tls};
use oauth_core::mtls::ClientCertificate;
use oauth_core::resource::ResourceServer;
use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::{Running, conventions};

const NAME: &str = "api.example";

type Identity = CertifiedKey<KeyPair>;

fn self_signed(name: &str) -> Identity {
    generate_simple_self_signed([name.to_owned()]).unwrap()
}

/// The host's layer: reads the certificate of the connection, and ignores the names in it.
async fn with_certificate(mut request: Request) -> Request {
    let peer = request.extensions().get::<PeerCertificate>();
    let certificate = peer.map(|peer| match peer {
        PeerCertificate::Verified(der) | PeerCertificate::Unverified(der) => ClientCertificate::from_der(der),
    });
    certificate.map(|certificate| request.extensions_mut().insert(certificate));
    request
}

/// Sends a request with these header lines over a connection with this certificate; returns the
/// status.
async fn ask(address: SocketAddr, server: &Identity, own: Option<&Identity>, lines: &str) -> u16 {
    let mut roots = RootCertStore::empty();
    roots.add(server.cert.der().clone()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let config = match own {
        None => builder.with_no_client_auth(),
        Some(own) => {
            let key = PrivatePkcs8KeyDer::from(own.signing_key.serialize_der());
            let chain = vec![own.cert.der().clone()];
            builder.with_client_auth_cert(chain, key.into()).unwrap()
        }
    };
    let stream = TcpStream::connect(address).await.unwrap();
    let connector = TlsConnector::from(Arc::new(config));
    let mut stream = connector.connect(NAME.try_into().unwrap(), stream).await.unwrap();
    let request = format!("GET /charges HTTP/1.1\r\nhost: {NAME}\r\nconnection: close\r\n{lines}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

/// X3, O19, MT3: a certificate-bound token is accepted only over a connection with its certificate.
/// A header cannot replace the certificate.
#[tokio::test]
async fn a_caller_over_tls_connects_with_the_certificate_of_its_token() {
    let (server, own, other) = (self_signed(NAME), self_signed("own"), self_signed("other"));
    let running = Running::new();
    let resources = ResourceServer::from_ref(&running.desk);
    let told = async |_: Caller, ConnectInfo(peer): ConnectInfo<SocketAddr>| peer.to_string();
    let router = Router::new()
        .route("/charges", get(told))
        .layer(map_request(with_certificate))
        .layer(ConventionsLayer::new(conventions(&running.clock)))
        .with_state(resources);
    let key = PrivatePkcs8KeyDer::from(server.signing_key.serialize_der());
    let any_certificate = ClientCertificates::new(RootCertStore::empty()).with_unverified();
    let tls = Tls::new(vec![server.cert.der().clone()], key.into(), Some(any_certificate)).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let forever = std::future::pending();
    let serving = tokio::spawn(serve_router_tls(
        (listener, tls),
        router,
        Limits::default(),
        forever,
    ));

    let confirmation = ClientCertificate::from_der(own.cert.der()).confirmation();
    let token = running.token("read:charges", Some(confirmation));
    let bearer = format!("authorization: Bearer {token}\r\n");
    let claiming = format!("{bearer}client-cert: :AAAA:\r\nx-client-cert: AAAA\r\n");
    for (certificate, lines, status) in [
        (Some(&own), &bearer, 200),
        (Some(&own), &claiming, 200),
        (Some(&other), &bearer, 401),
        (Some(&other), &claiming, 401),
        (None, &bearer, 401),
        (None, &claiming, 401),
        (Some(&own), &String::new(), 401),
    ] {
        assert_eq!(ask(address, &server, certificate, lines).await, status);
    }
    serving.abort();
}
