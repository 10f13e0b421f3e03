//! The transport: vets the URL, resolves its name, vets the addresses, and sends the request.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use host_ports::address::{AddressPolicy, Hops, Host, RefusedAddress, Target};
use host_ports::{ExchangeLimits, Transport, TransportError};
use http::{Request, Response};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;

use crate::exchange::{Answered, Exchange};
use crate::pool::{Pool, Route};
use crate::tls::{self, Trust};
use crate::{Proxy, Resolve, SystemResolver};
use host_transport_body::from_now;

/// [`Transport`] on hyper. Clones share its settings and its connections.
///
/// A response has at most 100 header fields with at most 65,536 bytes of names and values, plus
/// four bytes per field. A larger head is [`TooLarge`](host_ports::TransportErrorKind::TooLarge).
///
/// # Connections
///
/// Connections are reused, over HTTP/2 if an `https` server offers it by ALPN, else over HTTP/1.1.
///
/// - Every request is vetted again: its URL, and all addresses of its name, which is resolved
///   again.
/// - A connection is reused only if scheme, host, port and the set of addresses are the same as
///   when it was opened. If the set has changed, idle connections are closed.
/// - An unused connection is closed after 30 s. At most 64 HTTP/1.1 connections per origin and 512
///   in all are kept; an origin has one HTTP/2 connection.
/// - A connection is closed if its exchange failed, timed out or was truncated, and if the server
///   sent bytes without a request. Over HTTP/2 only the stream of a truncated body is reset; after
///   a timeout the connection takes no further requests.
/// - A connection is driven by a task of the tokio runtime in which it was opened.
///
/// # Retries
///
/// A request that fails on a reused connection is sent once more, on a new connection, in two
/// cases:
///
/// - The server has not processed the request: no byte of it was written, or the HTTP/2 server
///   refused its stream (`REFUSED_STREAM`, or a `GOAWAY` that excludes it). This holds for every
///   method.
/// - The method is idempotent, and the connection ended before the first byte of a response.
///
/// Otherwise a POST that was written is not sent again, because the server may have processed it:
/// an authorization code must not be redeemed twice. webhook-core retries its deliveries itself.
#[derive(Clone)]
pub struct HyperTransport {
    policy: Arc<AddressPolicy>,
    resolver: Arc<dyn Resolve>,
    proxy: Option<Proxy>,
    trust: Trust,
    /// Made from `trust`.
    tls: TlsConnector,
    /// Holds only connections that were opened with this configuration.
    pool: Arc<Pool>,
}

impl HyperTransport {
    /// Creates a transport to the addresses that `policy` allows, with the system's resolver and
    /// Mozilla's roots.
    #[must_use]
    pub fn new(policy: AddressPolicy) -> Self {
        let trust = Trust::mozilla();
        Self {
            policy: Arc::new(policy),
            resolver: Arc::new(SystemResolver),
            proxy: None,
            tls: trust.connector(),
            trust,
            pool: Arc::default(),
        }
    }

    /// Resolves names with `resolver`, which must return **all** addresses of a name.
    #[must_use]
    pub fn with_resolver(mut self, resolver: impl Resolve + 'static) -> Self {
        self.resolver = Arc::new(resolver);
        self.pool = Arc::default();
        self
    }

    /// Opens every connection through `proxy`. By default there is none; the environment's
    /// `HTTPS_PROXY` is ignored.
    #[must_use]
    pub fn with_proxy(mut self, proxy: Proxy) -> Self {
        self.proxy = Some(proxy);
        self.pool = Arc::default();
        self
    }

    /// Trusts only `roots`, for example those of a private certificate authority.
    #[must_use]
    pub fn with_roots(mut self, roots: RootCertStore) -> Self {
        self.trust.roots = roots;
        self.with_new_connections()
    }

