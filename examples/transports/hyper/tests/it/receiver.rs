//! The other end: plain sockets, so that it can misbehave at will.

use std::net::{IpAddr, Ipv4Addr};

use bytes::Bytes;
use host_ports::address::AddressPolicy;
use http::Request;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;

pub(crate) const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// A name that resolves nowhere but in these tests' resolvers.
pub(crate) const NAME: &str = "hooks.example.com";

pub(crate) struct Receiver {
    pub(crate) listener: TcpListener,
    pub(crate) port: u16,
}

impl Receiver {
    pub(crate) async fn bind() -> Self {
        let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        Self { listener, port }
    }

    pub(crate) fn url(&self, scheme: &str, host: &str) -> String {
        format!("{scheme}://{host}:{}/in?a=1", self.port)
    }

    /// Opens `http` and this port, but no address: as strict as it can be and still reach a test's receiver by name.
    pub(crate) fn strict_policy(&self) -> AddressPolicy {
        AddressPolicy::new().danger_allow_http().with_port(self.port)
    }

    pub(crate) fn loopback_policy(&self) -> AddressPolicy {
        self.strict_policy().danger_allow_loopback()
    }

    /// Takes one request and gives `answer`, whatever it asks for.
    pub(crate) async fn answer(&self, answer: &[u8]) -> String {
        let (mut stream, _) = self.listener.accept().await.unwrap();
        let request = read_request(&mut stream).await;
        stream.write_all(answer).await.unwrap();
        request
    }

    /// Whether anybody connected: the listener never blocks, and its queue is the kernel's.
    pub(crate) fn was_called(self) -> bool {
        self.listener.into_std().unwrap().accept().is_ok()
    }
}

/// A request whose body is `{}`, up to its last byte.
pub(crate) async fn read_request(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> String {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n{}") {
        assert!(
            stream.read_buf(&mut request).await.unwrap() > 0,
            "the request breaks off"
        );
    }
    String::from_utf8(request).unwrap()
}

pub(crate) fn post(url: &str) -> Request<Bytes> {
    Request::post(url).body(Bytes::from_static(b"{}")).unwrap()
}

pub(crate) fn resolves_to(addresses: &[&str]) -> impl Fn(&str) -> std::io::Result<Vec<IpAddr>> + use<> {
    let addresses: Vec<IpAddr> = addresses.iter().map(|address| address.parse().unwrap()).collect();
    move |_: &str| Ok(addresses.clone())
}
