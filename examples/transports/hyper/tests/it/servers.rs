//! Servers that keep connections open and count them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use host_transport_conformance::Names;
use host_transport_conformance::receiver::{Receiver, try_read_request};
use host_transport_conformance::tls::{CERTIFICATE, key, roots};
use host_transport_hyper::HyperTransport;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::Resolver;

pub(crate) const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// A transport to this receiver, by every name.
pub(crate) fn transport_to(receiver: &Receiver) -> HyperTransport {
    HyperTransport::new(receiver.loopback_policy())
        .with_resolver(Resolver(Names::fixed(&["127.0.0.1"])))
        .with_roots(roots())
}

/// A server in a task, and the number of its connections.
pub(crate) struct Server {
    connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Server {
    /// Serves each connection in a task of its own.
    pub(crate) fn start<F>(receiver: Receiver, serve: impl Fn(TcpStream, usize) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let connections = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&connections);
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = receiver.listener.accept().await.unwrap();
                let number = counted.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(stream, number));
            }
        });
        Self { connections, task }
    }

    /// Serves HTTP/1.1 with `answer`, over each connection as long as the client wants.
    pub(crate) fn http(receiver: Receiver, answer: &'static [u8]) -> Self {
        Self::start(receiver, move |stream, _| repeat(stream, answer))
    }

    /// Serves HTTP/1.1 with `answer` over TLS.
    pub(crate) fn https(receiver: Receiver, answer: &'static [u8]) -> Self {
        Self::start(receiver, move |stream, _| async move {
            if let Some(stream) = accept(stream, b"http/1.1").await {
                repeat(stream, answer).await;
            }
        })
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn repeat(mut stream: impl AsyncRead + AsyncWrite + Unpin, answer: &[u8]) {
    while try_read_request(&mut stream).await.is_some() {
        stream.write_all(answer).await.ok();
    }
}

/// The TLS handshake of a server with one protocol. `None` if the client refuses it.
pub(crate) async fn accept(stream: TcpStream, protocol: &[u8]) -> Option<TlsStream<TcpStream>> {
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key())
        .unwrap();
    config.alpn_protocols = vec![protocol.to_vec()];
    TlsAcceptor::from(Arc::new(config)).accept(stream).await.ok()
}