    /// Presents the certificates of `chain`, the client's own first, to each server that asks for
    /// one. `key` is its private key.
    ///
    /// Mutual-TLS client authentication (`ClientCredentials::Certificate` of oauth-core) and
    /// certificate-bound access tokens (RFC 8705) need a client certificate.
    ///
    /// # Errors
    ///
    /// The key does not belong to the certificate, or rustls does not support the kind of key.
    ///
    /// # Security
    ///
    /// The transport presents the certificate to every server that asks for one, which identifies
    /// the client. Use a separate transport for each OAuth client, only for requests to its
    /// authorization server and to the APIs that accept its tokens. Do not use that transport for
    /// [`fetch`](Self::fetch) or deliveries.
    pub fn with_client_certificate(
        mut self,
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
    ) -> Result<Self, rustls::Error> {
        self.trust.own = Some(tls::certified(chain, key)?);
        Ok(self.with_new_connections())
    }

    /// Applies a changed trust. Connections and TLS sessions under the previous one are not used.
    fn with_new_connections(mut self) -> Self {
        self.tls = self.trust.connector();
        self.pool = Arc::default();
        self
    }

    /// Fetches a URL that another party chose, for example one in a payload, and follows at most
    /// three redirects.
    ///
    /// - [`Hops`] decides on each redirect, and the addresses of each target are vetted.
    /// - The [`ExchangeLimits`] in the request's extensions hold for all hops together, with one
    ///   deadline.
    /// - Do not use it for deliveries: [`Transport::send`] returns a redirect as a response.
    ///
    /// # Errors
    ///
    /// As for [`Transport::send`]; a refused redirect is
    /// [`RefusedAddress`](host_ports::TransportErrorKind::RefusedAddress).
    pub async fn fetch(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        let limits = limits_of(&request);
        let deadline = from_now(limits.timeout);
        let mut request = request;
        let mut hops = Hops::new(AddressPolicy::clone(&self.policy));
        loop {
            let response = self.exchange(&request, limits, deadline).await?;
            match hops
                .follow(&request, &response)
                .map_err(TransportError::refused)?
            {
                Some(next) => request = next,
                None => return Ok(response),
            }
        }
    }

    async fn exchange(
        &self,
        request: &Request<Bytes>,
        limits: ExchangeLimits,
        deadline: Instant,
    ) -> Result<Response<Bytes>, TransportError> {
        let opened = timeout_at(deadline, self.open(request)).await;
        let answered = opened.unwrap_or_else(|_| Err(TransportError::timeout()))?;
        answered.read(limits, deadline).await
    }

    /// Sends the request and waits for the head of its response.
    async fn open(&self, request: &Request<Bytes>) -> Result<Answered, TransportError> {
        let target = self
            .policy
            .vet(&request.uri().to_string())
            .map_err(TransportError::refused)?;
        let addresses = self.vetted_addresses(&target).await?;
        let exchange = Exchange {
            request,
            route: Route::new(&target, &addresses),
            target: &target,
            addresses: &addresses,
            proxy: self.proxy.as_ref(),
            tls: &self.tls,
            pool: &self.pool,
        };
        exchange.send().await
    }

    /// The vetted addresses to connect to; they are not resolved again.
    async fn vetted_addresses(&self, target: &Target) -> Result<Vec<SocketAddr>, TransportError> {
        let addresses = match target.host() {
            Host::Ip(address) => vec![*address],
            Host::Name(name) => self
                .resolver
                .resolve(name)
                .await
                .map_err(TransportError::connect)?,
        };
        match self.policy.vet_resolved(&addresses) {
            // temporary: the name may resolve at the next attempt
            Err(unresolved @ RefusedAddress::Unresolved) => Err(TransportError::connect(unresolved)),
            Err(refused) => Err(TransportError::refused(refused)),
            Ok(()) => Ok(addresses
                .into_iter()
                .map(|address| (address, target.port()).into())
                .collect()),
        }
    }
}

#[async_trait]
impl Transport for HyperTransport {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        let limits = limits_of(&request);
        let deadline = from_now(limits.timeout);
        self.exchange(&request, limits, deadline).await
    }
}

fn limits_of(request: &Request<Bytes>) -> ExchangeLimits {
    request.extensions().get().copied().unwrap_or_default()
}

impl fmt::Debug for HyperTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HyperTransport")
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}
