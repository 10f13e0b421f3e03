//! What each adapter promises, over real sockets. The tests of both adapters include this file; `super::serve` is
//! the adapter at hand. The client is a plain socket, so that the tests see bytes and not a library's reading of them.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{TryStreamExt, future, stream};
use http::{Request, Response, StatusCode, header::CONTENT_LENGTH};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use tokio::sync::{mpsc, oneshot};

type Body = UnsyncBoxBody<Bytes, io::Error>;
type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Longer than any step of a test takes, so that a failure ends and does not hang.
const PATIENCE: Duration = Duration::from_secs(20);
const MEBIBYTE: usize = 1 << 20;

pub(crate) struct Server {
    pub(crate) listener: TcpListener,
    pub(crate) handler: Box<dyn Fn(Request<Bytes>) -> Boxed<Response<Body>> + Send + Sync>,
    pub(crate) shutdown: Boxed<()>,
    pub(crate) read_timeout: Duration,
    pub(crate) drain_timeout: Duration,
}

/// The host's own refusal, which the adapter's must be.
pub(crate) fn refuse(status: StatusCode) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(format!(r#"{{"status":{}}}"#, status.as_u16())));
    *response.status_mut() = status;
    response
}

/// H19: the limit is on the decoded body, 1 MiB by default, and the host words the refusal.
#[test]
fn a_body_at_the_limit_is_served_and_one_byte_more_is_413() {
    let running = Running::start(echo);
    let upload = |length: usize| {
        let mut peer = running.connect();
        peer.send(format!(
            "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: {length}\r\n\r\n"
        ));
        peer.send(vec![b'x'; length]);
        peer.answer()
    };
    let served = upload(MEBIBYTE);
    assert_eq!((served.status, served.body.len()), (200, MEBIBYTE));
    upload(MEBIBYTE + 1).assert_refused(413);
    // its sender is still writing when the verdict is known, and would take a server that hangs up for a broken one
    upload(8 * MEBIBYTE).assert_refused(413);
}

/// H19: a body that does not declare its length has the same limit.
#[test]
fn a_chunked_upload_arrives_whole_up_to_the_limit() {
    let running = Running::start(echo);
    let upload = |chunks: usize| {
        let mut peer = running.connect();
        peer.send("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n");
        for _ in 0..chunks {
            peer.send("10000\r\n");
            peer.send(vec![b'x'; 0x10000]);
            peer.send("\r\n");
        }
        peer.send("0\r\n\r\n");
        peer.answer()
    };
    let served = upload(16);
    assert_eq!((served.status, served.body.len()), (200, MEBIBYTE));
    upload(17).assert_refused(413);
}

#[test]
fn an_upload_that_waits_for_permission_gets_it() {
    let running = Running::start(echo);
    let mut peer = running.connect();
    peer.send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\nexpect: 100-continue\r\n\r\n");
    assert_eq!(peer.head().status, 100);
    peer.send("hi");
    assert_eq!(peer.answer().text(), "hi");
}

/// H13: a body that is not HTTP is refused in the host's words, before the handler.
#[test]
fn a_malformed_chunk_is_400_and_never_reaches_the_handler() {
    let called = Arc::new(AtomicBool::new(false));
    let running = Running::start(note_call(&called));
    let mut peer = running.connect();
    peer.send("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nnonsense\r\n");
    peer.answer().assert_refused(400);
    assert!(!called.load(Ordering::SeqCst));
}

#[test]
fn an_upload_that_breaks_off_never_reaches_the_handler() {
    let called = Arc::new(AtomicBool::new(false));
    let running = Running::start(note_call(&called));
    let mut peer = running.connect();
    peer.send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhalf");
    peer.close_writing();
    peer.rest();
    assert!(!called.load(Ordering::SeqCst));
}

/// H13: a peer that stops in the middle of its body is told so in the host's words.
#[test]
fn an_upload_that_stalls_is_408() {
    let running = Running::start_with(Duration::from_millis(200), PATIENCE, echo);
    let mut peer = running.connect();
    peer.send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhalf");
    peer.answer().assert_refused(408);
}

#[test]
fn a_head_that_stalls_is_cut_off() {
    let running = Running::start_with(Duration::from_millis(200), PATIENCE, echo);
    let mut peer = running.connect();
    peer.send("POST / HTTP/1.1\r\nhost:");
    peer.rest();
}

/// X3: the handler sees the request as it came.
#[test]
fn the_handler_sees_method_target_and_peer() {
    let running = Running::start(async |request: Request<Bytes>| {
        let peer = request.extensions().get::<SocketAddr>().copied();
        whole(format!(
            "{} {} {}",
            request.method(),
            request.uri(),
            peer.unwrap()
        ))
    });
    let mut peer = running.connect();
    let address = peer.0.local_addr().unwrap();
    peer.send("PROPFIND /a%2Fb?c=%20&c HTTP/1.1\r\nhost: a\r\n\r\n");
    assert_eq!(peer.answer().text(), format!("PROPFIND /a%2Fb?c=%20&c {address}"));
}

/// X3: headers pass both ways with their repeats, their order and their opaque bytes.
#[test]
fn repeated_and_non_ascii_headers_pass_both_ways() {
    let running = Running::start(async |request: Request<Bytes>| {
        let mut response = whole("");
        for value in request.headers().get_all("x-tag") {
            response.headers_mut().append("x-tag", value.clone());
        }
        response
    });
    let mut peer = running.connect();
    peer.send(b"GET / HTTP/1.1\r\nhost: a\r\nx-tag: one\r\nX-Tag: \xc3\xa9\xff\r\nx-tag: one\r\n\r\n");
    let expected: [&[u8]; 3] = [b"one", b"\xc3\xa9\xff", b"one"];
    assert_eq!(peer.answer().all("x-tag"), expected);
}

#[test]
fn a_head_answer_has_the_length_of_the_body_it_leaves_out() {
    let running = Running::start(async |request: Request<Bytes>| match request.uri().path() {
        "/declared" => {
            let mut response = whole("");
            response.headers_mut().insert(CONTENT_LENGTH, 5.into());
            response
        }
        _ => whole("hello"),
    });
    for path in ["/", "/declared"] {
        let mut peer = running.connect();
        peer.send(format!(
            "HEAD {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"
        ));
        let head = peer.head();
        assert_eq!(
            (head.status, head.all("content-length")),
            (200, vec![b"5".as_slice()]),
            "{path}"
        );
        assert_eq!(peer.rest(), b"", "{path}");
    }
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let running = Running::start(async |request: Request<Bytes>| whole(request.uri().to_string()));
    let mut peer = running.connect();
    peer.send("GET /1 HTTP/1.1\r\nhost: a\r\n\r\nGET /2 HTTP/1.1\r\nhost: a\r\n\r\n");
    assert_eq!(peer.answer().text(), "/1");
    assert_eq!(peer.answer().text(), "/2");
}

/// X3: a streaming body is not held back until its end; an empty frame in it is no end.
#[test]
fn a_streamed_answer_arrives_in_pieces() {
    let (chunks, running) = Running::streaming();
    let mut peer = running.connect();
    peer.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    assert_eq!(peer.head().all("transfer-encoding"), [b"chunked"]);
    for chunk in ["one", "", "two"] {
        chunks.blocking_send(Ok(Bytes::from(chunk))).unwrap();
        if !chunk.is_empty() {
            assert_eq!(peer.chunk(), chunk.as_bytes());
        }
    }
    drop(chunks);
    assert_eq!(peer.chunk(), b"");
}

#[test]
fn a_stream_that_fails_does_not_look_complete() {
    let (chunks, running) = Running::streaming();
    let mut peer = running.connect();
    peer.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    peer.head();
    chunks.blocking_send(Ok(Bytes::from("one"))).unwrap();
    chunks
        .blocking_send(Err(io::Error::other("the database is gone")))
        .unwrap();
    let received = peer.rest();
    assert!(!received.ends_with(b"0\r\n\r\n"), "{}", received.escape_ascii());
}

/// X3: a subscription whose subscriber left costs nothing any more.
#[test]
fn a_peer_that_leaves_drops_the_stream() {
    let (chunks, running) = Running::streaming();
    let mut peer = running.connect();
    peer.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    peer.head();
    chunks.blocking_send(Ok(Bytes::from("one"))).unwrap();
    peer.chunk();
    drop(peer);
    within_patience(chunks.closed());
}

#[test]
fn a_peer_that_leaves_drops_the_handler() {
    let (entered, mut has_entered) = mpsc::channel::<()>(1);
    let entered = Mutex::new(Some(entered));
    let running = Running::start(move |_| {
        let held = entered.lock().unwrap().take().unwrap();
        async move {
            held.send(()).await.unwrap();
            future::pending().await
        }
    });
    let mut peer = running.connect();
    peer.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    within_patience(has_entered.recv()).unwrap();
    drop(peer);
    assert_eq!(within_patience(has_entered.recv()), None);
}

#[test]
fn shutdown_finishes_an_open_request() {
    let (entered, mut has_entered) = mpsc::channel::<()>(1);
    let (release, released) = oneshot::channel::<()>();
    let once = Mutex::new(Some((entered, released)));
    let mut running = Running::start(move |_| {
        let (entered, released) = once.lock().unwrap().take().unwrap();
        async move {
            entered.send(()).await.unwrap();
            released.await.unwrap();
            whole("done")
        }
    });
    let mut peer = running.connect();
    peer.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    within_patience(has_entered.recv()).unwrap();
    running.begin_shutdown();
    release.send(()).unwrap();
    assert_eq!(peer.answer().text(), "done");
    running.join();
}

#[test]
fn shutdown_cuts_off_what_outlives_the_drain() {
    let (entered, mut has_entered) = mpsc::channel::<()>(1);
    let mut running = Running::start_with(PATIENCE, Duration::from_secs(1), move |_| {
        let entered = entered.clone();
        async move {
            entered.send(()).await.unwrap();
            future::pending().await
        }
    });
    let mut peer = running.connect();
    peer.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    within_patience(has_entered.recv()).unwrap();
    running.begin_shutdown();
    assert_eq!(peer.rest(), b"");
    running.join();
}

#[test]
fn a_malformed_request_line_does_not_stop_the_server() {
    let running = Running::start(echo);
    let mut peer = running.connect();
    peer.send(b"\xff\x00 nonsense\r\n\r\n");
    assert!(peer.rest().starts_with(b"HTTP/1.1 400"));
    let mut next = running.connect();
    next.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    assert_eq!(next.answer().status, 200);
}

/// H13: even a panic is answered in the host's words, and costs one request only.
#[test]
fn a_panicking_handler_is_500() {
    let running = Running::start(async |request: Request<Bytes>| match request.uri().path() {
        "/panic" => panic!("the handler has a bug"),
        _ => whole("fine"),
    });
    let mut peer = running.connect();
    peer.send("GET /panic HTTP/1.1\r\nhost: a\r\n\r\n");
    peer.answer().assert_refused(500);
    peer.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    assert_eq!(peer.answer().text(), "fine");
}

async fn echo(request: Request<Bytes>) -> Response<Body> {
    whole(request.into_body())
}

fn note_call(called: &Arc<AtomicBool>) -> impl Fn(Request<Bytes>) -> future::Ready<Response<Body>> + use<> {
    let called = Arc::clone(called);
    move |_| {
        called.store(true, Ordering::SeqCst);
        future::ready(whole(""))
    }
}

fn whole(body: impl Into<Bytes>) -> Response<Body> {
    Response::new(
        Full::new(body.into())
            .map_err(|never| match never {})
            .boxed_unsync(),
    )
}

fn within_patience<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async { tokio::time::timeout(PATIENCE, future).await.unwrap() })
}

