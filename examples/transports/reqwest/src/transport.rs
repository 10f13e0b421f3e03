//! The transport: vets the URL, resolves its name, vets the addresses, and sends the request.

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use host_ports::address::{AddressPolicy, Host, RefusedAddress, Target};
use host_ports::{ExchangeLimits, Transport, TransportError, Truncated};
use http::header::{ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use http::{HeaderValue, Request, Response};
use reqwest::dns::Resolve;
use reqwest::{Client, redirect, retry};
use rustls::crypto::aws_lc_rs;
use rustls::{ClientConfig, RootCertStore};
use tokio::time::{Instant, timeout_at};

use crate::resolve::{SystemResolver, Vetting};
use host_transport_body::from_now;

/// Default of [`Builder::with_connect_timeout`].
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// [`Transport`] on a `reqwest::Client` that it creates. Clones share the client.
///
/// Each exchange opens a connection and closes it at its end: reqwest resolves a name only when it
/// connects, so a reused connection would bypass the address policy.
///
/// A response has at most 100 header fields. A head of up to 408 KiB (417,792 bytes) is always
/// read; a head of 1 MiB or more is [`TooLarge`](host_ports::TransportErrorKind::TooLarge). These
/// bounds cannot be set.
#[derive(Clone)]
pub struct ReqwestTransport {
    policy: Arc<AddressPolicy>,
    client: Client,
}

impl ReqwestTransport {
    /// Creates a transport with the system's resolver and Mozilla's roots.
    ///
    /// # Errors
    ///
    /// reqwest or rustls rejects the configuration.
    pub fn new(policy: AddressPolicy) -> Result<Self, BuildError> {
        Self::builder(policy).build()
    }

    /// Creates a builder with the system's resolver and Mozilla's roots.
    #[must_use]
    pub fn builder(policy: AddressPolicy) -> Builder {
        Builder {
            policy: Arc::new(policy),
            resolver: Arc::new(SystemResolver),
            roots: RootCertStore {
                roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
            },
            connect_timeout: CONNECT_TIMEOUT,
        }
    }

    /// Sends the request, and returns the response when its head has arrived.
    async fn head_of(&self, request: Request<Bytes>) -> Result<reqwest::Response, TransportError> {
        let target = self.policy.vet(&request.uri().to_string());
        let target = target.map_err(TransportError::refused)?;
        if let Host::Ip(address) = target.host() {
            // a literal address does not reach the resolver
            let vetted = self.policy.vet_resolved(&[*address]);
            vetted.map_err(TransportError::refused)?;
        }
        let request = reqwest::Request::try_from(prepared(request, &target)).map_err(failed)?;
        self.client.execute(request).await.map_err(failed)
    }
}

#[async_trait]
impl Transport for ReqwestTransport {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        let limits: ExchangeLimits = request.extensions().get().copied().unwrap_or_default();
        let deadline = from_now(limits.timeout);
        let head = timeout_at(deadline, self.head_of(request)).await;
        let head = head.unwrap_or_else(|_| Err(TransportError::timeout()))?;
        read(head, limits, deadline).await
    }
}

impl fmt::Debug for ReqwestTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReqwestTransport")
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

/// Builder for a [`ReqwestTransport`].
pub struct Builder {
    policy: Arc<AddressPolicy>,
    resolver: Arc<dyn Resolve>,
    roots: RootCertStore,
    connect_timeout: Duration,
}

impl Builder {
    /// Resolves names with `resolver`, which must return **all** addresses of a name. The ports of
    /// its `SocketAddr`s are ignored.
    #[must_use]
    pub fn with_resolver(mut self, resolver: impl Resolve + 'static) -> Self {
        self.resolver = Arc::new(resolver);
        self
    }

    /// Trusts only `roots`, for example those of a private certificate authority.
    #[must_use]
    pub fn with_roots(mut self, roots: RootCertStore) -> Self {
        self.roots = roots;
        self
    }

