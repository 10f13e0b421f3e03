//! The transports below HTTP.

use std::{future::ready, io};

use http::Extensions;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::Socket;

/// The transport below HTTP: TCP itself, or TLS.
pub trait Carrier: Clone + Send + 'static {
    /// Byte stream that carries HTTP.
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// Opens the stream of an accepted connection. Also returns the extensions to add to each of
    /// its requests.
    fn open(self, socket: Socket) -> impl Future<Output = io::Result<(Self::Stream, Extensions)>> + Send;
}

/// The TCP connection itself.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "it has no settings")]
pub struct Plain;

impl Carrier for Plain {
    type Stream = Socket;

    fn open(self, socket: Socket) -> impl Future<Output = io::Result<(Socket, Extensions)>> + Send {
        ready(Ok((socket, Extensions::new())))
    }
}

/// Adds the client's [`PeerCertificate`](host_tls::PeerCertificate), if it has one.
#[cfg(feature = "tls")]
impl Carrier for host_tls::Tls {
    type Stream = tokio_rustls::server::TlsStream<Socket>;

    async fn open(self, socket: Socket) -> io::Result<(Self::Stream, Extensions)> {
        let (stream, certificate) = self.accept(socket).await?;
        let mut extensions = Extensions::new();
        certificate.map(|certificate| extensions.insert(certificate));
        Ok((stream, extensions))
    }
}
