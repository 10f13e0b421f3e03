//! The server side of a case: plain sockets on loopback, so that the server can misbehave.

use std::net::{IpAddr, Ipv4Addr};

use bytes::Bytes;
use host_ports::address::AddressPolicy;
use http::Request;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;

/// 127.0.0.1.
pub const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// A name that only the resolvers of the cases know.
pub const NAME: &str = "hooks.example.com";

/// A listener on a free port of 127.0.0.1.
#[derive(Debug)]
#[non_exhaustive]
pub struct Receiver {
    /// The listener.
    pub listener: TcpListener,
    /// Port of the listener.
    pub port: u16,
}

impl Receiver {
    /// Listens on a free port.
    pub async fn bind() -> Self {
        let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        Self { listener, port }
    }

    /// Returns the URL `{scheme}://{host}:{port}/in?a=1`, with the port of this listener.
    #[must_use]
    pub fn url(&self, scheme: &str, host: &str) -> String {
        format!("{scheme}://{host}:{}/in?a=1", self.port)
    }

    /// Returns a policy that allows `http` and this port, but no special-purpose address.
    #[must_use]
    pub fn strict_policy(&self) -> AddressPolicy {
        AddressPolicy::new().danger_allow_http().with_port(self.port)
    }

    /// Returns a policy that allows `http`, this port and loopback addresses.
    #[must_use]
    pub fn loopback_policy(&self) -> AddressPolicy {
        self.strict_policy().danger_allow_loopback()
    }

    /// Accepts a connection, reads one request, writes `answer` and returns the request.
    pub async fn answer(&self, answer: &[u8]) -> String {
        let (mut stream, _) = self.listener.accept().await.unwrap();
        let request = read_request(&mut stream).await;
        stream.write_all(answer).await.unwrap();
        request
    }

    /// Returns `true` if a client has connected and its connection was not accepted yet. Does not
    /// block.
    #[must_use]
    pub fn was_called(self) -> bool {
        self.listener.into_std().unwrap().accept().is_ok()
    }
}

/// Reads a request whose body is `{}`.
pub async fn read_request(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> String {
    try_read_request(stream).await.expect("the request breaks off")
}

/// Reads a request whose body is `{}`. Returns `None` if the client closes the connection before
/// the end of the request.
pub async fn try_read_request(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> Option<String> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n{}") {
        if !stream.read_buf(&mut request).await.is_ok_and(|read| read > 0) {
            return None;
        }
    }
    Some(String::from_utf8(request).unwrap())
}

/// Creates a POST request with the body `{}`.
#[must_use]
pub fn post(url: &str) -> Request<Bytes> {
    Request::post(url).body(Bytes::from_static(b"{}")).unwrap()
}
