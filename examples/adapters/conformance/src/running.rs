//! The server of a case, on a thread of its own.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{TryStreamExt, stream};
use host_server::Limits;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use tokio::sync::{mpsc, oneshot};

use crate::peer::Peer;
use crate::{Adapter, Body, Server};

/// Longer than any step of a case takes, so that a failure ends and does not hang.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A running server. Dropping it drains it.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

/// Settings of a server beside its handler.
pub(crate) struct Options {
    pub(crate) limits: Limits,
    #[cfg(feature = "tls")]
    pub(crate) tls: Option<host_tls::Tls>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            limits: patient(),
            #[cfg(feature = "tls")]
            tls: None,
        }
    }
}

impl From<Limits> for Options {
    fn from(limits: Limits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }
}

/// Limits that no case reaches, except for that of a client that has closed its sending half.
pub(crate) fn patient() -> Limits {
    Limits {
        read_timeout: PATIENCE,
        write_timeout: PATIENCE,
        half_closed_timeout: Duration::from_secs(1),
        drain_timeout: PATIENCE,
        connections_by_address: 1000,
        ..Limits::default()
    }
}

impl Running {
    pub(crate) fn start<F>(
        adapter: &Arc<Adapter>,
        handler: impl Fn(Request<Bytes>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Response<Body>> + Send + 'static,
    {
        Self::start_with(adapter, Options::default(), handler)
    }

    pub(crate) fn start_with<F>(
        adapter: &Arc<Adapter>,
        options: impl Into<Options>,
        handler: impl Fn(Request<Bytes>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Response<Body>> + Send + 'static,
    {
        let options = options.into();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let server = Server {
            listener,
            #[cfg(feature = "tls")]
            tls: options.tls,
            handler: Box::new(move |request| Box::pin(handler(request))),
            shutdown: Box::pin(async { stopped.await.unwrap_or(()) }),
            limits: options.limits,
        };
        let adapter = Arc::clone(adapter);
        let thread = std::thread::spawn(move || (adapter.serve)(server));
        Self {
            address,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// A server that answers one request, with the chunks of the channel.
    pub(crate) fn streaming(adapter: &Arc<Adapter>) -> (mpsc::Sender<io::Result<Bytes>>, Self) {
        let (chunks, mut receiver) = mpsc::channel(1);
        let frames = stream::poll_fn(move |context| receiver.poll_recv(context)).map_ok(Frame::data);
        let once = Mutex::new(Some(StreamBody::new(frames).boxed_unsync()));
        let running = Self::start(adapter, move |_| {
            let body = once.lock().unwrap().take().unwrap();
            async { Response::new(body) }
        });
        (chunks, running)
    }

    pub(crate) fn connect(&self) -> Peer {
        Peer::connect(self.address, PATIENCE)
    }

    /// A client whose system stores about so many received bytes.
    pub(crate) fn connect_with_buffer(&self, bytes: usize) -> Peer {
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        socket.set_recv_buffer_size(bytes).unwrap();
        socket.connect(&self.address.into()).unwrap();
        let socket = TcpStream::from(socket);
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.set_write_timeout(Some(PATIENCE)).unwrap();
        Peer(socket)
    }

    pub(crate) fn begin_shutdown(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    /// Waits until the listener is closed, by which the shutdown has begun. Clients get no event of
    /// it, so this polls.
    pub(crate) fn wait_until_closed(&self) {
        let begun = Instant::now();
        while TcpStream::connect(self.address).is_ok() {
            assert!(begun.elapsed() < PATIENCE, "still open");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn join(&mut self) {
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

/// The result of a future of this runtime-free thread, within [`PATIENCE`].
pub(crate) fn within_patience<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async { tokio::time::timeout(PATIENCE, future).await.unwrap() })
}
