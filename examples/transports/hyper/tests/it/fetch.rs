//! Fetches over redirects: allowed targets, and the headers of each hop.

use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use host_ports::{ExchangeLimits, TransportError, TransportErrorKind};
use host_transport_conformance::receiver::{LOOPBACK, NAME, Receiver};
use host_transport_hyper::HyperTransport;
use http::{Request, Response};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nhere";

fn moved(to: &str) -> Vec<u8> {
    format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n").into_bytes()
}

/// A GET with the body `{}`, up to which the test receivers read.
fn get(url: &str) -> Request<Bytes> {
    let request = Request::get(url).header("authorization", "Bearer t");
    request.body(Bytes::from_static(b"{}")).unwrap()
}

async fn fetch(
    receiver: &Receiver,
    answers: &[Vec<u8>],
) -> (Result<Response<Bytes>, TransportError>, Vec<String>) {
    let transport = HyperTransport::new(receiver.loopback_policy());
    let answering = async {
        let mut requests = Vec::new();
        for answer in answers {
            requests.push(receiver.answer(answer).await);
        }
        requests
    };
    tokio::join!(
        transport.fetch(get(&receiver.url("http", "localhost"))),
        answering
    )
}

/// W10: a fetch follows redirects of its origin and returns the last response.
#[tokio::test]
async fn a_fetch_follows_three_redirects() {
    let receiver = Receiver::bind().await;
    let answers = [moved("/b"), moved("/c"), moved("/d"), OK.to_vec()];
    let (fetched, requests) = fetch(&receiver, &answers).await;
    assert_eq!(fetched.unwrap().body(), "here");
    let lines: Vec<_> = requests
        .iter()
        .filter_map(|request| request.lines().next())
        .collect();
    let expected = [
        "GET /in?a=1 HTTP/1.1",
        "GET /b HTTP/1.1",
        "GET /c HTTP/1.1",
        "GET /d HTTP/1.1",
    ];
    assert_eq!(lines, expected);
    assert!(
        requests
            .iter()
            .all(|request| request.contains("authorization: Bearer t"))
    );
}

/// W10: the fourth redirect ends the fetch, so that a loop ends too.
#[tokio::test]
async fn a_fetch_ends_at_the_fourth_redirect() {
    let receiver = Receiver::bind().await;
    let loops = [
        moved("/in?a=1"),
        moved("/in?a=1"),
        moved("/in?a=1"),
        moved("/in?a=1"),
    ];
    let (refused, _) = fetch(&receiver, &loops).await;
    assert_eq!(refused.unwrap_err().kind(), TransportErrorKind::RefusedAddress);
    assert!(!receiver.was_called());
}

/// W10: a redirect to a refused address, literal or by name, is not followed.
#[tokio::test]
async fn a_redirect_to_a_refused_address_is_not_followed() {
    let receiver = Receiver::bind().await;
    let inside = format!("http://inside.example.com:{}/", receiver.port);
    let resolver = |name: &str| {
        Ok(vec![if name == NAME {
            LOOPBACK
        } else {
            IpAddr::from([10, 0, 0, 1])
        }])
    };
    let transport = HyperTransport::new(receiver.loopback_policy()).with_resolver(resolver);
    let to_metadata = [
        "https://169.254.169.254/",
        "https://metadata.google.internal/",
        "http://10.0.0.1/",
    ];
    for to in to_metadata.into_iter().chain([inside.as_str()]) {
        let answer = moved(to);
        let request = get(&receiver.url("http", NAME));
        let (refused, _) = tokio::join!(transport.fetch(request), receiver.answer(&answer));
        assert_eq!(
            refused.unwrap_err().kind(),
            TransportErrorKind::RefusedAddress,
            "{to}"
        );
    }
    assert!(!receiver.was_called());
}

/// W10: a redirect to another origin carries no credentials.
#[tokio::test]
async fn credentials_stay_with_their_origin() {
    let (first, second) = (Receiver::bind().await, Receiver::bind().await);
    let transport = HyperTransport::new(first.loopback_policy());
    let request = Request::get(first.url("http", "localhost")).header("authorization", "Bearer t");
    let fetched = transport.fetch(request.body(Bytes::new()).unwrap());
    let answering = async {
        let to = moved(&second.url("http", "localhost"));
        (head(&first, &to).await, head(&second, OK).await)
    };
    let (fetched, (told_first, told_second)) = tokio::join!(fetched, answering);
    assert_eq!(fetched.unwrap().status(), 200);
    assert!(told_first.contains("authorization: Bearer t"));
    assert!(!told_second.contains("authorization"), "{told_second}");
}

/// W12: one deadline for all hops together.
#[tokio::test]
async fn the_deadline_is_over_all_hops() {
    let receiver = Receiver::bind().await;
    let transport = HyperTransport::new(receiver.loopback_policy());
    let mut request = get(&receiver.url("http", "localhost"));
    let timeout = Duration::from_millis(300);
    request.extensions_mut().insert(ExchangeLimits {
        timeout,
        ..Default::default()
    });
    let answering = async {
        receiver.answer(&moved("/b")).await;
        receiver.listener.accept().await.unwrap()
    };
    let (late, _held_open) = tokio::join!(transport.fetch(request), answering);
    assert_eq!(late.unwrap_err().kind(), TransportErrorKind::Timeout);
}

/// Reads one request without a body and answers with `answer`.
async fn head(receiver: &Receiver, answer: &[u8]) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let (mut stream, _) = receiver.listener.accept().await.unwrap();
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        assert!(
            stream.read_buf(&mut request).await.unwrap() > 0,
            "the request breaks off"
        );
    }
    stream.write_all(answer).await.unwrap();
    String::from_utf8(request).unwrap()
}
