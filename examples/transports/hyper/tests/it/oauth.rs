//! The port of oauth-core over the same way out.

use host_ports::address::AddressPolicy;
use host_ports::{Transport, TransportError, Truncated};
use host_transport_hyper::HyperTransport;
use http::Request;

use crate::receiver::{Receiver, post, read_request};
use bytes::Bytes;
use http::Response;
use tokio::io::AsyncWriteExt;

async fn exchange(answer: &[u8]) -> Result<Response<Bytes>, TransportError> {
    let issuer = Receiver::bind().await;
    let transport = HyperTransport::new(issuer.loopback_policy());
    let request = post(&issuer.url("http", "localhost"));
    let answering = async {
        let (mut stream, _) = issuer.listener.accept().await.unwrap();
        read_request(&mut stream).await;
        stream.write_all(answer).await.ok();
    };
    tokio::join!(Transport::send(&transport, request), answering).0
}

/// O22: every status is a response, and a redirect is not followed.
#[tokio::test]
async fn an_answer_comes_back_as_it_was_sent() {
    for (status, line) in [
        (200, "OK"),
        (302, "Found"),
        (404, "Not Found"),
        (503, "Unavailable"),
    ] {
        let answer = format!(
            "HTTP/1.1 {status} {line}\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 2\r\n\r\n{{}}"
        );
        let answered = exchange(answer.as_bytes()).await.unwrap();
        assert_eq!(
            (answered.status().as_u16(), &answered.body()[..]),
            (status, b"{}".as_slice())
        );
    }
}

/// O22: a body of more than 64 KiB and one that breaks off are marked, so that a reader of metadata can refuse them.
#[tokio::test]
async fn incomplete_body_is_marked_truncated() {
    let of = |length: usize, sent: usize| {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n");
        [head.as_bytes(), &vec![b' '; sent]].concat()
    };
    for (length, sent, whole) in [
        (65_536, 65_536, true),
        (65_537, 65_537, false),
        (65_536, 65_535, false),
        (10, 2, false),
    ] {
        let response = exchange(&of(length, sent)).await.unwrap();
        let is_marked = response.extensions().get::<Truncated>().is_some();
        assert_eq!(
            (response.body().len(), is_marked),
            (sent.min(65_536), !whole),
            "{length} {sent}"
        );
    }
}

/// O22: metadata that point into the network of the host lead nowhere.
#[tokio::test]
async fn an_issuer_on_a_private_network_is_not_asked() {
    let transport = HyperTransport::new(AddressPolicy::new());
    for url in [
        "https://169.254.169.254/",
        "https://10.0.0.1/",
        "https://127.0.0.1/",
        "https://[::1]/",
    ] {
        let request = Request::get(url).body(Bytes::new()).unwrap();
        let refused = Transport::send(&transport, request).await.unwrap_err();
        assert!(std::error::Error::source(&refused).is_some(), "{url}");
    }
}
