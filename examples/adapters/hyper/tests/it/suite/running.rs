//! The server of a test, in a thread of its own.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::pin::Pin;
use std::sync::Mutex;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{TryStreamExt, stream};
use http::{HeaderValue, Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody, combinators::UnsyncBoxBody};
use tokio::sync::{mpsc, oneshot};

use super::peer::Peer;

pub(super) type Body = UnsyncBoxBody<Bytes, io::Error>;
type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Longer than any step of a test takes, so that a failure ends and does not hang.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Server {
    pub(crate) listener: TcpListener,
    pub(crate) handler: Box<dyn Fn(Request<Bytes>) -> Boxed<Response<Body>> + Send + Sync>,
    pub(crate) shutdown: Boxed<()>,
    pub(crate) read_timeout: Duration,
    pub(crate) drain_timeout: Duration,
}

/// The host's own refusal, which the adapter's must be. It tells the head that it was given.
pub(crate) fn refuse(head: &Request<()>, status: StatusCode) -> Response<Bytes> {
    let told = head.headers().get("x-tag").map(HeaderValue::as_bytes);
    let peer = head.extensions().get::<SocketAddr>();
    let said = format!(
        "{} {} {} {} {}",
        status.as_u16(),
        head.method(),
        head.uri(),
        told.unwrap_or(b"-").escape_ascii(),
        peer.is_some_and(|peer| peer.ip().is_loopback()),
    );
    let mut response = Response::new(Bytes::from(said));
    *response.status_mut() = status;
    response
}

/// A server in its own thread; dropping it drains it.
pub(super) struct Running {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Running {
    pub(super) fn start<F>(handler: impl Fn(Request<Bytes>) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Response<Body>> + Send + 'static,
    {
        Self::start_with(PATIENCE, PATIENCE, handler)
    }

    pub(super) fn start_with<F>(
        read_timeout: Duration,
        drain_timeout: Duration,
        handler: impl Fn(Request<Bytes>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Response<Body>> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let server = Server {
            listener,
            handler: Box::new(move |request| Box::pin(handler(request))),
            shutdown: Box::pin(async { stopped.await.unwrap_or(()) }),
            read_timeout,
            drain_timeout,
        };
        let thread = std::thread::spawn(|| crate::serve(server));
        Self {
            address,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// A server whose one answer is what comes through the channel.
    pub(super) fn streaming() -> (mpsc::Sender<io::Result<Bytes>>, Self) {
        let (chunks, mut receiver) = mpsc::channel(1);
        let frames = stream::poll_fn(move |context| receiver.poll_recv(context)).map_ok(Frame::data);
        let once = Mutex::new(Some(StreamBody::new(frames).boxed_unsync()));
        let running = Self::start(move |_| {
            let body = once.lock().unwrap().take().unwrap();
            async { Response::new(body) }
        });
        (chunks, running)
    }

    pub(super) fn connect(&self) -> Peer {
        Peer::connect(self.address, PATIENCE)
    }

    pub(super) fn begin_shutdown(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    /// Waits until nobody can connect any more, which is when the shutdown has begun.
    pub(super) fn refuses_connections(&self) {
        let begun = Instant::now();
        while TcpStream::connect(self.address).is_ok() {
            assert!(begun.elapsed() < PATIENCE, "still open");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub(super) fn join(&mut self) {
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
