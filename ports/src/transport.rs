use std::error::Error;
use std::fmt;
use std::future::Future;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};

/// Sends one HTTP request and returns its response.
///
/// # Contract
///
/// - **Every status is a response.** A 404 or a 503 is not an error.
/// - **No redirects.** A 3xx response is returned unchanged. A transport that follows a redirect
///   would leave the vetted address and could leak a secret to another host.
/// - **TLS.** The transport uses TLS for `https` and verifies the certificate of the host.
/// - **A timeout.** The [`ExchangeLimits`] in the extensions of the request, or their defaults,
///   limit the whole exchange: name resolution, connecting, TLS, sending, head and body. A longer
///   exchange fails with [`TransportErrorKind::Timeout`].
/// - **A body limit.** At most [`ExchangeLimits::max_response_body`] bytes are kept. The transport
///   truncates a longer body and closes the connection. A truncated body and a body that ends early
///   are not errors, because the status was received. In both cases the response has [`Truncated`]
///   in its extensions.
/// - **A body timeout.** With [`ExchangeLimits::body_timeout`] the exchange succeeds when the head
///   of the response has arrived. A body that is not complete after that time, or at the timeout of
///   the exchange, is truncated.
/// - **A head limit.** The transport accepts a response head of up to 65,536 bytes and 100 fields.
///   It refuses a head of 10,000 fields with [`TransportErrorKind::TooLarge`]. Between these sizes
///   it may accept or refuse.
/// - **Vetted addresses.** A transport for URLs that another party chooses checks every resolved
///   address, connects only to a checked address, and ignores proxies of the environment. A refused
///   address fails with [`TransportErrorKind::RefusedAddress`].
///
/// ```
/// use bytes::Bytes;
/// use host_ports::{Transport, transport_fn};
/// use http::{Request, Response};
///
/// let transport = transport_fn(async |_request| Ok(Response::new(Bytes::from_static(b"{}"))));
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let response = transport.send(Request::new(Bytes::new())).await?;
/// assert_eq!(response.status(), 200);
/// # Ok::<(), host_ports::TransportError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[async_trait]
pub trait Transport: Send + Sync {
    /// Performs one exchange.
    ///
    /// # Errors
    ///
    /// [`TransportError`] if no complete response head arrived. Its [kind](TransportError::kind)
    /// names the cause.
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError>;
}

#[async_trait]
impl<T: Transport + ?Sized> Transport for Arc<T> {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        (**self).send(request).await
    }
}

/// Makes a [`Transport`] from an async function.
pub fn transport_fn<F, Fut>(send: F) -> TransportFn<F>
where
    F: Fn(Request<Bytes>) -> Fut + Send + Sync,
    Fut: Future<Output = Result<Response<Bytes>, TransportError>> + Send,
{
    TransportFn(send)
}

/// A [`Transport`] made by [`transport_fn`].
#[derive(Clone, Copy)]
pub struct TransportFn<F>(F);

impl<F> fmt::Debug for TransportFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TransportFn")
    }
}

#[async_trait]
impl<F, Fut> Transport for TransportFn<F>
where
    F: Fn(Request<Bytes>) -> Fut + Send + Sync,
    Fut: Future<Output = Result<Response<Bytes>, TransportError>> + Send,
{
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        (self.0)(request).await
    }
}

/// Limits of one exchange. The caller adds them to the extensions of the request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ExchangeLimits {
    /// Time from the call of [`Transport::send`] to the last byte of the response body, default 10
    /// s.
    pub timeout: Duration,
    /// Maximum number of bytes of the response body, default 65,536.
    pub max_response_body: usize,
    /// Time after the response head in which the body is read. Default `None`: until `timeout`.
    ///
    /// With a value, a body that has not ended after this time is [`Truncated`], and the response
    /// is returned. Without a value, such an exchange fails at `timeout`.
    pub body_timeout: Option<Duration>,
}

impl Default for ExchangeLimits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(10),
            max_response_body: 64 * 1024,
            body_timeout: None,
        }
    }
}

