//! One exchange: vet, resolve, vet, connect, send, read. A fetch has up to four exchanges.

use std::fmt;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use futures_util::future::{Either, select};
use host_ports::address::{AddressPolicy, Hops, Host, RefusedAddress, Target};
use host_ports::{ExchangeLimits, Transport, TransportError, Truncated};
use http::header::{ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderValue, Request, Response, Uri, uri::Scheme};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::TlsConnector;

use crate::tls::{self, Trust};
use crate::{Resolve, SystemResolver, connect::connect};

/// Upper bound of a deadline, so that a timeout of `Duration::MAX` does not overflow.
const FAR: Duration = Duration::from_secs(365 * 24 * 3600);
/// Upper bound of the header fields of a response: names, values and four bytes for each field.
const MAX_RESPONSE_FIELDS: usize = 64 * 1024;
/// hyper's buffer for a head: the fields and a status line.
const MAX_RESPONSE_HEAD: usize = MAX_RESPONSE_FIELDS + 8 * 1024;
/// Time for the end of a body that has filled the cap, unless half of the time that is left is
/// shorter.
const END_OF_BODY: Duration = Duration::from_secs(1);

/// [`Transport`] on hyper. Clones share its settings.
///
/// A response has at most 100 header fields with at most 65,536 bytes of names and values, plus
/// four bytes per field. A larger head is [`TooLarge`](host_ports::TransportErrorKind::TooLarge).
#[derive(Clone)]
pub struct HyperTransport {
    policy: Arc<AddressPolicy>,
    resolver: Arc<dyn Resolve>,
    trust: Trust,
    /// Made from the trust.
    tls: TlsConnector,
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
            tls: trust.connector(),
            trust,
        }
    }

    /// Resolves names with `resolver`.
    #[must_use]
    pub fn with_resolver(mut self, resolver: impl Resolve + 'static) -> Self {
        self.resolver = Arc::new(resolver);
        self
    }

    /// Trusts exactly these roots, such as those of a private authority.
    #[must_use]
    pub fn with_roots(mut self, roots: RootCertStore) -> Self {
        self.trust.roots = roots;
        self.tls = self.trust.connector();
        self
    }

    /// Presents the certificates of `chain`, the client's own first, to each server that asks for
    /// one. `key` is its private key.
    ///
    /// Mutual TLS of OAuth clients (`ClientCredentials::Certificate` of oauth-core) and tokens
    /// bound to a certificate need it.
    ///
    /// # Errors
    ///
    /// The key does not belong to the certificate, or rustls does not support its kind.
    ///
    /// # Security
    ///
    /// The certificate identifies the client to every server that asks. Give it to a transport of
    /// its own, used for one client of an authorization server and the APIs of its tokens, and not
    /// for [`fetch`](Self::fetch) or deliveries.
    pub fn with_client_certificate(
        mut self,
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
    ) -> Result<Self, rustls::Error> {
        self.trust.own = Some(tls::certified(chain, key)?);
        self.tls = self.trust.connector();
        Ok(self)
    }

    /// Fetches a URL that another party chose, for example one in a payload, over at most three
    /// redirects.
    ///
    /// - [`Hops`] decides on each redirect, and the addresses of each target are vetted.
    /// - The [`ExchangeLimits`] in the request's extensions hold for all hops together, with one
    ///   deadline.
    /// - Not for deliveries: [`Transport::send`] returns a redirect as a response.
    ///
    /// # Errors
    ///
    /// As for [`Transport::send`]; a refused redirect is
    /// [`RefusedAddress`](host_ports::TransportErrorKind::RefusedAddress).
    pub async fn fetch(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        let limits = limits_of(&request);
        in_time(self.follow(request, limits), limits).await
    }

    async fn follow(
        &self,
        mut request: Request<Bytes>,
        limits: ExchangeLimits,
    ) -> Result<Response<Bytes>, TransportError> {
        let mut hops = Hops::new(AddressPolicy::clone(&self.policy));
        loop {
            let response = self.exchange(request.clone(), limits).await?;
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
        request: Request<Bytes>,
        limits: ExchangeLimits,
    ) -> Result<Response<Bytes>, TransportError> {
        let target = self
            .policy
            .vet(&request.uri().to_string())
            .map_err(TransportError::refused)?;
        let deadline = Instant::now() + limits.timeout.min(FAR);
        let addresses = self.vetted_addresses(&target).await?;
        let tcp = connect(&addresses).await.map_err(TransportError::connect)?;
        let request = prepared(request, &target)?;
        if target.uri().scheme() == Some(&Scheme::HTTP) {
            return converse(tcp, request, limits, deadline).await;
        }
        let name = server_name(target.host())?;
        let tls = self.tls.connect(name, tcp).await.map_err(TransportError::tls)?;
        converse(tls, request, limits, deadline).await
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
            // not a verdict on the receiver, only on the name at this moment
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
        in_time(self.exchange(request, limits), limits).await
    }
}

