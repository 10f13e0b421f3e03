//! Cases of one exchange: the request on the wire, and the returned part of the response.

/// The cases.
#[host_ports_conformance::kit(exchange)]
mod cases {
    use std::sync::Arc;
    use std::time::Duration;

    use bytes::Bytes;
    use host_ports::{ExchangeLimits, TransportError, TransportErrorKind, Truncated};
    use http::{Request, Response};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use crate::receiver::{Receiver, post, read_request};
    use crate::{Maker, Setup};

    async fn exchange(
        make: &Arc<Maker>,
        answer: &[u8],
        limits: ExchangeLimits,
    ) -> Result<Response<Bytes>, TransportError> {
        let receiver = Receiver::bind().await;
        let transport = make.make(Setup::new(receiver.loopback_policy()));
        let mut request = post(&receiver.url("http", "localhost"));
        request.extensions_mut().insert(limits);
        let answering = async {
            let (mut stream, _) = receiver.listener.accept().await.unwrap();
            read_request(&mut stream).await;
            // a transport that has read enough closes the connection
            stream.write_all(answer).await.ok();
        };
        tokio::join!(transport.send(request), answering).0
    }

    /// A timeout of `Duration::MAX` is accepted and means no deadline.
    pub async fn longest_timeout_is_accepted(make: &Arc<Maker>) {
        let limits = ExchangeLimits {
            timeout: Duration::MAX,
            ..Default::default()
        };
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
        let response = exchange(make, answer, limits).await.unwrap();
        assert_eq!(response.body().as_ref(), b"ok");
    }

    const CHUNK_OF_FOUR: &[u8] = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nfour\r\n";

    fn capped_at_four(receiver: &Receiver, timeout: Duration) -> Request<Bytes> {
        let mut request = post(&receiver.url("http", "127.0.0.1"));
        request.extensions_mut().insert(ExchangeLimits {
            timeout,
            max_response_body: 4,
            ..ExchangeLimits::default()
        });
        request
    }

    /// A response with `count` header fields of `bytes` bytes in all. Each field includes four
    /// bytes for the colon, a space and CRLF.
    fn head_of(count: usize, bytes: usize) -> Vec<u8> {
        let mut head = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n".to_owned();
        let others = count - 1;
        let rest = bytes - "content-length: 0\r\n".len();
        for number in 0..others {
            let size = rest / others + usize::from(number < rest % others);
            let name = format!("x-{number}: ");
            let value = "v".repeat(size - name.len() - 2);
            head.extend([name.as_str(), &value, "\r\n"]);
        }
        head.push_str("\r\n");
        head.into_bytes()
    }

    fn is_truncated(response: &Response<Bytes>) -> bool {
        response.extensions().get::<Truncated>().is_some()
    }

