//! Finding a server by its name, [OpenID Connect Discovery §4](https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfig)
//! and [RFC 8414 §3](https://www.rfc-editor.org/rfc/rfc8414#section-3).

use bytes::Bytes;
use http::header::ACCEPT;
use http::{HeaderValue, Request, Response, StatusCode};

use super::Provider;
use super::metadata::{self, MetadataError};
use crate::exchange::{exchange, is_of_type, refuse_truncated};
use crate::ports::{Transport, TransportError};
use crate::vocabulary::Issuer;

/// A document that a server describes itself in.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WellKnown {
    /// `/.well-known/openid-configuration`, behind the path of the issuer.
    OpenIdConfiguration,
    /// `/.well-known/oauth-authorization-server`, between the host and the path of the issuer.
    OauthAuthorizationServer,
}

impl WellKnown {
    /// Every document, in the order in which they are asked for.
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

/// Why a server could not be found out about.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum DiscoveryError {
    /// The server has neither document.
    #[error("the server does not describe itself")]
    NotFound,
    /// The answer was neither a document nor a 404. Redirects are among them: they are not followed.
    #[error("the server answered with status {0}")]
    UnexpectedStatus(StatusCode),
    /// What came with a 200 is not called `application/json`.
    #[error("the server answered with something else than JSON")]
    UnexpectedContent,
    /// The document is not used.
    #[error("the metadata of the server are not usable")]
    Unusable(#[source] MetadataError),
    /// There was no answer.
    #[error("the server could not be asked")]
    Unreachable(#[source] TransportError),
}

/// Finds out about a server by its name.
///
/// [`run`](Self::run) does it all; the steps are there for hosts that send the requests in another way.
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
/// A server whose document does not say `authorization_response_iss_parameter_supported` need not name itself in its answers
/// ([`Provider::sends_issuer`]). A client of several servers then uses a redirect URI for each, and takes an answer only for the sign-in
/// that was begun with that URI: or one server can have the codes of another
/// ([RFC 9700 §4.4.2](https://www.rfc-editor.org/rfc/rfc9700#section-4.4.2)).
///
/// The document says where requests go. One of an issuer elsewhere that names an address of this machine or of a private network is
/// refused, but a name may lead there all the same: where strangers choose the issuer, the [`Transport`] has to refuse such addresses.
#[derive(Clone, Debug)]
#[must_use]
pub struct Discovery {
    issuer: Issuer,
    silence_is_s256: bool,
}

impl Discovery {
    /// Asks the issuer of this name.
    pub fn new(issuer: Issuer) -> Self {
        Self {
            issuer,
            silence_is_s256: false,
        }
    }

    /// Accepts a server that does not say which code challenges it takes. One that says so, and does not name `S256`, is still refused.
    ///
    /// # Security
    ///
    /// A server that knows nothing of PKCE ignores the challenge, and nobody notices: whoever steals a code, or slips one in, is not
    /// stopped by the verifier any more ([RFC 9700 §2.1.1](https://www.rfc-editor.org/rfc/rfc9700#section-2.1.1)). Use it only for a server
    /// that is known to check it, and does not say so.
    pub fn danger_take_silence_for_s256(mut self) -> Self {
        self.silence_is_s256 = true;
        self
    }

    /// The request for a document.
    #[must_use]
    pub fn request(&self, document: WellKnown) -> Request<Bytes> {
        let mut request = Request::new(Bytes::new());
        // an issuer is a URL of the characters that RFC 3986 knows
        *request.uri_mut() = document.url(&self.issuer).parse().unwrap_or_default();
        request
            .headers_mut()
            .insert(ACCEPT, HeaderValue::from_static("application/json"));
        request
    }

    /// Takes the answer; none where the server has no such document and may have the other.
    ///
    /// # Errors
    ///
    /// The answer is neither a document of this issuer that can be used nor a 404.
    pub fn finish(&self, response: &Response<Bytes>) -> Result<Option<Provider>, DiscoveryError> {
        refuse_truncated(response).map_err(DiscoveryError::Unreachable)?;
        match response.status() {
            StatusCode::NOT_FOUND => Ok(None),
            StatusCode::OK if is_of_type(response.headers(), "application/json") => {
                let provider = self.read(response.body());
                provider.map(Some).map_err(DiscoveryError::Unusable)
            }
            StatusCode::OK => Err(DiscoveryError::UnexpectedContent),
            status => Err(DiscoveryError::UnexpectedStatus(status)),
        }
    }

    /// Reads a document of this issuer, however it was obtained.
    ///
    /// # Errors
    ///
    /// The document is not that of this issuer, or a client of this crate does not work with such a server.
    pub fn read(&self, document: &[u8]) -> Result<Provider, MetadataError> {
        metadata::read(&self.issuer, document, self.silence_is_s256)
    }

    /// Asks for the document of OpenID Connect, and for that of OAuth where there is none.
    ///
    /// # Errors
    ///
    /// The server was not reached, has neither document, or the first one it has is not used: nothing but a 404 makes it look for the
    /// other, so that nobody can choose between them by breaking one.
    pub async fn run(&self, transport: &dyn Transport) -> Result<Provider, DiscoveryError> {
        for document in WellKnown::ALL {
            let response = exchange(transport, self.request(document)).await;
            if let Some(provider) = self.finish(&response.map_err(DiscoveryError::Unreachable)?)? {
                return Ok(provider);
            }
        }
        Err(DiscoveryError::NotFound)
    }
}

impl Provider {
    /// Reads what `issuer` says of itself; [`Discovery::read`] without exceptions.
    ///
    /// # Errors
    ///
    /// The document is not that of this issuer, or a client of this crate does not work with such a server.
    pub fn from_metadata(issuer: &Issuer, document: &[u8]) -> Result<Self, MetadataError> {
        Discovery::new(issuer.clone()).read(document)
    }

    /// Finds out about the server of this name; [`Discovery::run`] without exceptions.
    ///
    /// # Security
    ///
    /// As for [`Discovery`]: a redirect URI for each server that does not name itself ([`sends_issuer`](Self::sends_issuer)), and a
    /// transport that refuses private networks where strangers choose the issuer.
    ///
    /// # Errors
    ///
    /// The server was not reached, or what it says of itself is not used.
    pub async fn discover(issuer: &Issuer, transport: &dyn Transport) -> Result<Self, DiscoveryError> {
        Discovery::new(issuer.clone()).run(transport).await
    }
}
