//! The three servers in front of one service, each with a socket and a thread, with or without TLS.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use host_tls::Tls;
use http::{Request, Response};
use service::app::{App, Body};
use tokio::sync::oneshot;

/// Time limit for a request body. The clock of actix-web may be half a second late.
const READ_TIMEOUT: Duration = Duration::from_secs(2);
/// Longer than any response takes, so that a failing test ends.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running server; drained on drop.
pub(crate) struct Server {
    pub(crate) name: &'static str,
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

/// The service, with a panic at one path.
async fn handle(app: Arc<App>, request: Request<Bytes>) -> Response<Body> {
    assert_ne!(request.uri().path(), "/bug", "the handler has a bug");
    app.handle(request).await
}

macro_rules! serve {
    ($adapter:ident, $app:ident, $listener:ident, $tls:ident, $stopped:ident) => {{
        let limits = $adapter::Limits {
            read_timeout: READ_TIMEOUT,
            drain_timeout: Duration::from_secs(1),
            open: $app.open_connections(),
            ..Default::default()
        };
        let host = Arc::clone(&$app);
        let refuse = move |head: &Request<()>, status| host.refuse(head, status);
        let handler = move |request| handle(Arc::clone(&$app), request);
        async move {
            match $tls {
                None => $adapter::serve($listener, handler, refuse, limits, $stopped).await,
                Some(tls) => $adapter::serve_tls(($listener, tls), handler, refuse, limits, $stopped).await,
            }
        }
    }};
}

impl Server {
    /// Names of the servers.
    pub(crate) const NAMES: [&'static str; 3] = ["hyper", "axum", "actix"];

    /// Every server, without TLS.
    pub(crate) fn all(app: &Arc<App>) -> [Self; 3] {
        Self::NAMES.map(|name| {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            Self::start(name, Arc::clone(app), listener, None)
        })
    }

    pub(crate) fn start(name: &'static str, app: Arc<App>, listener: TcpListener, tls: Option<Tls>) -> Self {
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let stopped = async { stopped.await.unwrap_or(()) };
        let thread = std::thread::spawn(move || match name {
            "actix" => {
                actix_web::rt::System::new().block_on(serve!(host_adapter_actix, app, listener, tls, stopped))
            }
            "axum" => tokio::runtime::Runtime::new()?.block_on(serve!(
                host_adapter_axum,
                app,
                listener,
                tls,
                stopped
            )),
            _ => tokio::runtime::Runtime::new()?.block_on(serve!(
                host_adapter_hyper,
                app,
                listener,
                tls,
                stopped
            )),
        });
        Self {
            name,
            address,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Opens a connection, and reads the status line of its first response.
    pub(crate) fn connect(&self, sent: &[u8]) -> (TcpStream, String) {
        let mut peer = TcpStream::connect(self.address).unwrap();
        peer.set_read_timeout(Some(PATIENCE)).unwrap();
        peer.write_all(sent).unwrap();
        let mut line = String::new();
        BufReader::new(peer.try_clone().unwrap())
            .read_line(&mut line)
            .unwrap();
        (peer, line)
    }

    /// Reads the response to these bytes until the server closes the connection.
    pub(crate) fn ask(&self, sent: &[u8]) -> Vec<u8> {
        let mut peer = TcpStream::connect(self.address).unwrap();
        peer.set_read_timeout(Some(PATIENCE)).unwrap();
        // a server may refuse and close the connection before it has read everything
        let _refused = peer.write_all(sent);
        let mut received = Vec::new();
        match peer.read_to_end(&mut received) {
            Err(error) if error.kind() != ErrorKind::ConnectionReset => panic!("{}: {error}", self.name),
            _ => received,
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take()
            && !std::thread::panicking()
        {
            thread.join().unwrap().unwrap();
        }
    }
}