fn limits_of(request: &Request<Bytes>) -> ExchangeLimits {
    request.extensions().get().copied().unwrap_or_default()
}

async fn in_time(
    exchange: impl Future<Output = Result<Response<Bytes>, TransportError>>,
    limits: ExchangeLimits,
) -> Result<Response<Bytes>, TransportError> {
    let in_time = timeout(limits.timeout, exchange).await;
    in_time.unwrap_or_else(|_| Err(TransportError::timeout()))
}

impl fmt::Debug for HyperTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HyperTransport")
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

/// Prepares the request for the wire: to the vetted target, with this transport's framing.
fn prepared(request: Request<Bytes>, target: &Target) -> Result<Request<Full<Bytes>>, TransportError> {
    let (mut parts, body) = request.into_parts();
    let uri = target.uri();
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    parts.headers.insert(
        HOST,
        HeaderValue::from_str(authority).map_err(TransportError::other)?,
    );
    parts
        .headers
        .insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    parts
        .headers
        .insert(CONNECTION, HeaderValue::from_static("close"));
    parts.headers.remove(CONTENT_LENGTH);
    parts.headers.remove(TRANSFER_ENCODING);
    parts.uri = uri.path_and_query().cloned().map_or_else(Uri::default, Uri::from);
    parts.version = http::Version::HTTP_11;
    parts.extensions = http::Extensions::new();
    Ok(Request::from_parts(parts, Full::new(body)))
}

fn server_name(host: &Host) -> Result<ServerName<'static>, TransportError> {
    match host {
        Host::Ip(address) => Ok(ServerName::from(*address)),
        Host::Name(name) => ServerName::try_from(name.clone()).map_err(TransportError::tls),
    }
}

async fn converse<S>(
    stream: S,
    request: Request<Full<Bytes>>,
    limits: ExchangeLimits,
    deadline: Instant,
) -> Result<Response<Bytes>, TransportError>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let mut http = http1::Builder::new();
    http.max_buf_size(MAX_RESPONSE_HEAD);
    let (mut sender, connection) = http.handshake(TokioIo::new(stream)).await.map_err(failed)?;
    let exchange = async {
        let (head, body) = sender.send_request(request).await.map_err(failed)?.into_parts();
        if size_of(&head.headers) > MAX_RESPONSE_FIELDS {
            return Err(TransportError::too_large());
        }
        let (kept, is_whole) = read_body(body, limits.max_response_body, deadline).await;
        let mut response = Response::from_parts(head, kept);
        if !is_whole {
            response.extensions_mut().insert(Truncated);
        }
        Ok(response)
    };
    // not in a task of its own, so that the deadline drops the connection too
    match select(pin!(exchange), pin!(connection)).await {
        Either::Left((answered, _)) => answered,
        Either::Right((_, exchange)) => exchange.await,
    }
}

/// Size of the header fields on the wire: `name: value` and the line end.
fn size_of(fields: &HeaderMap) -> usize {
    let sizes = fields
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + 4);
    sizes.sum()
}

/// Reads at most `limit` bytes of the body. The second value is `true` if the body is complete.
async fn read_body(mut body: Incoming, limit: usize, deadline: Instant) -> (Bytes, bool) {
    let mut kept = BytesMut::new();
    while kept.len() < limit {
        let frame = match body.frame().await {
            Some(Ok(frame)) => frame,
            Some(Err(_)) => return (kept.freeze(), false),
            None => return (kept.freeze(), true),
        };
        let data: &[u8] = frame.data_ref().map_or(&[], |data| data);
        // a longer buffer would keep the whole frame in memory
        let fits = data.get(..limit - kept.len()).unwrap_or(data);
        kept.extend_from_slice(fits);
        if fits.len() < data.len() {
            return (kept.freeze(), false);
        }
    }
    let is_whole = ends_in_time(body, deadline).await;
    (kept.freeze(), is_whole)
}

/// Returns `true` if no more data follows. It gives up before the deadline, so that the status is
/// returned even if the server neither ends its chunked body nor sends more.
async fn ends_in_time(mut body: Incoming, deadline: Instant) -> bool {
    let now = Instant::now();
    let patience = END_OF_BODY.min(deadline.saturating_duration_since(now) / 2);
    let ends = async {
        loop {
            match body.frame().await {
                // trailers, or an empty chunk
                Some(Ok(frame)) if frame.data_ref().is_none_or(Bytes::is_empty) => {}
                Some(_) => break false,
                None => break true,
            }
        }
    };
    timeout_at(now + patience, ends).await.unwrap_or(false)
}

fn failed(error: hyper::Error) -> TransportError {
    if error.is_parse_too_large() {
        TransportError::too_large()
    } else {
        TransportError::other(error)
    }
}