    /// W10, O22: every status from 200 to 599 is a response, and no redirect is followed.
    pub async fn every_status_is_a_response(make: &Arc<Maker>) {
        let (receiver, elsewhere) = (Receiver::bind().await, Receiver::bind().await);
        let policy = receiver.loopback_policy().with_port(elsewhere.port);
        let transport = make.make(Setup::new(policy));
        let (url, location) = (
            receiver.url("http", "127.0.0.1"),
            elsewhere.url("http", "127.0.0.1"),
        );
        for status in 200..=599 {
            let answer = format!("HTTP/1.1 {status} S\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
            let (sent, _) = tokio::join!(transport.send(post(&url)), receiver.answer(answer.as_bytes()));
            let sent = sent.unwrap();
            assert_eq!((sent.status().as_u16(), is_truncated(&sent)), (status, false));
            assert_eq!(sent.headers()["location"], &*location, "{status}");
        }
        assert!(!elsewhere.was_called());
    }

    /// W10: the transport sets the headers that frame a message and ignores those of the request.
    pub async fn request_is_framed_by_the_transport(make: &Arc<Maker>) {
        let receiver = Receiver::bind().await;
        let transport = make.make(Setup::new(receiver.loopback_policy()));
        let request = Request::post(receiver.url("http", "LOCALHOST"))
            .header("webhook-id", "evt_1")
            .header("host", "metadata.google.internal")
            .header("content-length", "99")
            .header("transfer-encoding", "chunked")
            .header("accept-encoding", "gzip")
            .body(Bytes::from_static(b"{}"));
        let answer = b"HTTP/1.1 204 No Content\r\n\r\n";
        let (sent, received) = tokio::join!(transport.send(request.unwrap()), receiver.answer(answer));
        assert_eq!(sent.unwrap().status(), 204);
        let (head, body) = received.split_once("\r\n\r\n").unwrap();
        let lines: Vec<&str> = head.split("\r\n").collect();
        assert_eq!((lines[0], body), ("POST /in?a=1 HTTP/1.1", "{}"));
        for expected in [
            "webhook-id: evt_1",
            "content-length: 2",
            &format!("host: localhost:{}", receiver.port),
        ] {
            let (name, _) = expected.split_once(':').unwrap();
            let of_name = lines.iter().filter(|line| {
                let mut parts = line.split(':');
                parts.next().is_some_and(|found| found.eq_ignore_ascii_case(name))
            });
            let of_name: Vec<_> = of_name.map(|line| line.to_ascii_lowercase()).collect();
            assert_eq!(of_name, [expected.to_owned()]);
        }
        let received = received.to_ascii_lowercase();
        assert!(!received.contains("transfer-encoding") && !received.contains("gzip"));
    }

    /// A complete response is returned with its headers and its body.
    pub async fn response_is_returned_whole(make: &Arc<Maker>) {
        let answer = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 120\r\ncontent-length: 4\r\n\r\nbusy";
        let response = exchange(make, answer, ExchangeLimits::default()).await.unwrap();
        assert_eq!(
            (response.status().as_u16(), &response.body()[..]),
            (503, b"busy".as_slice())
        );
        assert_eq!(response.headers()["retry-after"], "120");
        assert!(!is_truncated(&response));
    }

    /// W12: a body over the size limit is cut there and marked `Truncated`, with and without a
    /// declared length.
    pub async fn body_over_the_cap_is_truncated(make: &Arc<Maker>) {
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
            let response = exchange(make, &answer, limits).await.unwrap();
            assert_eq!(
                (response.status().as_u16(), &response.body()[..]),
                (200, [b'x'; 10].as_slice())
            );
            assert!(is_truncated(&response));
        }
    }

    /// W12: a body of exactly the size limit is complete.
    pub async fn body_of_exactly_the_cap_is_whole(make: &Arc<Maker>) {
        let limits = ExchangeLimits {
            max_response_body: 4,
            ..Default::default()
        };
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfour";
        let response = exchange(make, answer, limits).await.unwrap();
        assert_eq!(&response.body()[..], b"four");
        assert!(!is_truncated(&response));
    }

    /// W12: by default 65,536 bytes of a body are kept. One byte more is truncated.
    pub async fn default_cap_is_65536_bytes(make: &Arc<Maker>) {
        for (length, truncated) in [(65_536, false), (65_537, true)] {
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n");
            let answer = [head.into_bytes(), vec![b'x'; length]].concat();
            let response = exchange(make, &answer, ExchangeLimits::default()).await.unwrap();
            assert_eq!(response.body().len(), 65_536);
            assert_eq!(is_truncated(&response), truncated, "{length}");
        }
    }

