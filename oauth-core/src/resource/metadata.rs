//! What clients read about a resource, [RFC 9728](https://www.rfc-editor.org/rfc/rfc9728).

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use serde_json::json;

use super::ResourceServer;
use crate::dpop::{self, Htu};
use crate::vocabulary::Scopes;

/// What stands between the host and the path of the resource.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

impl ResourceServer {
    /// Tells clients in each challenge where the [metadata](Self::metadata) are, which name these scopes.
    ///
    /// An audience that is no URL has none, and is told of nobody.
    #[must_use]
    pub fn with_metadata(mut self, scopes: Scopes) -> Self {
        let url = self
            .place()
            .map(|(origin, path)| format!("{origin}{WELL_KNOWN}{path}").into());
        Arc::make_mut(&mut self.realm).metadata_url = url;
        self.scopes = Some(scopes);
        self
    }

    /// The path under which clients look for the metadata: mount [`metadata`](Self::metadata) there. None where the audience is no
    /// URL.
    #[must_use]
    pub fn metadata_path(&self) -> Option<String> {
        self.place().map(|(_, path)| format!("{WELL_KNOWN}{path}"))
    }

    /// The origin and the path of the resource, the latter without a slash at its end
    /// ([RFC 9728 §3](https://www.rfc-editor.org/rfc/rfc9728#section-3)).
    fn place(&self) -> Option<(String, String)> {
        let url: Htu = self.policy.audience().as_str().parse().ok()?;
        let url = url.as_str();
        let (_, behind_scheme) = url.split_once("://")?;
        let authority = behind_scheme.split('/').next().unwrap_or_default();
        let path = behind_scheme.strip_prefix(authority)?;
        let origin = url.strip_suffix(path)?;
        Some((origin.to_owned(), path.trim_end_matches('/').to_owned()))
    }

    /// Answers `GET` for the metadata.
    ///
    /// ```
    /// use bytes::Bytes;
    /// use http::Request;
    /// use oauth_core::jose::KeySet;
    /// use oauth_core::resource::ResourceServer;
    ///
    /// let (issuer, audience) = ("https://as.example".parse()?, "https://api.example/v1".parse()?);
    /// let api = ResourceServer::new(issuer, audience, KeySet::new([])?).with_metadata("read:charges".parse()?);
    /// assert_eq!(api.metadata_path().as_deref(), Some("/.well-known/oauth-protected-resource/v1"));
    /// let answer = api.metadata(&Request::get("/.well-known/oauth-protected-resource/v1").body(Bytes::new())?);
    /// let document: serde_json::Value = serde_json::from_slice(answer.body())?;
    /// assert_eq!(document["authorization_servers"][0], "https://as.example");
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn metadata(&self, request: &Request<Bytes>) -> Response<Bytes> {
        if ![Method::GET, Method::HEAD].contains(request.method()) {
            let mut response = Response::new(Bytes::new());
            *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
            let allowed = HeaderValue::from_static("GET, HEAD");
            response.headers_mut().insert(ALLOW, allowed);
            return response;
        }
        let mut document = json!({
            "resource": self.policy.audience(),
            "authorization_servers": [self.policy.issuer()],
            "bearer_methods_supported": ["header"],
        });
        if let Some(members) = document.as_object_mut() {
            if let Some(scopes) = &self.scopes {
                let scopes: Vec<_> = scopes.iter().collect();
                members.insert("scopes_supported".to_owned(), json!(scopes));
            }
            if self.realm.takes_proofs {
                let name = "dpop_signing_alg_values_supported".to_owned();
                members.insert(name, json!(dpop::algorithms()));
            }
        }
        let mut response = Response::new(document.to_string().into());
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"));
        response
    }
}
