//! Discovery of authorization servers, [OpenID Connect Discovery
//! §4](https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfig) and [RFC 8414
//! §3](https://www.rfc-editor.org/rfc/rfc8414#section-3).

use bytes::Bytes;
use http::header::ACCEPT;
use http::{HeaderValue, Request, Response, StatusCode};

use super::Provider;
use super::metadata::{self, MetadataError};
use crate::exchange::{exchange, is_of_type, refuse_truncated};
use crate::jose::RemoteKeySet;
use crate::ports::{Transport, TransportError};
use crate::vocabulary::Issuer;

/// A well-known metadata document.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WellKnown {
    /// `/.well-known/openid-configuration`, appended to the path of the issuer.
    OpenIdConfiguration,
    /// `/.well-known/oauth-authorization-server`, inserted between the host and the path of the
    /// issuer.
    OauthAuthorizationServer,
}

impl WellKnown {
    /// All documents, in the order of the requests.
    pub const ALL: [Self; 2] = [Self::OpenIdConfiguration, Self::OauthAuthorizationServer];

    fn url(self, issuer: &Issuer) -> String {
        let (origin, path) = issuer.origin_and_path();
        match self {
            Self::OpenIdConfiguration => format!("{origin}{path}/.well-known/openid-configuration"),
            Self::OauthAuthorizationServer => {
                format!("{origin}/.well-known/oauth-authorization-server{path}")
            }
        }
    }
}

