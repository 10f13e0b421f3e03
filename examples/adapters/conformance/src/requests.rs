//! Requests and responses over plain HTTP/1.1. The client is a socket, so that the cases see the
//! bytes.

/// The cases.
#[host_ports_conformance::kit(requests)]
mod cases {
    use std::io;
    use std::net::SocketAddr;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use bytes::Bytes;
    use futures_util::future;
    use host_server::Limits;
    use http::{Request, Response, header::CONTENT_LENGTH};
    use http_conventions::routing::AllowedHosts;
    use tokio::sync::{mpsc, oneshot};

    use crate::handlers::{MEBIBYTE, echo, whole};
    use crate::running::{Running, patient, within_patience};
    use crate::{Adapter, Body};

    /// H19: the limit, 1 MiB by default, applies to the decoded body. A larger body gets the
    /// response of `refuse`.
    pub fn body_over_the_limit_is_413(adapter: &Arc<Adapter>) {
        let running = Running::start(adapter, echo);
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
        // the client is still writing when the server refuses, and must see the response, not a
        // reset
        upload(8 * MEBIBYTE).assert_refused(413, "POST / -");
    }

    /// H19: a body without a declared length has the same limit.
    pub fn chunked_body_has_the_same_limit(adapter: &Arc<Adapter>) {
        let running = Running::start(adapter, echo);
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

    /// An upload with `Expect: 100-continue` gets the interim response 100.
    pub fn expect_100_continue_is_answered(adapter: &Arc<Adapter>) {
        let running = Running::start(adapter, echo);
        let mut peer = running.connect();
        peer.send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\nexpect: 100-continue\r\n\r\n");
        assert_eq!(peer.head().status, 100);
        peer.send("hi");
        assert_eq!(peer.answer().text(), "hi");
    }

    /// H13: a malformed body gets the response of `refuse`, and the handler is not called.
    pub fn malformed_chunk_is_400(adapter: &Arc<Adapter>) {
        let called = Arc::new(AtomicBool::new(false));
        let running = Running::start(adapter, note_call(&called));
        let mut peer = running.connect();
        peer.send("PUT /a%2Fb?c HTTP/1.1\r\nhost: a\r\nx-tag: one\r\n");
        peer.send("transfer-encoding: chunked\r\n\r\nnonsense\r\n");
        peer.answer().assert_refused(400, "PUT /a%2Fb?c one");
        assert!(!called.load(Ordering::SeqCst));
    }

    /// The handler is not called with an incomplete body.
    pub fn aborted_upload_never_reaches_the_handler(adapter: &Arc<Adapter>) {
        let called = Arc::new(AtomicBool::new(false));
        let running = Running::start(adapter, note_call(&called));
        let mut peer = running.connect();
        peer.send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhalf");
        peer.close_writing();
        peer.rest();
        assert!(!called.load(Ordering::SeqCst));
    }

    /// H13: a client that stops in the middle of its body gets the response of `refuse` at the read
    /// timeout.
    pub fn stalled_body_is_408(adapter: &Arc<Adapter>) {
        let running = Running::start_with(adapter, stalling(), echo);
        let mut peer = running.connect();
        peer.send(b"POST /slow HTTP/1.1\r\nhost: a\r\nx-tag: \xff\r\ncontent-length: 10\r\n\r\nhalf");
        peer.answer().assert_refused(408, "POST /slow \\xff");
    }

    /// A client that stops in the middle of its head is disconnected at the read timeout.
    pub fn stalled_head_is_cut_off(adapter: &Arc<Adapter>) {
        let running = Running::start_with(adapter, stalling(), echo);
        let mut peer = running.connect();
        peer.send("POST / HTTP/1.1\r\nhost:");
        peer.rest();
    }

    /// X3: the handler gets method and target byte by byte, and the address of the client.
    pub fn handler_sees_method_target_and_peer(adapter: &Arc<Adapter>) {
        let running = Running::start(adapter, async |request: Request<Bytes>| {
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

    /// X3: headers pass in both directions with repetitions, order and opaque bytes.
    pub fn repeated_and_non_ascii_headers_pass_both_ways(adapter: &Arc<Adapter>) {
        let running = Running::start(adapter, async |request: Request<Bytes>| {
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

    /// A response to HEAD has the `Content-Length` of the omitted content, zero included.
    pub fn head_response_has_the_length_of_its_content(adapter: &Arc<Adapter>) {
        let running = Running::start(adapter, async |request: Request<Bytes>| {
            match request.uri().path() {
                "/declared" => {
                    let mut response = whole("");
                    response.headers_mut().insert(CONTENT_LENGTH, 5.into());
                    response
                }
                "/empty" => whole(""),
                _ => whole("hello"),
            }
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

    /// H8: a 304 has no `Content-Length`.
    pub fn not_modified_has_no_length(adapter: &Arc<Adapter>) {
        let running = Running::start(adapter, async |_| {
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

    /// Pipelined requests are answered in order.
    pub fn pipelined_requests_are_answered_in_order(adapter: &Arc<Adapter>) {
        let running = Running::start(adapter, async |request: Request<Bytes>| {
            whole(request.uri().to_string())
        });
        let mut peer = running.connect();
        peer.send("GET /1 HTTP/1.1\r\nhost: a\r\n\r\nGET /2 HTTP/1.1\r\nhost: a\r\n\r\n");
        assert_eq!(peer.answer().text(), "/1");
        assert_eq!(peer.answer().text(), "/2");
    }

    /// X3: a streamed body arrives chunk by chunk. An empty frame does not end it.
    pub fn streamed_response_arrives_in_pieces(adapter: &Arc<Adapter>) {
        let (chunks, running) = Running::streaming(adapter);
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

    /// A response body that fails is cut off without the last, empty chunk.
    pub fn failed_stream_does_not_look_complete(adapter: &Arc<Adapter>) {
        let (chunks, running) = Running::streaming(adapter);
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

    /// X3: the server drops the stream of a client that has disconnected.
    pub fn disconnect_drops_the_stream(adapter: &Arc<Adapter>) {
        let (chunks, running) = Running::streaming(adapter);
        let mut peer = running.connect();
        peer.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
        peer.head();
        chunks.blocking_send(Ok(Bytes::from("one"))).unwrap();
        peer.chunk();
        drop(peer);
        within_patience(chunks.closed());
    }

    /// The server drops the future of a handler whose client has disconnected.
    pub fn disconnect_drops_the_handler(adapter: &Arc<Adapter>) {
        let (entered, mut has_entered) = mpsc::channel::<()>(1);
        let entered = Mutex::new(Some(entered));
        let running = Running::start(adapter, move |_| {
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

    /// A request that is open at the shutdown gets its response.
    pub fn shutdown_finishes_open_request(adapter: &Arc<Adapter>) {
        let (entered, mut has_entered) = mpsc::channel::<()>(1);
        let (release, released) = oneshot::channel::<()>();
        let once = Mutex::new(Some((entered, released)));
        let mut running = Running::start(adapter, move |_| {
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
        running.wait_until_closed();
        release.send(()).unwrap();
        assert_eq!(peer.answer().text(), "done");
        running.join();
    }

    /// A request that outlives the drain timeout is cut off.
    pub fn shutdown_cuts_off_request_at_drain_timeout(adapter: &Arc<Adapter>) {
        let (entered, mut has_entered) = mpsc::channel::<()>(1);
        let short_drain = Limits {
            drain_timeout: Duration::from_secs(1),
            ..patient()
        };
        let mut running = Running::start_with(adapter, short_drain, move |_| {
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

    /// A malformed request line gets 400, and the server continues.
    pub fn malformed_request_line_is_400(adapter: &Arc<Adapter>) {
        let running = Running::start(adapter, echo);
        let mut peer = running.connect();
        peer.send(b"\xff\x00 nonsense\r\n\r\n");
        assert!(peer.rest().starts_with(b"HTTP/1.1 400"));
        let mut next = running.connect();
        next.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
        assert_eq!(next.answer().status, 200);
    }

    /// H13: a request without exactly one `Host` gets 400. If there are two, a proxy in front may
    /// have used the other one.
    pub fn request_without_exactly_one_host_is_400(adapter: &Arc<Adapter>) {
        let called = Arc::new(AtomicBool::new(false));
        let running = Running::start(adapter, note_call(&called));
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

    /// H13: a panic of the handler gets the response of `refuse` and affects one request only.
    pub fn panicking_handler_is_500(adapter: &Arc<Adapter>) {
        let running = Running::start(adapter, async |request: Request<Bytes>| {
            match request.uri().path() {
                "/panic" => panic!("the handler has a bug"),
                _ => whole("fine"),
            }
        });
        let mut peer = running.connect();
        peer.send("GET /panic?at=1 HTTP/1.1\r\nhost: a\r\nx-tag: two\r\n\r\n");
        peer.answer().assert_refused(500, "GET /panic?at=1 two");
        peer.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
        assert_eq!(peer.answer().text(), "fine");
    }

    /// X10: a refusal ends its connection openly, or leaves it whole for the next request.
    pub fn refusal_does_not_cut_off_the_next_request(adapter: &Arc<Adapter>) {
        let limits = Limits {
            hosts: AllowedHosts::parse(["a"]).unwrap(),
            ..patient()
        };
        let running = Running::start_with(adapter, limits, async |request: Request<Bytes>| {
            match request.uri().path() {
                "/slow" => tokio::time::sleep(Duration::from_millis(2500)).await,
                _ => panic!("a bug"),
            }
            whole("slow".to_owned())
        });
        for (host, framing, body, status) in [
            ("a", "content-length: 2", "hi", 500),
            ("foreign", "content-length: 2", "hi", 421),
            (
                "foreign",
                "transfer-encoding: chunked",
                "2\r\nhi\r\n0\r\n\r\n",
                421,
            ),
        ] {
            let mut peer = running.connect();
            peer.send(format!(
                "POST /panics HTTP/1.1\r\nhost: {host}\r\n{framing}\r\n\r\n{body}"
            ));
            let refused = peer.answer();
            assert_eq!(refused.status, status);
            if refused.all("connection") == [b"close"] {
                peer.rest();
                continue;
            }
            peer.send("GET /slow HTTP/1.1\r\nhost: a\r\n\r\n");
            assert_eq!(peer.answer().text(), "slow", "{host} {framing}");
        }
    }

    /// X10: a request for a WebSocket that the handler does not offer is a request like another.
    pub fn chunked_body_beside_an_upgrade_is_read(adapter: &Arc<Adapter>) {
        let running = Running::start(adapter, echo);
        let mut peer = running.connect();
        peer.send("GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n");
        peer.send("transfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n");
        assert_eq!(peer.answer().text(), "hi");
    }

    fn note_call(
        called: &Arc<AtomicBool>,
    ) -> impl Fn(Request<Bytes>) -> future::Ready<Response<Body>> + use<> {
        let called = Arc::clone(called);
        move |_| {
            called.store(true, Ordering::SeqCst);
            future::ready(whole(""))
        }
    }

    /// Limits with a read timeout of 200 ms.
    fn stalling() -> Limits {
        Limits {
            read_timeout: Duration::from_millis(200),
            ..patient()
        }
    }
}

pub use cases::*;
