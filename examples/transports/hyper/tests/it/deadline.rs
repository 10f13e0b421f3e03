//! W12: one deadline over everything, wherever a receiver stalls.

use std::io;
use std::net::IpAddr;
use std::time::Duration;

use async_trait::async_trait;
use host_ports::address::AddressPolicy;
use host_ports::{ExchangeLimits, Transport, TransportErrorKind};
use host_transport_hyper::{HyperTransport, Resolve};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

use crate::receiver::{LOOPBACK, NAME, Receiver, post, read_request};

struct SilentNameServer;

#[async_trait]
impl Resolve for SilentNameServer {
    async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        std::future::pending().await
    }
}

async fn assert_times_out(transport: &HyperTransport, url: &str) {
    let mut request = post(url);
    request.extensions_mut().insert(ExchangeLimits {
        timeout: Duration::from_millis(100),
        ..Default::default()
    });
    assert_eq!(
        transport.send(request).await.unwrap_err().kind(),
        TransportErrorKind::Timeout
    );
}

/// W12: the name server is inside the deadline.
#[tokio::test]
async fn a_silent_name_server_is_cut_off() {
    let receiver = Receiver::bind().await;
    let transport = HyperTransport::new(receiver.strict_policy()).with_resolver(SilentNameServer);
    assert_times_out(&transport, &receiver.url("http", NAME)).await;
}

/// W12: connecting is inside the deadline.
#[tokio::test]
async fn a_connection_that_never_opens_is_cut_off() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((LOOPBACK, 0).into()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut queue = Vec::new();
    // nobody accepts, so the kernel's queue fills up and the next connection gets no answer
    while let Ok(connected) = timeout(Duration::from_millis(100), TcpStream::connect(address)).await {
        queue.push(connected.unwrap());
    }
    let transport = HyperTransport::new(AddressPolicy::new().danger_allow_loopback());
    assert_times_out(&transport, &format!("http://{address}/")).await;
}

/// W12: the TLS handshake is inside the deadline.
#[tokio::test]
async fn a_silent_tls_handshake_is_cut_off() {
    let receiver = Receiver::bind().await;
    let transport = HyperTransport::new(receiver.loopback_policy());
    assert_times_out(&transport, &receiver.url("https", "127.0.0.1")).await;
}

/// W12: waiting for the head is inside the deadline.
#[tokio::test]
async fn a_receiver_that_never_answers_is_cut_off() {
    let receiver = Receiver::bind().await;
    let transport = HyperTransport::new(receiver.loopback_policy());
    assert_times_out(&transport, &receiver.url("http", "127.0.0.1")).await;
}

/// W12: a head, and a body, that come byte by byte do not stretch the deadline.
#[tokio::test]
async fn a_dripping_answer_is_cut_off() {
    for answer in [
        "HTTP/1.1 200 OK\r\nx-drip: ",
        "HTTP/1.1 200 OK\r\ncontent-length: 60000\r\n\r\n",
    ] {
        let receiver = Receiver::bind().await;
        let transport = HyperTransport::new(receiver.loopback_policy());
        let dripping = async {
            let (mut stream, _) = receiver.listener.accept().await.unwrap();
            read_request(&mut stream).await;
            stream.write_all(answer.as_bytes()).await.unwrap();
            // ends when the transport hangs up
            while stream.write_all(b"x").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let url = receiver.url("http", "127.0.0.1");
        tokio::join!(assert_times_out(&transport, &url), dripping);
    }
}