/// A server in its own thread; dropping it drains it.
struct Running {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Running {
    fn start<F>(handler: impl Fn(Request<Bytes>) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Response<Body>> + Send + 'static,
    {
        Self::start_with(PATIENCE, PATIENCE, handler)
    }

    fn start_with<F>(
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
        let thread = std::thread::spawn(|| super::serve(server));
        Self {
            address,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// A server whose one answer is what comes through the channel.
    fn streaming() -> (mpsc::Sender<io::Result<Bytes>>, Self) {
        let (chunks, mut receiver) = mpsc::channel(1);
        let frames = stream::poll_fn(move |context| receiver.poll_recv(context)).map_ok(Frame::data);
        let once = Mutex::new(Some(StreamBody::new(frames).boxed_unsync()));
        let running = Self::start(move |_| {
            let body = once.lock().unwrap().take().unwrap();
            async { Response::new(body) }
        });
        (chunks, running)
    }

    fn connect(&self) -> Peer {
        let socket = TcpStream::connect(self.address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Peer(socket)
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

/// The other end of one connection.
struct Peer(TcpStream);

impl Peer {
    fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.write_all(bytes.as_ref()).unwrap();
    }

    fn close_writing(&mut self) {
        self.0.shutdown(Shutdown::Write).unwrap();
    }

    fn head(&mut self) -> Answer {
        let status = self.line();
        let status = str::from_utf8(&status)
            .unwrap()
            .split(' ')
            .nth(1)
            .unwrap()
            .parse()
            .unwrap();
        let headers = std::iter::from_fn(|| {
            let line = self.line();
            let colon = line.iter().position(|&byte| byte == b':')?;
            let (name, value) = line.split_at(colon);
            let name = String::from_utf8(name.to_ascii_lowercase()).unwrap();
            Some((name, value.strip_prefix(b": ").unwrap().to_vec()))
        });
        Answer {
            status,
            headers: headers.collect(),
            body: Vec::new(),
        }
    }

    fn answer(&mut self) -> Answer {
        let mut answer = self.head();
        let length = str::from_utf8(answer.all("content-length").first().unwrap())
            .unwrap()
            .parse()
            .unwrap();
        answer.body = vec![0; length];
        self.0.read_exact(&mut answer.body).unwrap();
        answer
    }

    /// The next chunk of a chunked body; the last one is empty.
    fn chunk(&mut self) -> Vec<u8> {
        let length = usize::from_str_radix(str::from_utf8(&self.line()).unwrap(), 16).unwrap();
        let mut chunk = vec![0; length];
        self.0.read_exact(&mut chunk).unwrap();
        assert_eq!(self.line(), b"");
        chunk
    }

    /// Everything until the server closes, which it must.
    fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        match self.0.read_to_end(&mut rest) {
            Err(error) if error.kind() != io::ErrorKind::ConnectionReset => panic!("still open: {error}"),
            _ => rest,
        }
    }

    fn line(&mut self) -> Vec<u8> {
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") {
            let mut byte = [0];
            self.0.read_exact(&mut byte).unwrap();
            line.extend(byte);
        }
        line.truncate(line.len() - 2);
        line
    }
}

struct Answer {
    status: u16,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
}

impl Answer {
    fn all(&self, name: &str) -> Vec<&[u8]> {
        self.headers
            .iter()
            .filter(|(key, _)| key == name)
            .map(|(_, value)| value.as_slice())
            .collect()
    }

    fn text(&self) -> &str {
        str::from_utf8(&self.body).unwrap()
    }

    fn assert_refused(&self, status: u16) {
        assert_eq!(
            (self.status, self.text()),
            (status, format!(r#"{{"status":{status}}}"#).as_str())
        );
    }
}