    /// Limits the time for name resolution, connection and TLS handshake together; 5 s by default.
    ///
    /// At this limit the exchange fails with [`Connect`](host_ports::TransportErrorKind::Connect),
    /// since nothing was sent. If the deadline of the exchange comes first, it fails with
    /// [`Timeout`](host_ports::TransportErrorKind::Timeout).
    #[must_use]
    pub fn with_connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Builds the transport.
    ///
    /// # Errors
    ///
    /// reqwest or rustls rejects the configuration.
    pub fn build(self) -> Result<ReqwestTransport, BuildError> {
        // the process-wide provider may be another one, or absent
        let tls = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
        let tls = tls
            .with_safe_default_protocol_versions()
            .map_err(BuildError::new)?;
        let mut tls = tls.with_root_certificates(self.roots).with_no_client_auth();
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        let resolver = Vetting {
            policy: Arc::clone(&self.policy),
            resolver: self.resolver,
        };
        // explicitly off: another crate may enable these features of reqwest
        let client = Client::builder()
            .tls_backend_preconfigured(tls)
            .dns_resolver(Arc::new(resolver))
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .referer(false)
            .no_proxy()
            .no_gzip()
            .no_brotli()
            .no_deflate()
            .no_zstd()
            .http1_only()
            .pool_max_idle_per_host(0)
            .connect_timeout(self.connect_timeout)
            .build();
        Ok(ReqwestTransport {
            policy: self.policy,
            client: client.map_err(BuildError::new)?,
        })
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

/// Error of [`Builder::build`]: reqwest or rustls rejects the configuration.
#[derive(Debug, thiserror::Error)]
#[error("cannot build the HTTP client")]
pub struct BuildError(#[source] Box<dyn Error + Send + Sync>);

impl BuildError {
    fn new(source: impl Error + Send + Sync + 'static) -> Self {
        Self(Box::new(source))
    }
}

/// Returns the request to the vetted target, without the headers that the client sets itself.
fn prepared(request: Request<Bytes>, target: &Target) -> Request<Bytes> {
    let (mut parts, body) = request.into_parts();
    for name in [HOST, CONTENT_LENGTH, TRANSFER_ENCODING] {
        parts.headers.remove(name);
    }
    let identity = HeaderValue::from_static("identity");
    parts.headers.insert(ACCEPT_ENCODING, identity);
    let close = HeaderValue::from_static("close");
    parts.headers.insert(CONNECTION, close);
    parts.uri = target.uri().clone();
    parts.version = http::Version::HTTP_11;
    parts.extensions = http::Extensions::new();
    Request::from_parts(parts, body)
}

/// Reads the body within the limits, and marks a response whose body is incomplete.
async fn read(
    response: reqwest::Response,
    limits: ExchangeLimits,
    deadline: Instant,
) -> Result<Response<Bytes>, TransportError> {
    let (parts, body) = Response::<reqwest::Body>::from(response).into_parts();
    let (kept, is_whole) = host_transport_body::read(body, limits, deadline).await?;
    let mut read = Response::new(kept);
    *read.status_mut() = parts.status;
    *read.version_mut() = parts.version;
    *read.headers_mut() = parts.headers;
    if !is_whole {
        read.extensions_mut().insert(Truncated);
    }
    Ok(read)
}

/// Maps reqwest's error to a transport error, by its causes.
fn failed(error: reqwest::Error) -> TransportError {
    // the URL may carry a secret
    let error = error.without_url();
    match cause::<RefusedAddress>(&error) {
        Some(RefusedAddress::Unresolved) => return TransportError::connect(error),
        Some(refused) => return TransportError::refused(refused.clone()),
        None => {}
    }
    if error.is_connect() {
        // an alert after the handshake is not a failed handshake: the request was sent
        return match cause::<rustls::Error>(&error) {
            Some(_) => TransportError::tls(error),
            None => TransportError::connect(error),
        };
    }
    match cause::<hyper::Error>(&error) {
        Some(hyper) if hyper.is_parse_too_large() => TransportError::too_large(),
        _ => TransportError::other(error),
    }
}

/// Returns the first cause of type `E`. An I/O error does not return its inner error as source, so
/// the inner error is examined too.
fn cause<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = match wrapped {
            Some(wrapped) => Some(wrapped),
            None => error.source(),
        };
    }
    None
}