    /// W12: a chunked body of exactly the size limit is complete, even if its last chunk arrives in
    /// a separate segment, with trailers or without.
    pub async fn chunked_body_of_exactly_the_cap_is_whole(make: &Arc<Maker>) {
        for end in ["0\r\n\r\n", "0\r\nx-checksum: 1\r\n\r\n"] {
            let receiver = Receiver::bind().await;
            let transport = make.make(Setup::new(receiver.loopback_policy()));
            let request = capped_at_four(&receiver, Duration::from_secs(10));
            let answering = async {
                let (mut stream, _) = receiver.listener.accept().await.unwrap();
                stream.set_nodelay(true).unwrap();
                read_request(&mut stream).await;
                stream.write_all(CHUNK_OF_FOUR).await.unwrap();
                tokio::task::yield_now().await;
                stream.write_all(end.as_bytes()).await.ok();
                stream
            };
            let (sent, _open) = tokio::join!(transport.send(request), answering);
            let response = sent.unwrap();
            assert_eq!(&response.body()[..], b"four");
            assert!(!is_truncated(&response), "{end:?}");
        }
    }

    /// W12: a chunked body of exactly the size limit whose last chunk never arrives is kept and
    /// marked `Truncated`: the exchange returns a response, not a timeout.
    pub async fn silence_after_the_cap_is_truncated(make: &Arc<Maker>) {
        let receiver = Receiver::bind().await;
        let transport = make.make(Setup::new(receiver.loopback_policy()));
        let request = capped_at_four(&receiver, Duration::from_millis(500));
        let answering = async {
            let (mut stream, _) = receiver.listener.accept().await.unwrap();
            read_request(&mut stream).await;
            stream.write_all(CHUNK_OF_FOUR).await.unwrap();
            stream
        };
        let (sent, _open) = tokio::join!(transport.send(request), answering);
        let response = sent.unwrap();
        assert_eq!(
            (response.status().as_u16(), &response.body()[..]),
            (200, b"four".as_slice())
        );
        assert!(is_truncated(&response));
    }

    /// W12: the kept bytes take no more memory than the size limit, however large the received
    /// frames are.
    pub async fn kept_body_takes_no_more_memory_than_the_cap(make: &Arc<Maker>) {
        let limits = ExchangeLimits {
            max_response_body: 10,
            ..Default::default()
        };
        let answer = [
            b"HTTP/1.1 200 OK\r\ncontent-length: 60000\r\n\r\n".as_slice(),
            &[b'x'; 60_000],
        ]
        .concat();
        let response = exchange(make, &answer, limits).await.unwrap();
        let kept = response.into_body().try_into_mut().unwrap();
        assert_eq!(kept, [b'x'; 10].as_slice());
        assert!(kept.capacity() <= 64, "{}", kept.capacity());
    }

    /// W12: the received part of an incomplete body is returned, marked `Truncated`.
    pub async fn broken_body_is_kept_and_marked(make: &Arc<Maker>) {
        for answer in [
            b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf".as_slice(),
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n",
        ] {
            let response = exchange(make, answer, ExchangeLimits::default()).await.unwrap();
            assert_eq!(
                (response.status().as_u16(), &response.body()[..]),
                (200, b"half".as_slice())
            );
            assert!(is_truncated(&response));
        }
    }

    /// A server may respond before it has read the request's body, and then wait for the client or
    /// close at once. The exchange returns the server's response.
    pub async fn response_before_the_body_was_read_counts(make: &Arc<Maker>) {
        for waits in [true, false] {
            let receiver = Receiver::bind().await;
            let transport = make.make(Setup::new(receiver.loopback_policy()));
            let mut request = post(&receiver.url("http", "127.0.0.1"));
            // more than the buffers of both kernels hold
            *request.body_mut() = Bytes::from(vec![b'x'; 32 << 20]);
            let answering = async {
                let (mut stream, _) = receiver.listener.accept().await.unwrap();
                let mut head = [0; 16];
                stream.read_exact(&mut head).await.unwrap();
                let answer =
                    b"HTTP/1.1 413 Content Too Large\r\nretry-after: 9\r\ncontent-length: 3\r\n\r\nbig";
                stream.write_all(answer).await.unwrap();
                waits.then_some(stream)
            };
            let (sent, _open) = tokio::join!(transport.send(request), answering);
            let response = sent.unwrap();
            assert_eq!(
                (response.status().as_u16(), &response.body()[..]),
                (413, b"big".as_slice())
            );
            assert_eq!(response.headers()["retry-after"], "9");
        }
    }

