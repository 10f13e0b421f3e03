//! Cases of connections between exchanges, for transports with and without connection reuse.

/// The cases.
#[host_ports_conformance::kit(connections)]
mod cases {
    use std::net::IpAddr;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use host_ports::{ExchangeLimits, Transport, TransportErrorKind};
    use http::Method;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::sync::oneshot;
    use tokio::task::{JoinHandle, JoinSet};
    use tokio::time::timeout;

    use crate::receiver::{LOOPBACK, NAME, Receiver, post, read_request, try_read_request};
    use crate::{Maker, Names, Setup};

    const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

    /// Serves every connection until its client leaves, or closes it after `per_connection`
    /// responses, without `connection: close`.
    fn serve(receiver: Receiver, per_connection: usize) -> JoinHandle<()> {
        tokio::spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (mut stream, _) = receiver.listener.accept().await.unwrap();
                connections.spawn(async move {
                    for _ in 0..per_connection {
                        if try_read_request(&mut stream).await.is_none() {
                            return;
                        }
                        stream.write_all(OK).await.ok();
                    }
                });
            }
        })
    }

    async fn body(transport: &dyn Transport, url: &str) -> String {
        let response = transport.send(post(url)).await.unwrap();
        String::from_utf8(response.into_body().to_vec()).unwrap()
    }

    /// W10, W31: a name that changes to a refused address between two requests is refused, even if
    /// a connection to the previous address is still open.
    pub async fn rebound_name_is_refused_with_an_open_connection(make: &Arc<Maker>) {
        let receiver = Receiver::bind().await;
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let names = Names::from_fn(move |_| {
            let private: IpAddr = [10, 0, 0, 1].into();
            Ok(match counted.fetch_add(1, Ordering::SeqCst) {
                0 | 3 => vec![LOOPBACK],
                1 => vec![private],
                _ => vec![LOOPBACK, private],
            })
        });
        let transport = make.make(Setup::new(receiver.loopback_policy()).with_names(names));
        let url = receiver.url("http", NAME);
        let served = serve(receiver, 9);
        assert_eq!(body(&*transport, &url).await, "ok");
        for _ in 0..2 {
            let refused = transport.send(post(&url)).await.unwrap_err();
            assert_eq!(refused.kind(), TransportErrorKind::RefusedAddress);
        }
        assert_eq!(body(&*transport, &url).await, "ok");
        served.abort();
    }

    /// W10, W31: the name is resolved exactly once for every request.
    pub async fn name_is_resolved_for_every_request(make: &Arc<Maker>) {
        let receiver = Receiver::bind().await;
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let names = Names::from_fn(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            Ok(vec![LOOPBACK])
        });
        let transport = make.make(Setup::new(receiver.loopback_policy()).with_names(names));
        let url = receiver.url("http", NAME);
        let served = serve(receiver, 9);
        for expected in 1..=4 {
            assert_eq!(body(&*transport, &url).await, "ok");
            assert_eq!(count.load(Ordering::SeqCst), expected);
        }
        served.abort();
    }

    /// W31: an unsolicited second response is not taken for the response to the next request,
    /// whether it arrives with the first response or while the connection is idle.
    pub async fn unasked_response_answers_no_request(make: &Arc<Maker>) {
        const SMUGGLED: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\nsmuggled";
        for comes_late in [false, true] {
            let receiver = Receiver::bind().await;
            let transport = make.make(Setup::new(receiver.loopback_policy()));
            let url = receiver.url("http", "127.0.0.1");
            let first = async {
                let (mut stream, _) = receiver.listener.accept().await.unwrap();
                read_request(&mut stream).await;
                let answer = if comes_late {
                    OK.to_vec()
                } else {
                    [OK, SMUGGLED].concat()
                };
                stream.write_all(&answer).await.unwrap();
                stream
            };
            let (sent, mut stream) = tokio::join!(body(&*transport, &url), first);
            assert_eq!(sent, "ok");
            if comes_late {
                stream.write_all(SMUGGLED).await.ok();
            }
            // the connection is unusable now, so the next request arrives on another one
            let on_another = timeout(Duration::from_secs(9), receiver.answer(OK));
            let (sent, answered) = tokio::join!(body(&*transport, &url), on_another);
            assert_eq!(sent, "ok", "comes late: {comes_late}");
            assert!(answered.is_ok());
        }
    }

    /// W31: a POST that a server has read is not sent again when the connection closes without a
    /// response.
    pub async fn unanswered_post_is_not_sent_again(make: &Arc<Maker>) {
        let receiver = Receiver::bind().await;
        let transport = make.make(Setup::new(receiver.loopback_policy()));
        let url = receiver.url("http", "127.0.0.1");
        let requests = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&requests);
        let server = tokio::spawn(async move {
            loop {
                let (mut stream, _) = receiver.listener.accept().await.unwrap();
                while try_read_request(&mut stream).await.is_some() {
                    if counted.fetch_add(1, Ordering::SeqCst) == 1 {
                        break;
                    }
                    stream.write_all(OK).await.unwrap();
                }
            }
        });
        assert_eq!(body(&*transport, &url).await, "ok");
        let lost = transport.send(post(&url)).await.unwrap_err();
        assert_eq!(lost.kind(), TransportErrorKind::Other);
        assert_eq!(requests.load(Ordering::SeqCst), 2);
        assert_eq!(body(&*transport, &url).await, "ok");
        server.abort();
    }

    /// W31: after the server has closed or reset a connection, without `connection: close`, the
    /// next POST succeeds on another connection.
    pub async fn closed_connection_loses_no_post(make: &Arc<Maker>) {
        let receiver = Receiver::bind().await;
        let transport = make.make(Setup::new(receiver.loopback_policy()));
        let url = receiver.url("http", "127.0.0.1");
        for resets in [false, true, false, true, false] {
            let (read, is_read) = oneshot::channel();
            let closing = async {
                let (mut stream, _) = receiver.listener.accept().await.unwrap();
                read_request(&mut stream).await;
                stream.write_all(OK).await.unwrap();
                is_read.await.unwrap();
                if resets {
                    stream.set_zero_linger().unwrap();
                }
            };
            let exchange = async {
                assert_eq!(body(&*transport, &url).await, "ok");
                read.send(()).unwrap();
            };
            let closed = async { tokio::join!(exchange, closing) };
            timeout(Duration::from_secs(9), closed).await.unwrap();
        }
    }

    /// W31: 64 concurrent sequences of idempotent requests all succeed although the server closes
    /// each connection after 1 or 3 responses, without `connection: close`.
    pub async fn closing_server_under_load_loses_no_request(make: &Arc<Maker>) {
        for per_connection in [1, 3] {
            let receiver = Receiver::bind().await;
            let transport = make.make(Setup::new(receiver.loopback_policy()));
            let url = receiver.url("http", "127.0.0.1");
            let served = serve(receiver, per_connection);
            let mut exchanges = JoinSet::new();
            for _ in 0..64 {
                let (transport, url) = (Arc::clone(&transport), url.clone());
                exchanges.spawn(async move {
                    for _ in 0..8 {
                        let mut request = post(&url);
                        *request.method_mut() = Method::PUT;
                        let response = transport.send(request).await.unwrap();
                        assert_eq!(response.body().as_ref(), b"ok");
                    }
                });
            }
            while let Some(exchanged) = exchanges.join_next().await {
                exchanged.unwrap();
            }
            served.abort();
        }
    }

    /// W31: 64 concurrent exchanges get their own responses.
    pub async fn concurrent_exchanges_do_not_mix(make: &Arc<Maker>) {
        let receiver = Receiver::bind().await;
        let transport = make.make(Setup::new(receiver.loopback_policy()));
        let url = receiver.url("http", "127.0.0.1");
        let served = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (mut stream, _) = receiver.listener.accept().await.unwrap();
                connections.spawn(async move {
                    while let Some(request) = try_read_request(&mut stream).await {
                        let number = request.split("x-number: ").nth(1).unwrap();
                        let number = number.split("\r\n").next().unwrap();
                        let answer = format!(
                            "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{number}",
                            number.len()
                        );
                        stream.write_all(answer.as_bytes()).await.ok();
                    }
                });
            }
        });
        let mut exchanges = JoinSet::new();
        for worker in 0..64 {
            let (transport, url) = (Arc::clone(&transport), url.clone());
            exchanges.spawn(async move {
                for round in 0..8 {
                    let number = (worker * 8 + round).to_string();
                    let mut request = post(&url);
                    request.headers_mut().insert("x-number", number.parse().unwrap());
                    let response = transport.send(request).await.unwrap();
                    assert_eq!(response.body(), number.as_bytes());
                }
            });
        }
        while let Some(exchanged) = exchanges.join_next().await {
            exchanged.unwrap();
        }
        served.abort();
    }

    /// W31: after an exchange was truncated or timed out, the next request does not read the rest
    /// of its body, and the server sees the end of the connection.
    pub async fn cut_exchange_ends_its_connection(make: &Arc<Maker>) {
        let capped = ExchangeLimits {
            max_response_body: 2,
            ..Default::default()
        };
        let timed = ExchangeLimits {
            timeout: Duration::from_millis(100),
            ..Default::default()
        };
        let headless = ExchangeLimits {
            body_timeout: Some(Duration::from_millis(50)),
            ..Default::default()
        };
        for limits in [capped, timed, headless] {
            let receiver = Receiver::bind().await;
            let transport = make.make(Setup::new(receiver.loopback_policy()));
            let url = receiver.url("http", "127.0.0.1");
            let mut request = post(&url);
            request.extensions_mut().insert(limits);
            let half = async {
                let (mut stream, _) = receiver.listener.accept().await.unwrap();
                read_request(&mut stream).await;
                let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf";
                stream.write_all(answer).await.unwrap();
                // the end of the stream, or a reset because of unread bytes
                assert!(!matches!(stream.read(&mut [0; 16]).await, Ok(1..)));
            };
            let (sent, ()) = tokio::join!(transport.send(request), half);
            assert_eq!(sent.is_err(), limits.timeout < Duration::from_secs(1));
            let (sent, _) = tokio::join!(body(&*transport, &url), receiver.answer(OK));
            assert_eq!(sent, "ok");
        }
    }
}

pub use cases::*;
