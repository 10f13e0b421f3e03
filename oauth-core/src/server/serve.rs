//! Dispatch to the endpoints without a page.

use bytes::Bytes;
use http::Request;

use super::AuthorizationServer;
use super::endpoint_response::EndpointResponse;

impl AuthorizationServer {
    /// Serves the endpoints that need no page of the host, by the path of the request: PAR, token,
    /// introspection, revocation, UserInfo, metadata and JWKS. `None` for all other paths, also
    /// those of the authorization and sign-out endpoints, where the host shows pages.
    ///
    /// The path must be the one that the client requested, including the path of the issuer.
    ///
    /// ```
    /// # use oauth_core::jose::{SigningKey, SigningKeys};
    /// # use oauth_core::memory::{MemoryClients, MemoryInteractions, MemoryTokens};
    /// # use oauth_core::ports::{OsEntropy, SystemClock};
    /// # use oauth_core::server::AuthorizationServer;
    /// use bytes::Bytes;
    /// use http::Request;
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// # let server = AuthorizationServer::builder("https://auth.example")
    /// #     .with_clients(MemoryClients::new())
    /// #     .with_interactions(MemoryInteractions::new())
    /// #     .with_tokens(MemoryTokens::new())
    /// #     .with_clock(SystemClock)
    /// #     .with_entropy(OsEntropy)
    /// #     .with_signing_keys(SigningKeys::new(SigningKey::generate_es256(&OsEntropy)?))
    /// #     .with_audience("https://api.example")
    /// #     .build()?;
    /// let jwks = Request::get("/.well-known/jwks.json").body(Bytes::new())?;
    /// let served = server.serve(jwks).await.ok_or("not an endpoint")?;
    /// assert_eq!(served.response.status(), 200);
    /// let page = Request::get("/sign-in").body(Bytes::new())?;
    /// assert!(server.serve(page).await.is_none());
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub async fn serve(&self, request: Request<Bytes>) -> Option<EndpointResponse> {
        let (_, tenant) = self.inner.issuer.origin_and_path();
        let asked = request.uri().path().to_owned();
        let paths = self.paths();
        let document = |response| Some(EndpointResponse::new(response, Vec::new()));
        match asked.strip_prefix(tenant) {
            Some(path) if path == paths.token => Some(self.token(request).await),
            Some(path) if path == paths.introspect => Some(self.introspect(request).await),
            Some(path) if path == paths.revoke => Some(self.revoke(request).await),
            Some(path) if path == paths.par => Some(self.par(request).await),
            Some(path) if path == paths.userinfo => Some(self.userinfo(request).await),
            Some(path) if path == paths.jwks => document(self.jwks(&request)),
            _ if self.metadata_paths().contains(&asked) => document(self.metadata(&request)),
            _ => None,
        }
    }
}