    /// A head of 65,536 bytes is read, in 2 fields or in 100.
    pub async fn head_of_65536_bytes_is_read(make: &Arc<Maker>) {
        for count in [2, 100] {
            let answer = head_of(count, 65_536);
            let response = exchange(make, &answer, ExchangeLimits::default()).await.unwrap();
            assert_eq!(response.headers().len(), count);
        }
    }

    /// W12: an endless sequence of header fields is `TooLarge` before the deadline, for any length
    /// of a field.
    pub async fn flood_of_header_fields_is_too_large(make: &Arc<Maker>) {
        assert_eq!(
            flooded(make, "HTTP/1.1 200 OK\r\n", "a: b\r\n").await,
            TransportErrorKind::TooLarge
        );
        let complete = [
            b"HTTP/1.1 200 OK\r\n".as_slice(),
            &b"a: b\r\n".repeat(10_000),
            b"\r\n",
        ];
        let failed = exchange(make, &complete.concat(), ExchangeLimits::default())
            .await
            .unwrap_err();
        assert_eq!(failed.kind(), TransportErrorKind::TooLarge);
    }

    /// An exchange with a server that speaks HTTP/2 with prior knowledge fails at once, not at the
    /// deadline.
    pub async fn http_2_over_plain_tcp_fails(make: &Arc<Maker>) {
        let settings = "\0\0\0\x04\0\0\0\0\0";
        assert_eq!(flooded(make, settings, settings).await, TransportErrorKind::Other);
    }

    /// Returns the error of an exchange whose server sends `begin`, then `again` until the
    /// transport closes the connection.
    async fn flooded(make: &Arc<Maker>, begin: &str, again: &str) -> TransportErrorKind {
        let receiver = Receiver::bind().await;
        let transport = make.make(Setup::new(receiver.loopback_policy()));
        let flooding = async {
            let (mut stream, _) = receiver.listener.accept().await.unwrap();
            read_request(&mut stream).await;
            stream.write_all(begin.as_bytes()).await.unwrap();
            let again = again.repeat(100);
            while stream.write_all(again.as_bytes()).await.is_ok() {}
        };
        let (sent, ()) = tokio::join!(transport.send(post(&receiver.url("http", "127.0.0.1"))), flooding);
        sent.unwrap_err().kind()
    }

    /// W12: a head of 1 MiB is too large.
    pub async fn head_without_end_is_too_large(make: &Arc<Maker>) {
        let answer = [b"HTTP/1.1 200 OK\r\nx-filler: ".as_slice(), &[b'x'; 1 << 20]].concat();
        let failed = exchange(make, &answer, ExchangeLimits::default())
            .await
            .unwrap_err();
        assert_eq!(failed.kind(), TransportErrorKind::TooLarge);
    }

    /// A response that is not HTTP is an error.
    pub async fn response_that_is_not_http_fails(make: &Arc<Maker>) {
        for answer in [b"SSH-2.0-OpenSSH_9.6\r\n".as_slice(), b"", b"HTTP/1.1 200"] {
            let failed = exchange(make, answer, ExchangeLimits::default())
                .await
                .unwrap_err();
            assert_eq!(
                failed.kind(),
                TransportErrorKind::Other,
                "{}",
                answer.escape_ascii()
            );
        }
    }

    /// A closed port is `Connect`: nothing was sent.
    pub async fn closed_port_is_a_failed_connection(make: &Arc<Maker>) {
        let receiver = Receiver::bind().await;
        let (policy, url) = (receiver.loopback_policy(), receiver.url("http", "127.0.0.1"));
        drop(receiver);
        let transport = make.make(Setup::new(policy));
        let failed = transport.send(post(&url)).await.unwrap_err();
        assert_eq!(failed.kind(), TransportErrorKind::Connect);
    }
}

pub use cases::*;
