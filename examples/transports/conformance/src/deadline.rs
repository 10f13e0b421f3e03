//! Cases of the deadline, which covers the whole exchange, wherever a server stalls.

/// The cases.
#[host_ports_conformance::kit(deadline)]
mod cases {
    use std::sync::Arc;
    use std::time::Duration;

    use host_ports::address::AddressPolicy;
    use host_ports::{ExchangeLimits, Transport, TransportErrorKind};
    use tokio::io::AsyncWriteExt;
    use tokio::net::{TcpSocket, TcpStream};
    use tokio::time::{interval, timeout};

    use crate::receiver::{LOOPBACK, NAME, Receiver, post, read_request};
    use crate::{Maker, Names, Setup};

    async fn assert_times_out(transport: &dyn Transport, url: &str) {
        let mut request = post(url);
        request.extensions_mut().insert(ExchangeLimits {
            timeout: Duration::from_millis(100),
            ..Default::default()
        });
        let failed = transport.send(request).await.unwrap_err();
        assert_eq!(failed.kind(), TransportErrorKind::Timeout);
    }

    /// W12: the deadline covers name resolution.
    pub async fn silent_name_server_times_out(make: &Arc<Maker>) {
        let receiver = Receiver::bind().await;
        let setup = Setup::new(receiver.strict_policy()).with_names(Names::silent());
        assert_times_out(&*make.make(setup), &receiver.url("http", NAME)).await;
    }

    /// W12: the deadline covers connecting.
    pub async fn connection_that_never_opens_times_out(make: &Arc<Maker>) {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((LOOPBACK, 0).into()).unwrap();
        let listener = socket.listen(1).unwrap();
        let address = listener.local_addr().unwrap();
        let mut queue = Vec::new();
        // no connection is accepted: once the kernel's queue is full, the next one gets no answer
        while let Ok(connected) = timeout(Duration::from_millis(100), TcpStream::connect(address)).await {
            queue.push(connected.unwrap());
        }
        let transport = make.make(Setup::new(AddressPolicy::new().danger_allow_loopback()));
        assert_times_out(&*transport, &format!("http://{address}/")).await;
    }

    /// W12: the deadline covers the TLS handshake.
    pub async fn silent_tls_handshake_times_out(make: &Arc<Maker>) {
        let receiver = Receiver::bind().await;
        let transport = make.make(Setup::new(receiver.loopback_policy()));
        assert_times_out(&*transport, &receiver.url("https", "127.0.0.1")).await;
    }

    /// W12: the deadline covers the head of the response.
    pub async fn server_that_never_responds_times_out(make: &Arc<Maker>) {
        let receiver = Receiver::bind().await;
        let transport = make.make(Setup::new(receiver.loopback_policy()));
        assert_times_out(&*transport, &receiver.url("http", "127.0.0.1")).await;
    }

    /// W12: a head or a body that arrives byte by byte does not extend the deadline, at which the
    /// connection is closed.
    pub async fn dripping_response_times_out(make: &Arc<Maker>) {
        for answer in [
            "HTTP/1.1 200 OK\r\nx-drip: ",
            "HTTP/1.1 200 OK\r\ncontent-length: 60000\r\n\r\n",
        ] {
            let receiver = Receiver::bind().await;
            let transport = make.make(Setup::new(receiver.loopback_policy()));
            let dripping = async {
                let (mut stream, _) = receiver.listener.accept().await.unwrap();
                read_request(&mut stream).await;
                stream.write_all(answer.as_bytes()).await.unwrap();
                let mut drops = interval(Duration::from_millis(5));
                // ends when the transport closes the connection
                while stream.write_all(b"x").await.is_ok() {
                    drops.tick().await;
                }
            };
            let url = receiver.url("http", "127.0.0.1");
            tokio::join!(assert_times_out(&*transport, &url), dripping);
        }
    }

    /// W12: an endless sequence of interim responses does not extend the deadline.
    pub async fn flood_of_interim_responses_times_out(make: &Arc<Maker>) {
        let receiver = Receiver::bind().await;
        let transport = make.make(Setup::new(receiver.loopback_policy()));
        let flooding = async {
            let (mut stream, _) = receiver.listener.accept().await.unwrap();
            read_request(&mut stream).await;
            let interim = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n".repeat(100);
            while stream.write_all(interim.as_bytes()).await.is_ok() {}
        };
        let url = receiver.url("http", "127.0.0.1");
        tokio::join!(assert_times_out(&*transport, &url), flooding);
    }
}

pub use cases::*;
