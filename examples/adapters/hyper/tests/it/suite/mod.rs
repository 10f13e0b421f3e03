//! What each adapter promises, over real sockets. The tests of every adapter include this file; `super::serve` is
//! the adapter at hand. The client is a plain socket, so that the tests see bytes and not a library's reading of them.

mod peer;
mod running;
mod websockets;

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future;
use http::{Request, Response, header::CONTENT_LENGTH};
use http_body_util::{BodyExt, Full};
use tokio::sync::{mpsc, oneshot};

use running::{Body, PATIENCE, Running};

pub(crate) use running::{Server, refuse};

const MEBIBYTE: usize = 1 << 20;

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
    upload(MEBIBYTE + 1).assert_refused(413, "POST / -");
    // its sender is still writing when the verdict is known, and would take a server that hangs up for a broken one
    upload(8 * MEBIBYTE).assert_refused(413, "POST / -");
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
    upload(17).assert_refused(413, "POST / -");
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
    peer.send("PUT /a%2Fb?c HTTP/1.1\r\nhost: a\r\nx-tag: one\r\n");
    peer.send("transfer-encoding: chunked\r\n\r\nnonsense\r\n");
    peer.answer().assert_refused(400, "PUT /a%2Fb?c one");
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
    peer.send(b"POST /slow HTTP/1.1\r\nhost: a\r\nx-tag: \xff\r\ncontent-length: 10\r\n\r\nhalf");
    peer.answer().assert_refused(408, "POST /slow \\xff");
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
        "/empty" => whole(""),
        _ => whole("hello"),
    });
    for (path, length) in [("/", "5"), ("/declared", "5"), ("/empty", "0")] {
        let mut peer = running.connect();
        peer.send(format!(
            "HEAD {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"
        ));
        let head = peer.head();
        assert_eq!(
            (head.status, head.all("content-length")),
            (200, vec![length.as_bytes()]),
            "{path}"
        );
        assert_eq!(peer.rest(), b"", "{path}");
    }
}

/// H8: nobody knows the length of what was not modified, least of all that it is nothing.
#[test]
fn a_304_says_no_length() {
    let running = Running::start(async |_| {
        let mut response = whole("");
        *response.status_mut() = http::StatusCode::NOT_MODIFIED;
        response
    });
    for method in ["GET", "HEAD"] {
        let mut peer = running.connect();
        peer.send(format!(
            "{method} / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"
        ));
        let head = peer.head();
        assert_eq!(
            (head.status, head.all("content-length")),
            (304, Vec::new()),
            "{method}"
        );
        assert_eq!(peer.rest(), b"", "{method}");
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
    running.refuses_connections();
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

/// H13: whoever sends two hosts means one of them for the proxy in front and one for the server behind it.
#[test]
fn a_request_names_one_host() {
    let called = Arc::new(AtomicBool::new(false));
    let running = Running::start(note_call(&called));
    for hosts in ["", "host: a\r\nhost: b\r\n", "host: a\r\nhost: a\r\n"] {
        let mut peer = running.connect();
        peer.send(format!("GET / HTTP/1.1\r\n{hosts}connection: close\r\n\r\n"));
        assert!(peer.rest().starts_with(b"HTTP/1.1 400"), "{hosts}");
    }
    assert!(!called.load(Ordering::SeqCst));
    let mut older = running.connect();
    older.send("GET / HTTP/1.0\r\n\r\n");
    assert!(older.rest().starts_with(b"HTTP/1.0 200"));
}

/// H13: even a panic is answered in the host's words, and costs one request only.
#[test]
fn a_panicking_handler_is_500() {
    let running = Running::start(async |request: Request<Bytes>| match request.uri().path() {
        "/panic" => panic!("the handler has a bug"),
        _ => whole("fine"),
    });
    let mut peer = running.connect();
    peer.send("GET /panic?at=1 HTTP/1.1\r\nhost: a\r\nx-tag: two\r\n\r\n");
    peer.answer().assert_refused(500, "GET /panic?at=1 two");
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
