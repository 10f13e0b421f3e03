//! The transports below HTTP.

use std::{future::ready, io};

use http::Extensions;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

pub(crate) trait Carrier: Clone + Send + 'static {
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// Opens a stream on an accepted connection, with the extensions for each of its requests.
    fn open(self, stream: TcpStream) -> impl Future<Output = io::Result<(Self::Stream, Extensions)>> + Send;
}

/// The TCP connection itself.
#[derive(Clone)]
pub(crate) struct Plain;

impl Carrier for Plain {
    type Stream = TcpStream;

    fn open(self, stream: TcpStream) -> impl Future<Output = io::Result<(TcpStream, Extensions)>> + Send {
        ready(Ok((stream, Extensions::new())))
    }
}

#[cfg(feature = "tls")]
impl Carrier for host_tls::Tls {
    type Stream = tokio_rustls::server::TlsStream<TcpStream>;

    async fn open(self, stream: TcpStream) -> io::Result<(Self::Stream, Extensions)> {
        let (stream, certificate) = self.accept(stream).await?;
        let mut known = Extensions::new();
        certificate.map(|certificate| known.insert(certificate));
        Ok((stream, known))
    }
}
