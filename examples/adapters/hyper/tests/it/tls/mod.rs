//! What each adapter promises over TLS, over real sockets. The tests of every adapter that has it include this file; `super::serve_tls`
//! is the adapter at hand. The client is rustls over a plain socket.

mod authority;
mod certificates;
mod handshakes;

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use host_tls::{ClientCertificates, PeerCertificate, Tls};
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use tokio::sync::oneshot;

use authority::{Authority, Identity, SERVER};

/// Longer than any step of a test takes, so that a failure ends and does not hang.
const PATIENCE: Duration = Duration::from_secs(20);
const GET: &[u8] = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n";

/// A server in its own thread; dropping it drains it.
struct Running {
    address: SocketAddr,
    authority: Authority,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

/// A server of these tests, for the adapter at hand: [`tell`] is its handler, and [`refuse`] refuses.
pub(crate) struct Server {
    pub(crate) listener: TcpListener,
    pub(crate) tls: Tls,
    pub(crate) read_timeout: Duration,
    pub(crate) drain_timeout: Duration,
    pub(crate) stopped: oneshot::Receiver<()>,
}

/// Tells the certificate of its connection: `-`, or whether it is verified, and its bytes in hexadecimal.
pub(crate) async fn tell(request: Request<Bytes>) -> Response<Full<Bytes>> {
    if request.uri().path() == "/slow" {
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let told = match request.extensions().get::<PeerCertificate>() {
        None => "-".to_owned(),
        Some(PeerCertificate::Verified(der)) => format!("verified {der:x}"),
        Some(PeerCertificate::Unverified(der)) => format!("unverified {der:x}"),
    };
    Response::new(Full::from(told))
}

pub(crate) fn refuse(_: &Request<()>, status: StatusCode) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = status;
    response
}

impl Running {
    /// A server of an authority of its own, which asks for what `clients` makes of that authority.
    fn start(clients: impl FnOnce(&Authority) -> Option<ClientCertificates>) -> Self {
        Self::start_with(PATIENCE, clients)
    }

    fn start_with(
        read_timeout: Duration,
        clients: impl FnOnce(&Authority) -> Option<ClientCertificates>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let authority = Authority::new();
        let own = authority.issue(SERVER);
        let tls = Tls::new(own.chain, own.key, clients(&authority)).unwrap();
        let server = Server {
            listener,
            tls,
            read_timeout,
            drain_timeout: PATIENCE,
            stopped,
        };
        let thread = std::thread::spawn(|| crate::serve_tls(server));
        Self {
            address,
            authority,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    fn socket(&self) -> TcpStream {
        let socket = TcpStream::connect(self.address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket
    }

    fn connect(&self, config: ClientConfig) -> Peer {
        let name = SERVER.try_into().unwrap();
        let session = ClientConnection::new(Arc::new(config), name).unwrap();
        Peer(StreamOwned::new(session, self.socket()))
    }

    /// What the server tells of a connection with this certificate, or how it refuses the handshake.
    fn told(&self, identity: Option<Identity>) -> io::Result<String> {
        self.connect(self.authority.client(identity)).ask(GET)
    }

    fn begin_shutdown(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    fn join(&mut self) {
        self.thread.take().unwrap().join().unwrap().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take()
            && !std::thread::panicking()
        {
            thread.join().unwrap().unwrap();
        }
    }
}

/// A client over TLS.
struct Peer(StreamOwned<ClientConnection, TcpStream>);

impl Peer {
    /// Sends the request and gives the content of the answer, by the length that its head declares.
    fn ask(&mut self, request: &[u8]) -> io::Result<String> {
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

fn hex(identity: &Identity) -> String {
    format!("{:x}", Bytes::copy_from_slice(identity.own()))
}
