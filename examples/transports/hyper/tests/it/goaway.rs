//! Ends of HTTP/2 connections, by a server that writes its frames by hand.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use host_ports::{Transport, TransportError, TransportErrorKind};
use host_transport_conformance::receiver::{NAME, Receiver, post};
use http::{Method, Response};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use crate::servers::{Server, accept, transport_to};

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const ACK: u8 = 1;
/// `:status: 200` in the static table of HPACK.
const STATUS_200: &[u8] = &[0x88];

/// Reaction of the server to a request.
#[derive(Clone, Copy)]
enum Reaction {
    Answer,
    /// Answers, then sends a GOAWAY and closes.
    AnswerAndGoAway,
    /// Sends a GOAWAY that names the last stream it processes, and closes.
    GoAway(u32),
    Close,
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = u32::try_from(payload.len()).unwrap().to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

fn go_away(last: u32) -> Vec<u8> {
    let no_error = 0_u32;
    frame(
        GOAWAY,
        0,
        0,
        &[last.to_be_bytes(), no_error.to_be_bytes()].concat(),
    )
}

fn response(stream: u32) -> Vec<u8> {
    let head = frame(HEADERS, END_HEADERS, stream, STATUS_200);
    [head, frame(DATA, END_STREAM, stream, b"ok")].concat()
}

/// Serves one connection. `react` is called for every request.
async fn serve(mut stream: TlsStream<TcpStream>, react: impl Fn() -> Reaction) -> io::Result<()> {
    stream.read_exact(&mut [0; 24]).await?;
    stream.write_all(&frame(SETTINGS, 0, 0, b"")).await?;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await?;
        let [a, b, c, kind, flags, s0, s1, s2, s3] = head;
        let length = u32::from_be_bytes([0, a, b, c]);
        let id = u32::from_be_bytes([s0, s1, s2, s3]);
        stream
            .read_exact(&mut vec![0; usize::try_from(length).unwrap()])
            .await?;
        if kind == SETTINGS && flags & ACK == 0 {
            stream.write_all(&frame(SETTINGS, ACK, 0, b"")).await?;
        }
        if kind != HEADERS {
            continue;
        }
        match react() {
            Reaction::Answer => stream.write_all(&response(id)).await?,
            Reaction::AnswerAndGoAway => {
                stream.write_all(&response(id)).await?;
                stream.write_all(&go_away(id)).await?;
                return stream.shutdown().await;
            }
            Reaction::GoAway(last) => {
                stream.write_all(&go_away(last)).await?;
                return stream.shutdown().await;
            }
            Reaction::Close => return stream.shutdown().await,
        }
    }
}

/// Sends a POST, then a second request. The server answers all requests but one as usual. Returns
/// the result of the second, and the number of requests that the server has read.
async fn second_request(
    method: Method,
    unusual: (usize, Reaction),
) -> (Result<Response<Bytes>, TransportError>, usize) {
    let receiver = Receiver::bind().await;
    let (transport, url) = (transport_to(&receiver), receiver.url("https", NAME));
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&requests);
    let _server = Server::start(receiver, move |stream, _| {
        let counted = Arc::clone(&counted);
        async move {
            let stream = accept(stream, b"h2").await.unwrap();
            let react = || match counted.fetch_add(1, Ordering::SeqCst) {
                number if number == unusual.0 => unusual.1,
                _ => Reaction::Answer,
            };
            serve(stream, react).await.ok();
        }
    });
    let first = transport.send(post(&url)).await.unwrap();
    assert_eq!(first.body().as_ref(), b"ok");
    let mut request = post(&url);
    *request.method_mut() = method;
    let second = transport.send(request).await;
    (second, requests.load(Ordering::SeqCst))
}

/// W31: after a GOAWAY the next request goes to a new connection.
#[tokio::test]
async fn goaway_while_idle_is_followed_by_a_new_connection() {
    let unusual = (0, Reaction::AnswerAndGoAway);
    let (sent, requests) = second_request(Method::POST, unusual).await;
    assert_eq!((sent.unwrap().status().as_u16(), requests), (200, 2));
}

/// W31: a request after the last stream of a GOAWAY was not processed, and is sent once more.
#[tokio::test]
async fn request_after_the_last_stream_is_sent_once_more() {
    let unusual = (1, Reaction::GoAway(1));
    let (sent, requests) = second_request(Method::POST, unusual).await;
    assert_eq!((sent.unwrap().status().as_u16(), requests), (200, 3));
}

/// W31: a request that the server may have processed is sent once more if it is idempotent alone.
#[tokio::test]
async fn request_up_to_the_last_stream_is_not_sent_again() {
    for reaction in [Reaction::GoAway(3), Reaction::Close] {
        let (sent, requests) = second_request(Method::POST, (1, reaction)).await;
        assert_eq!(sent.unwrap_err().kind(), TransportErrorKind::Other);
        assert_eq!(requests, 2);
        let (sent, requests) = second_request(Method::GET, (1, reaction)).await;
        assert_eq!((sent.unwrap().status().as_u16(), requests), (200, 3));
    }
}
