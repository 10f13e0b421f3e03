//! Cases of `ExchangeLimits::body_timeout`: once the head has arrived, the exchange succeeds.

/// The cases.
#[host_ports_conformance::kit(body_timeout)]
mod cases {
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use bytes::Bytes;
    use host_ports::{ExchangeLimits, TransportError, TransportErrorKind, Truncated};
    use http::Response;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;
    use tokio::time::sleep;

    use crate::receiver::{Receiver, post, read_request};
    use crate::{Maker, Setup};

    type Sent = Result<Response<Bytes>, TransportError>;

    const HEAD_OF_TEN: &str = "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n";
    const HEAD_OF_CHUNKS: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    const LONG: Duration = Duration::from_secs(10);

    fn limits(timeout: Duration, body_timeout: Option<Duration>) -> ExchangeLimits {
        ExchangeLimits {
            timeout,
            body_timeout,
            ..Default::default()
        }
    }

    /// Sends one request to a server that writes `begin`, then `again` every 50 ms until the
    /// transport closes the connection. Also returns the duration of the exchange.
    async fn drip(make: &Arc<Maker>, limits: ExchangeLimits, begin: &str, again: &str) -> (Sent, Duration) {
        let receiver = Receiver::bind().await;
        let transport = make.make(Setup::new(receiver.loopback_policy()));
        let mut request = post(&receiver.url("http", "127.0.0.1"));
        request.extensions_mut().insert(limits);
        let dripping = async {
            let mut stream = answered(&receiver, begin).await;
            while !again.is_empty() && stream.write_all(again.as_bytes()).await.is_ok() {
                sleep(Duration::from_millis(50)).await;
            }
            // a server that writes nothing more detects the end of the exchange by reading
            while stream.read(&mut [0; 16]).await.is_ok_and(|read| read > 0) {}
        };
        let begun = Instant::now();
        let send = async {
            let sent = transport.send(request).await;
            (sent, begun.elapsed())
        };
        tokio::join!(send, dripping).0
    }

    async fn answered(receiver: &Receiver, begin: &str) -> TcpStream {
        let (mut stream, _) = receiver.listener.accept().await.unwrap();
        read_request(&mut stream).await;
        stream.write_all(begin.as_bytes()).await.unwrap();
        stream
    }

    #[track_caller]
    fn assert_truncated(sent: Sent) -> Bytes {
        let response = sent.unwrap();
        assert_eq!(response.status(), 200);
        assert!(response.extensions().get::<Truncated>().is_some());
        response.into_body()
    }

    /// W32: a body that arrives byte by byte is truncated at the body timeout, long before the
    /// deadline, and its connection is closed.
    pub async fn dripping_body_is_truncated_at_the_body_timeout(make: &Arc<Maker>) {
        let limits = limits(LONG, Some(Duration::from_millis(200)));
        let (sent, took) = drip(
            make,
            limits,
            "HTTP/1.1 200 OK\r\ncontent-length: 9000\r\n\r\n",
            "x",
        )
        .await;
        let kept = assert_truncated(sent);
        assert!((1..100).contains(&kept.len()), "{}", kept.len());
        assert!(took < LONG / 2, "{took:?}");
    }

    /// W32: a body that never arrives is truncated at the body timeout.
    pub async fn silent_body_is_truncated_at_the_body_timeout(make: &Arc<Maker>) {
        for head in [HEAD_OF_TEN, HEAD_OF_CHUNKS, "HTTP/1.1 200 OK\r\n\r\n"] {
            let limits = limits(LONG, Some(Duration::from_millis(50)));
            let (sent, took) = drip(make, limits, head, "").await;
            assert_eq!(assert_truncated(sent), "", "{head}");
            assert!(took < LONG / 2, "{took:?}");
        }
    }

    /// W32: a chunked body without end is truncated at the body timeout.
    pub async fn endless_chunks_are_truncated_at_the_body_timeout(make: &Arc<Maker>) {
        let limits = limits(LONG, Some(Duration::from_millis(200)));
        let (sent, took) = drip(make, limits, HEAD_OF_CHUNKS, "1\r\nx\r\n").await;
        assert!(!assert_truncated(sent).is_empty());
        assert!(took < LONG / 2, "{took:?}");
    }

    /// W32: with a body timeout, a body that is unfinished at the deadline is truncated, not an
    /// error.
    pub async fn deadline_in_the_body_truncates_it(make: &Arc<Maker>) {
        for body_timeout in [LONG, Duration::MAX] {
            let limits = limits(Duration::from_millis(200), Some(body_timeout));
            let (sent, took) = drip(make, limits, HEAD_OF_CHUNKS, "1\r\nx\r\n").await;
            assert!(!assert_truncated(sent).is_empty());
            assert!(took < LONG / 2, "{took:?}");
        }
    }

    /// W32: if the connection is reset during the body, the response has the head and the bytes
    /// received before the reset.
    pub async fn reset_in_the_body_truncates_it(make: &Arc<Maker>) {
        for head in [HEAD_OF_TEN, HEAD_OF_CHUNKS] {
            let receiver = Receiver::bind().await;
            let transport = make.make(Setup::new(receiver.loopback_policy()));
            let mut request = post(&receiver.url("http", "127.0.0.1"));
            request.extensions_mut().insert(limits(LONG, Some(LONG)));
            let resetting = async {
                let stream = answered(&receiver, head).await;
                // the reset must not overtake the head
                sleep(Duration::from_millis(50)).await;
                stream.set_zero_linger().unwrap();
            };
            let (sent, ()) = tokio::join!(transport.send(request), resetting);
            assert_eq!(assert_truncated(sent), "", "{head}");
        }
    }

    /// W32: a body that ends in time is complete.
    pub async fn body_within_the_body_timeout_is_whole(make: &Arc<Maker>) {
        let receiver = Receiver::bind().await;
        let transport = make.make(Setup::new(receiver.loopback_policy()));
        let mut request = post(&receiver.url("http", "127.0.0.1"));
        request.extensions_mut().insert(limits(LONG, Some(LONG)));
        let answering = async {
            let mut stream = answered(&receiver, HEAD_OF_TEN).await;
            for half in ["first", "other"] {
                sleep(Duration::from_millis(20)).await;
                stream.write_all(half.as_bytes()).await.unwrap();
            }
        };
        let (sent, ()) = tokio::join!(transport.send(request), answering);
        let response = sent.unwrap();
        assert_eq!(response.body().as_ref(), b"firstother");
        assert!(response.extensions().get::<Truncated>().is_none());
    }

    /// W12, W32: without a body timeout, a body that is unfinished at the deadline is `Timeout`.
    pub async fn deadline_in_the_body_is_a_timeout_by_default(make: &Arc<Maker>) {
        for again in ["1\r\nx\r\n", ""] {
            let limits = limits(Duration::from_millis(150), None);
            let (sent, _) = drip(make, limits, HEAD_OF_CHUNKS, again).await;
            assert_eq!(sent.unwrap_err().kind(), TransportErrorKind::Timeout);
        }
    }

    /// W12, W32: a missing or unfinished head is `Timeout` at the deadline, even with a body
    /// timeout.
    pub async fn deadline_before_the_head_is_a_timeout(make: &Arc<Maker>) {
        for begin in ["", "HTTP/1.1 200 OK\r\nx-head: unfini"] {
            let limits = limits(Duration::from_millis(150), Some(LONG));
            let (sent, _) = drip(make, limits, begin, "").await;
            assert_eq!(sent.unwrap_err().kind(), TransportErrorKind::Timeout);
        }
    }
}

pub use cases::*;