/// Marker of an incomplete response body: longer than the limit, ended early, or not complete in
/// time.
///
/// The transport adds the marker to the extensions of the response. A caller that needs the whole
/// body, such as a JWKS client, must refuse the response.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Truncated;

/// A failed exchange, without a response.
#[derive(Debug)]
pub struct TransportError {
    kind: TransportErrorKind,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// Cause of a failed exchange.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum TransportErrorKind {
    /// The timeout expired. The server may or may not have processed the request.
    Timeout,
    /// No connection: the name does not resolve, the port is closed, the network is down, or a
    /// connect timeout of the transport expired. Nothing was sent.
    Connect,
    /// The address policy refuses an address of the host. Nothing was sent.
    RefusedAddress,
    /// The TLS handshake failed. Nothing was sent.
    ///
    /// A TLS 1.3 server refuses a client certificate, or the lack of one, after the client has
    /// completed the handshake. The client may have sent the request by then, so that error is
    /// [`Other`](Self::Other).
    Tls,
    /// The response head has more bytes or more fields than the transport accepts.
    TooLarge,
    /// Any other failure, such as a connection lost during the exchange, a TLS alert after the
    /// handshake, or a response that is not HTTP.
    Other,
}

impl TransportErrorKind {
    /// All kinds, in the order of declaration.
    pub const ALL: [Self; 6] = [
        Self::Timeout,
        Self::Connect,
        Self::RefusedAddress,
        Self::Tls,
        Self::TooLarge,
        Self::Other,
    ];

    /// Stable name of the kind, for stores and logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Connect => "connect",
            Self::RefusedAddress => "refused_address",
            Self::Tls => "tls",
            Self::TooLarge => "too_large",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for TransportErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for TransportErrorKind {
    type Err = UnknownTransportErrorKind;

    fn from_str(name: &str) -> Result<Self, UnknownTransportErrorKind> {
        let mut kinds = Self::ALL.into_iter();
        kinds
            .find(|kind| kind.as_str() == name)
            .ok_or(UnknownTransportErrorKind)
    }
}

/// Error for a text that is not the name of a [`TransportErrorKind`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a kind of transport error")]
pub struct UnknownTransportErrorKind;

impl TransportError {
    /// Creates a [`Timeout`](TransportErrorKind::Timeout) error.
    #[must_use]
    pub const fn timeout() -> Self {
        Self {
            kind: TransportErrorKind::Timeout,
            source: None,
        }
    }

    /// Creates a [`TooLarge`](TransportErrorKind::TooLarge) error.
    #[must_use]
    pub const fn too_large() -> Self {
        Self {
            kind: TransportErrorKind::TooLarge,
            source: None,
        }
    }

    /// Creates a [`Connect`](TransportErrorKind::Connect) error.
    #[must_use]
    pub fn connect(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::caused(TransportErrorKind::Connect, source)
    }

    /// Creates a [`RefusedAddress`](TransportErrorKind::RefusedAddress) error.
    #[must_use]
    pub fn refused(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::caused(TransportErrorKind::RefusedAddress, source)
    }

    /// Creates a [`Tls`](TransportErrorKind::Tls) error.
    #[must_use]
    pub fn tls(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::caused(TransportErrorKind::Tls, source)
    }

    /// Creates an [`Other`](TransportErrorKind::Other) error.
    #[must_use]
    pub fn other(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::caused(TransportErrorKind::Other, source)
    }

    /// Cause of the failure.
    #[must_use]
    pub const fn kind(&self) -> TransportErrorKind {
        self.kind
    }

    fn caused(kind: TransportErrorKind, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            kind,
            source: Some(source.into()),
        }
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            TransportErrorKind::Timeout => "exchange timed out",
            TransportErrorKind::Connect => "connection failed",
            TransportErrorKind::RefusedAddress => "address of the host refused",
            TransportErrorKind::Tls => "TLS handshake failed",
            TransportErrorKind::TooLarge => "response head too large",
            TransportErrorKind::Other => "exchange failed",
        })
    }
}

impl Error for TransportError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source
            .as_deref()
            .map(|source| source as &(dyn Error + 'static))
    }
}
