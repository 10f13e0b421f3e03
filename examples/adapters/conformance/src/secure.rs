//! A server over TLS with an authority of its own, and a client of rustls over a plain socket.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use host_server::Limits;
use host_tls::{ClientCertificates, PeerCertificate, Tls};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use rustls::{ClientConfig, ClientConnection, StreamOwned};

use crate::authority::{Authority, Identity};
use crate::running::{self, Options, PATIENCE};
use crate::{Adapter, Body};

pub(crate) const GET: &[u8] = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n";

/// Name of the servers of the cases.
const SERVER: &str = "server.example";

/// A running server over TLS.
pub(crate) struct Running {
    pub(crate) authority: Authority,
    server: running::Running,
}

/// Answers with the certificate of the connection: `-`, or whether it is verified and its bytes in
/// hexadecimal.
pub(crate) async fn tell(request: Request<Bytes>) -> Response<Body> {
    match request.extensions().get::<PeerCertificate>() {
        None => text("-"),
        Some(PeerCertificate::Verified(der)) => text(format!("verified {der:x}")),
        Some(PeerCertificate::Unverified(der)) => text(format!("unverified {der:x}")),
    }
}

pub(crate) fn text(text: impl Into<Bytes>) -> Response<Body> {
    let body = Full::new(text.into()).map_err(|never| match never {});
    Response::new(body.boxed_unsync())
}

impl Running {
    /// A server that [`tell`]s, with an authority of its own. `clients` makes of it the
    /// certificates that clients send.
    pub(crate) fn start(
        adapter: &Arc<Adapter>,
        clients: impl FnOnce(&Authority) -> Option<ClientCertificates>,
    ) -> Self {
        Self::start_with(adapter, PATIENCE, clients, tell)
    }

    pub(crate) fn start_with<F>(
        adapter: &Arc<Adapter>,
        read_timeout: Duration,
        clients: impl FnOnce(&Authority) -> Option<ClientCertificates>,
        handler: impl Fn(Request<Bytes>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Response<Body>> + Send + 'static,
    {
        let authority = Authority::new();
        let own = authority.issue(SERVER);
        let tls = Tls::new(own.chain, own.key, clients(&authority)).unwrap();
        let options = Options {
            limits: Limits {
                read_timeout,
                ..running::patient()
            },
            tls: Some(tls),
        };
        let server = running::Running::start_with(adapter, options, handler);
        Self { authority, server }
    }

    pub(crate) fn socket(&self) -> TcpStream {
        let socket = TcpStream::connect(self.server.address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket
    }

    pub(crate) fn connect(&self, config: ClientConfig) -> Peer {
        let name = SERVER.try_into().unwrap();
        let session = ClientConnection::new(Arc::new(config), name).unwrap();
        Peer(StreamOwned::new(session, self.socket()))
    }

    /// The text that [`tell`] answers to a client with this certificate, or the error of its
    /// handshake.
    pub(crate) fn told(&self, identity: Option<Identity>) -> io::Result<String> {
        self.connect(self.authority.client(identity)).ask(GET)
    }

    pub(crate) fn begin_shutdown(&mut self) {
        self.server.begin_shutdown();
    }

    pub(crate) fn wait_until_closed(&self) {
        self.server.wait_until_closed();
    }

    pub(crate) fn join(&mut self) {
        self.server.join();
    }
}

/// A client over TLS.
pub(crate) struct Peer(pub(crate) StreamOwned<ClientConnection, TcpStream>);

impl Peer {
    /// Sends the request and returns the content of the response, by its declared length.
    pub(crate) fn ask(&mut self, request: &[u8]) -> io::Result<String> {
        self.0.write_all(request)?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            self.0.read_exact(&mut byte)?;
            head.extend_from_slice(&byte);
        }
        let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
        assert!(head.starts_with("http/1.1 200"), "{head}");
        let (_, length) = head.split_once("content-length: ").unwrap();
        let (length, _) = length.split_once('\r').unwrap();
        let mut content = vec![0; length.parse().unwrap()];
        self.0.read_exact(&mut content)?;
        Ok(String::from_utf8(content).unwrap())
    }
}

pub(crate) fn hex(identity: &Identity) -> String {
    format!("{:x}", Bytes::copy_from_slice(identity.own()))
}