/// Failure of discovery.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum DiscoveryError {
    /// The server has neither document.
    #[error("the server has no metadata document")]
    NotFound,
    /// The status is neither 200 nor 404. Redirects are not followed.
    #[error("the server responded with status {0}")]
    UnexpectedStatus(StatusCode),
    /// The content type of the document is not `application/json`.
    #[error("the content type of the metadata is not application/json")]
    UnexpectedContent,
    /// The document cannot be used.
    #[error("the metadata of the server are unusable")]
    Unusable(#[source] MetadataError),
    /// The server could not be reached.
    #[error("the server could not be reached")]
    Unreachable(#[source] TransportError),
}

/// Discovery of an authorization server by its issuer URL.
///
/// [`run`](Self::run) sends the requests through a transport. Hosts with their own HTTP code call
/// [`request`](Self::request) and [`finish`](Self::finish).
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// use bytes::Bytes;
/// use http::{Request, Response};
/// use oauth_core::client::Discovery;
/// use oauth_core::ports::transport_fn;
///
/// // the host's HTTP client
/// let transport = transport_fn(async |request: Request<Bytes>| {
///     assert_eq!(request.uri(), "https://as.example/.well-known/openid-configuration");
///     let document = r#"{
///         "issuer": "https://as.example",
///         "authorization_endpoint": "https://as.example/authorize",
///         "token_endpoint": "https://as.example/token",
///         "response_types_supported": ["code"],
///         "code_challenge_methods_supported": ["S256"]
///     }"#;
///     let response = Response::builder().header("content-type", "application/json");
///     Ok(response.body(Bytes::from(document)).unwrap())
/// });
/// let provider = Discovery::new("https://as.example".parse()?).run(&transport).await?;
/// assert_eq!(provider.issuer().as_str(), "https://as.example");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Security
///
/// A server without `authorization_response_iss_parameter_supported` may omit `iss` in its
/// responses ([`Provider::sends_issuer`]). A client of several such servers must use a redirect URI
/// for each, and accept a response only for a sign-in that was started with that URI. Otherwise one
/// server can obtain the codes of another ([RFC 9700
/// §4.4.2](https://www.rfc-editor.org/rfc/rfc9700#section-4.4.2)).
///
/// The document names the URLs of all later requests. If the issuer is public, an endpoint with a
/// loopback or private address is refused. A host name may still resolve to such an address: if
/// users choose the issuer, the [`Transport`] must refuse these addresses (SSRF).
#[derive(Clone, Debug)]
#[must_use]
pub struct Discovery {
    issuer: Issuer,
    silence_is_s256: bool,
}

impl Discovery {
    /// Creates the discovery of this issuer.
    pub fn new(issuer: Issuer) -> Self {
        Self {
            issuer,
            silence_is_s256: false,
        }
    }

    /// Accepts a server whose metadata omit `code_challenge_methods_supported`. A server that lists
    /// methods without `S256` is still refused.
    ///
    /// # Security
    ///
    /// A server without PKCE ignores the code challenge, so that PKCE does not protect against
    /// stolen or injected codes ([RFC 9700
    /// §2.1.1](https://www.rfc-editor.org/rfc/rfc9700#section-2.1.1)). Use this method only for a
    /// server that is known to verify S256.
    pub fn danger_take_silence_for_s256(mut self) -> Self {
        self.silence_is_s256 = true;
        self
    }

    /// Returns the request for a document.
    #[must_use]
    pub fn request(&self, document: WellKnown) -> Request<Bytes> {
        let mut request = Request::new(Bytes::new());
        // an issuer has only characters that are valid in a URL
        *request.uri_mut() = document.url(&self.issuer).parse().unwrap_or_default();
        request
            .headers_mut()
            .insert(ACCEPT, HeaderValue::from_static("application/json"));
        request
    }

    /// Reads the response. Returns `None` after a 404: the other document may exist.
    ///
    /// # Errors
    ///
    /// [`DiscoveryError`] when the response is neither a usable document of this issuer nor a 404.
    pub fn finish(&self, response: &Response<Bytes>) -> Result<Option<Provider>, DiscoveryError> {
        finish(response, |document| self.read(document))
    }

    /// Reads a document of this issuer, from any source.
    ///
    /// # Errors
    ///
    /// [`MetadataError`] when the document is about another issuer, or lacks a required feature.
    pub fn read(&self, document: &[u8]) -> Result<Provider, MetadataError> {
        metadata::read(&self.issuer, document, self.silence_is_s256)
    }

    /// Requests the OpenID Connect document and, after a 404, the OAuth document.
    ///
    /// # Errors
    ///
    /// [`DiscoveryError`] when the server was not reached, has neither document, or responds with
    /// an unusable document. An unusable first document does not lead to the second, so that an
    /// attacker cannot select the second by corrupting the first.
    pub async fn run(&self, transport: &dyn Transport) -> Result<Provider, DiscoveryError> {
        self.first(transport, |document| self.read(document)).await
    }

    /// Discovers only the JWKS of the issuer, for an API that accepts its access tokens. The
    /// document needs `issuer` and `jwks_uri` alone, so that an issuer whose metadata omit
    /// `code_challenge_methods_supported` is accepted. The returned JWKS client fetches the keys
    /// when needed.
    ///
    /// # Errors
    ///
    /// [`DiscoveryError`] when the server was not reached, has neither document, or its document is
    /// about another issuer or has no usable `jwks_uri`.
    pub async fn keys(&self, transport: impl Transport + 'static) -> Result<RemoteKeySet, DiscoveryError> {
        let read = |document: &[u8]| metadata::read_jwks_uri(&self.issuer, document);
        let uri = self.first(&transport, read).await?;
        Ok(RemoteKeySet::new(uri, transport))
    }

    /// Requests the documents in their order, and reads the first that exists.
    async fn first<T>(
        &self,
        transport: &dyn Transport,
        read: impl Fn(&[u8]) -> Result<T, MetadataError>,
    ) -> Result<T, DiscoveryError> {
        for document in WellKnown::ALL {
            let response = exchange(transport, self.request(document)).await;
            if let Some(found) = finish(&response.map_err(DiscoveryError::Unreachable)?, &read)? {
                return Ok(found);
            }
        }
        Err(DiscoveryError::NotFound)
    }
}

/// Reads a response. Returns `None` after a 404.
fn finish<T>(
    response: &Response<Bytes>,
    read: impl Fn(&[u8]) -> Result<T, MetadataError>,
) -> Result<Option<T>, DiscoveryError> {
    refuse_truncated(response).map_err(DiscoveryError::Unreachable)?;
    match response.status() {
        StatusCode::NOT_FOUND => Ok(None),
        StatusCode::OK if is_of_type(response.headers(), "application/json") => {
            read(response.body()).map(Some).map_err(DiscoveryError::Unusable)
        }
        StatusCode::OK => Err(DiscoveryError::UnexpectedContent),
        status => Err(DiscoveryError::UnexpectedStatus(status)),
    }
}

impl Provider {
    /// Reads the metadata of `issuer`, like [`Discovery::read`] with default settings.
    ///
    /// # Errors
    ///
    /// [`MetadataError`] when the document is about another issuer, or lacks a required feature.
    pub fn from_metadata(issuer: &Issuer, document: &[u8]) -> Result<Self, MetadataError> {
        Discovery::new(issuer.clone()).read(document)
    }

    /// Discovers the server of this issuer, like [`Discovery::run`] with default settings.
    ///
    /// # Security
    ///
    /// See [`Discovery`]. Use a separate redirect URI for each server whose
    /// [`sends_issuer`](Self::sends_issuer) is `false`. If users choose the issuer, use a transport
    /// that refuses private networks.
    ///
    /// # Errors
    ///
    /// [`DiscoveryError`] when the server was not reached, or its metadata are unusable.
    pub async fn discover(issuer: &Issuer, transport: &dyn Transport) -> Result<Self, DiscoveryError> {
        Discovery::new(issuer.clone()).run(transport).await
    }
}
