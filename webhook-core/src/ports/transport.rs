//! One HTTP exchange with a receiver that somebody else chose.

use std::{error::Error, fmt, future::Future, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};

/// Sends one request and gives its response.
///
/// Any `Fn(Request<Bytes>) -> impl Future<Output = Result<Response<Bytes>, TransportError>> + Send` is one.
///
/// # What an implementation must guarantee
///
/// - **No redirects.** A 3xx answer is returned as it came; following it would leave the vetted address.
/// - **A deadline.** The [`ExchangeLimits`] in the request's extensions (or their default) bound the whole exchange: name
///   resolution, connecting, TLS, sending, the head and the body. After that it is [`TransportErrorKind::Timeout`].
/// - **A body cap.** At most [`ExchangeLimits::max_response_body`] bytes are kept. A longer body is cut off there and its
///   connection closed; it is not an error, because the status has already decided the delivery.
/// - **Vetted addresses.** Every address the host name resolves to has passed
///   [`AddressPolicy::vet_resolved`](crate::address::AddressPolicy::vet_resolved), and the connection goes to exactly those.
///   No proxy from the environment. Otherwise [`TransportErrorKind::RefusedAddress`].
/// - **Every status is a response.** A 404 or a 503 is not an error.
#[async_trait]
pub trait Transport: Send + Sync {
    /// Does one exchange.
    ///
    /// # Errors
    ///
    /// When no complete response head arrived; the kind says how far it came.
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError>;
}

#[async_trait]
impl<F, Fut> Transport for F
where
    F: Fn(Request<Bytes>) -> Fut + Send + Sync,
    Fut: Future<Output = Result<Response<Bytes>, TransportError>> + Send,
{
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        self(request).await
    }
}

/// Bounds of one exchange, which the caller puts into the request's extensions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ExchangeLimits {
    /// From the call of [`Transport::send`] to the last byte of the response body: ten seconds unless told otherwise.
    pub timeout: Duration,
    /// How many bytes of the response body are kept: 64 KiB unless told otherwise.
    pub max_response_body: usize,
}

impl Default for ExchangeLimits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(10),
            max_response_body: 64 * 1024,
        }
    }
}

/// An exchange that gave no response.
#[derive(Debug)]
pub struct TransportError {
    kind: TransportErrorKind,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// How far an exchange came.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum TransportErrorKind {
    /// The deadline passed. The receiver may or may not have acted on the request.
    Timeout,
    /// No connection: the name does not resolve, the port is closed, the network is down.
    Connect,
    /// The address rules refuse an address of this host; nothing was sent.
    RefusedAddress,
    /// The TLS handshake failed; nothing was sent.
    Tls,
    /// The head of the response is larger than the transport reads.
    TooLarge,
    /// Anything else, such as a connection lost half way or an answer that is not HTTP.
    Other,
}

impl TransportError {
    /// The deadline passed.
    #[must_use]
    pub fn timeout() -> Self {
        Self {
            kind: TransportErrorKind::Timeout,
            source: None,
        }
    }

    /// The head of the response is larger than the transport reads.
    #[must_use]
    pub fn too_large() -> Self {
        Self {
            kind: TransportErrorKind::TooLarge,
            source: None,
        }
    }

    /// No connection could be made.
    pub fn connect(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            kind: TransportErrorKind::Connect,
            source: Some(source.into()),
        }
    }

    /// The address rules refused the host, normally with a [`RefusedAddress`](crate::address::RefusedAddress).
    pub fn refused(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            kind: TransportErrorKind::RefusedAddress,
            source: Some(source.into()),
        }
    }

    /// The TLS handshake failed.
    pub fn tls(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            kind: TransportErrorKind::Tls,
            source: Some(source.into()),
        }
    }

    /// Anything else.
    pub fn other(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            kind: TransportErrorKind::Other,
            source: Some(source.into()),
        }
    }

    /// How far the exchange came.
    #[must_use]
    pub fn kind(&self) -> TransportErrorKind {
        self.kind
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            TransportErrorKind::Timeout => "the exchange passed its deadline",
            TransportErrorKind::Connect => "no connection could be made",
            TransportErrorKind::RefusedAddress => "the address of the host is refused",
            TransportErrorKind::Tls => "the TLS handshake failed",
            TransportErrorKind::TooLarge => "the head of the response is too large",
            TransportErrorKind::Other => "the exchange failed",
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
