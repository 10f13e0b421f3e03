//! What goes over the wire, and what is kept of the answer.

use bytes::Bytes;
use host_ports::{ExchangeLimits, Transport, TransportError, TransportErrorKind};
use host_transport_hyper::HyperTransport;
use http::{Request, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::receiver::{Receiver, post};

async fn exchange(answer: &[u8], limits: ExchangeLimits) -> Result<Response<Bytes>, TransportError> {
    let receiver = Receiver::bind().await;
    let transport = HyperTransport::new(receiver.loopback_policy());
    let mut request = post(&receiver.url("http", "localhost"));
    request.extensions_mut().insert(limits);
    // a transport that has read enough hangs up on the receiver
    let answering = async {
        let (mut stream, _) = receiver.listener.accept().await.unwrap();
        crate::receiver::read_request(&mut stream).await;
        stream.write_all(answer).await.ok();
    };
    tokio::join!(transport.send(request), answering).0
}

#[tokio::test]
async fn the_request_is_framed_by_the_transport_alone() {
    let receiver = Receiver::bind().await;
    let transport = HyperTransport::new(receiver.loopback_policy());
    let request = Request::post(receiver.url("http", "LOCALHOST"))
        .header("webhook-id", "evt_1")
        .header("host", "metadata.google.internal")
        .header("content-length", "99")
        .header("transfer-encoding", "chunked")
        .header("accept-encoding", "gzip")
        .header("connection", "keep-alive")
        .body(Bytes::from_static(b"{}"));
    let answer = b"HTTP/1.1 204 No Content\r\n\r\n";
    let (sent, received) = tokio::join!(transport.send(request.unwrap()), receiver.answer(answer));
    assert_eq!(sent.unwrap().status(), 204);
    let (head, body) = received.split_once("\r\n\r\n").unwrap();
    let mut lines: Vec<&str> = head.split("\r\n").collect();
    lines.sort_unstable();
    let host = format!("host: localhost:{}", receiver.port);
    let expected = [
        "POST /in?a=1 HTTP/1.1",
        "accept-encoding: identity",
        "connection: close",
        "content-length: 2",
        &host,
        "webhook-id: evt_1",
    ];
    assert_eq!((lines.as_slice(), body), (expected.as_slice(), "{}"));
}

#[tokio::test]
async fn the_answer_comes_back_whole() {
    let answer = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 120\r\ncontent-length: 4\r\n\r\nbusy";
    let answered = exchange(answer, ExchangeLimits::default()).await.unwrap();
    assert_eq!(
        (answered.status().as_u16(), answered.body().as_ref()),
        (503, b"busy".as_slice())
    );
    assert_eq!(answered.headers()["retry-after"], "120");
}

/// W12: a receiver cannot make its sender hold more than the cap, whether or not it declares a length.
#[tokio::test]
async fn a_body_over_the_cap_is_cut_off() {
    let limits = ExchangeLimits {
        max_response_body: 10,
        ..Default::default()
    };
    let declared = [
        b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n".as_slice(),
        &[b'x'; 1_000_000],
    ]
    .concat();
    let chunked = [
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".as_slice(),
        &b"8\r\nxxxxxxxx\r\n".repeat(100_000),
    ]
    .concat();
    for answer in [declared, chunked] {
        let answered = exchange(&answer, limits).await.unwrap();
        assert_eq!(
            (answered.status().as_u16(), answered.body().as_ref()),
            (200, [b'x'; 10].as_slice())
        );
    }
}

/// The head has decided the delivery; what is missing of the body is missing from the log only.
#[tokio::test]
async fn a_body_that_breaks_off_is_kept_as_far_as_it_came() {
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf";
    let answered = exchange(answer, ExchangeLimits::default()).await.unwrap();
    assert_eq!(
        (answered.status().as_u16(), answered.body().as_ref()),
        (200, b"half".as_slice())
    );
}

/// A receiver may refuse a request by its head alone: what it says is the answer, though the body never got through. Whether it
/// waits for the sender to hang up or closes at once, which resets the connection.
#[tokio::test]
async fn an_answer_before_the_body_was_read_is_the_answer() {
    for waits in [true, false] {
        let receiver = Receiver::bind().await;
        let transport = HyperTransport::new(receiver.loopback_policy());
        let mut request = post(&receiver.url("http", "127.0.0.1"));
        // more than the buffers of both kernels hold
        *request.body_mut() = Bytes::from(vec![b'x'; 32 << 20]);
        let answering = async {
            let (mut stream, _) = receiver.listener.accept().await.unwrap();
            let mut head = [0; 16];
            stream.read_exact(&mut head).await.unwrap();
            let answer = b"HTTP/1.1 413 Content Too Large\r\nretry-after: 9\r\ncontent-length: 3\r\n\r\nbig";
            stream.write_all(answer).await.unwrap();
            waits.then_some(stream)
        };
        let (answered, _open) = tokio::join!(transport.send(request), answering);
        let answered = answered.unwrap();
        assert_eq!(
            (answered.status().as_u16(), answered.body().as_ref()),
            (413, b"big".as_slice())
        );
        assert_eq!(answered.headers()["retry-after"], "9");
    }
}

#[tokio::test]
async fn a_head_without_end_is_too_large() {
    let answer = [b"HTTP/1.1 200 OK\r\nx-filler: ".as_slice(), &[b'x'; 1 << 20]].concat();
    let failed = exchange(&answer, ExchangeLimits::default()).await.unwrap_err();
    assert_eq!(failed.kind(), TransportErrorKind::TooLarge);
}

#[tokio::test]
async fn an_answer_that_is_not_http_is_an_error() {
    for answer in [b"SSH-2.0-OpenSSH_9.6\r\n".as_slice(), b"", b"HTTP/1.1 200"] {
        let failed = exchange(answer, ExchangeLimits::default()).await.unwrap_err();
        assert_eq!(
            failed.kind(),
            TransportErrorKind::Other,
            "{}",
            answer.escape_ascii()
        );
    }
}

#[tokio::test]
async fn a_closed_port_is_a_failed_connection() {
    let receiver = Receiver::bind().await;
    let (policy, url) = (receiver.loopback_policy(), receiver.url("http", "127.0.0.1"));
    drop(receiver);
    let failed = HyperTransport::new(policy).send(post(&url)).await.unwrap_err();
    assert_eq!(failed.kind(), TransportErrorKind::Connect);
}
