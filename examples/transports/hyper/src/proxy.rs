//! An HTTP proxy for outbound connections.

use std::fmt;
use std::io;
use std::net::SocketAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use http::uri::Authority;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, lookup_host};

use crate::connect;

/// Maximum length of the head of a proxy's response in bytes.
const MAX_HEAD: usize = 8 * 1024;

/// Maximum number of header fields of a proxy's response.
const MAX_FIELDS: usize = 64;

/// An HTTP proxy that opens connections to other hosts (`CONNECT`, [RFC 9110
/// §9.3.6](https://www.rfc-editor.org/rfc/rfc9110#section-9.3.6)), for networks that allow outbound
/// traffic through a proxy only.
///
/// # Contract
///
/// - Every request goes through the proxy, `http` URLs too.
/// - The transport resolves names itself and asks the proxy for a **vetted address**, such as
///   `CONNECT 203.0.114.7:443`. So the proxy cannot be led to another address, and it must allow
///   addresses instead of names.
/// - TLS runs from end to end: the proxy sees the address and the server name, not the request.
/// - The connection to the proxy is plain TCP, so credentials for it can be read on its network.
/// - The address policy does not apply to the proxy, which the host chooses.
///
/// # Examples
///
/// ```
/// use host_ports::address::AddressPolicy;
/// use host_transport_hyper::{HyperTransport, Proxy};
///
/// let proxy = Proxy::new("proxy.example.com:3128")?.with_basic_auth("webhooks", "s3cret")?;
/// assert!(!format!("{proxy:?}").contains("s3cret"));
/// let transport = HyperTransport::new(AddressPolicy::new()).with_proxy(proxy);
/// # Ok::<_, host_transport_hyper::InvalidProxy>(())
/// ```
#[derive(Clone)]
pub struct Proxy {
    authority: Authority,
    credentials: Option<HeaderValue>,
}

impl Proxy {
    /// Names a proxy by host and port, for example `proxy.example.com:3128`.
    ///
    /// # Errors
    ///
    /// [`InvalidProxy`] if the text is not a host and a port, or contains credentials.
    pub fn new(authority: &str) -> Result<Self, InvalidProxy> {
        let authority: Authority = authority.parse().map_err(|_| InvalidProxy::Authority)?;
        let is_complete = !authority.host().is_empty() && authority.port_u16().is_some();
        if !is_complete || authority.as_str().contains('@') {
            return Err(InvalidProxy::Authority);
        }
        Ok(Self {
            authority,
            credentials: None,
        })
    }

    /// Authenticates with the Basic scheme ([RFC 7617](https://www.rfc-editor.org/rfc/rfc7617)).
    ///
    /// # Errors
    ///
    /// [`InvalidProxy::Credentials`] if the user contains a colon, or either one a control
    /// character.
    pub fn with_basic_auth(mut self, user: &str, password: &str) -> Result<Self, InvalidProxy> {
        let has_control = user.chars().chain(password.chars()).any(char::is_control);
        if user.contains(':') || has_control {
            return Err(InvalidProxy::Credentials);
        }
        let encoded = format!("Basic {}", STANDARD.encode(format!("{user}:{password}")));
        let mut credentials = HeaderValue::try_from(encoded).map_err(|_| InvalidProxy::Credentials)?;
        credentials.set_sensitive(true);
        self.credentials = Some(credentials);
        Ok(self)
    }

    /// Opens a tunnel to one of `addresses`, which is not empty. Tries them in order while the
    /// proxy cannot reach one.
    pub(crate) async fn tunnel(&self, addresses: &[SocketAddr]) -> io::Result<TcpStream> {
        let mut refusal = io::Error::other("there is no address");
        for address in connect::in_order(addresses) {
            let mut stream = self.connect().await?;
            stream.write_all(&self.request(address)).await?;
            match read_status(&mut stream).await? {
                200..=299 => return Ok(stream),
                status => refusal = io::Error::other(format!("the proxy answered {status}")),
            }
        }
        Err(refusal)
    }

    async fn connect(&self) -> io::Result<TcpStream> {
        let own: Vec<SocketAddr> = lookup_host(self.authority.as_str()).await?.collect();
        if own.is_empty() {
            return Err(io::Error::other("the proxy has no address"));
        }
        connect::connect(&own).await
    }

    fn request(&self, address: SocketAddr) -> Vec<u8> {
        let mut request = format!("CONNECT {address} HTTP/1.1\r\nHost: {address}\r\n").into_bytes();
        if let Some(credentials) = &self.credentials {
            request.extend_from_slice(b"Proxy-Authorization: ");
            request.extend_from_slice(credentials.as_bytes());
            request.extend_from_slice(b"\r\n");
        }
        request.extend_from_slice(b"\r\n");
        request
    }
}

/// Reads the head of the final response and returns its status.
///
/// Clients speak first in TLS and HTTP, so a byte after the head is an error: the next exchange
/// would take it for the server's.
async fn read_status(stream: &mut TcpStream) -> io::Result<u16> {
    let mut head = Vec::with_capacity(512);
    loop {
        while let Some((status, length)) = parse(&head)? {
            head.drain(..length);
            match status {
                // RFC 9110 §15.2: interim responses precede the final one
                100..=199 if status != 101 => {}
                200..=299 if !head.is_empty() => {
                    return Err(io::Error::other("the proxy sent bytes after its response"));
                }
                _ => return Ok(status),
            }
        }
        if head.len() >= MAX_HEAD {
            return Err(io::Error::other("the head of the proxy's response is too long"));
        }
        if stream.read_buf(&mut head).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// Status and length of a complete head.
fn parse(head: &[u8]) -> io::Result<Option<(u16, usize)>> {
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut response = httparse::Response::new(&mut fields);
    let parsed = response.parse(head).map_err(io::Error::other)?;
    match (parsed, response.code) {
        (httparse::Status::Complete(length), Some(status)) => Ok(Some((status, length))),
        _ => Ok(None),
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy")
            .field("authority", &self.authority)
            .finish_non_exhaustive()
    }
}

/// Error: the settings of a proxy are invalid.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum InvalidProxy {
    /// The text is not a host and a port, or contains credentials.
    Authority,
    /// The user contains a colon, or the user or the password a control character.
    Credentials,
}

impl fmt::Display for InvalidProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Authority => "a proxy is a host and a port, for example proxy.example.com:3128",
            Self::Credentials => "a user has no colon, and no credential has control characters",
        })
    }
}

impl std::error::Error for InvalidProxy {}
