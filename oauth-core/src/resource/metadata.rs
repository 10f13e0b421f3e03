//! Protected resource metadata, [RFC 9728](https://www.rfc-editor.org/rfc/rfc9728).

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use serde_json::json;

use super::{RequiredPossession, ResourceServer};
use crate::dpop::{self, Htu};
use crate::vocabulary::Scopes;

/// Well-known path, inserted between the host and the path of the resource.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

impl ResourceServer {
    /// Sets the scopes in the [metadata](Self::metadata), and adds the URL of the metadata to each
    /// challenge.
    ///
    /// If the audience is not a URL, the challenges stay unchanged.
    #[must_use]
    pub fn with_metadata(mut self, scopes: Scopes) -> Self {
        let url = self.place().map(|(url, path)| {
            let query = self.policy.audience().as_str().split('#').next();
            let query = query.and_then(|text| text.split_once('?'));
            let query = query.map(|(_, query)| format!("?{query}")).unwrap_or_default();
            format!("{}{path}{query}", url.origin()).into()
        });
        Arc::make_mut(&mut self.realm).metadata_url = url;
        self.scopes = Some(scopes);
        self
    }

    /// Returns the path at which the host must serve [`metadata`](Self::metadata). `None` if the
    /// audience is not a URL. A query of the audience is not part of the path: clients send it with
    /// the request.
    #[must_use]
    pub fn metadata_path(&self) -> Option<String> {
        self.place().map(|(_, path)| path)
    }

    /// Returns the URL of the resource and the path of its metadata: the well-known path followed
    /// by the path of the resource, which is omitted if it is only a slash ([RFC 9728
    /// §3.1](https://www.rfc-editor.org/rfc/rfc9728#section-3.1)).
    fn place(&self) -> Option<(Htu, String)> {
        let url: Htu = self.policy.audience().as_str().parse().ok()?;
        let own = url
            .as_str()
            .strip_prefix(url.origin())
            .filter(|path| *path != "/");
        let path = format!("{WELL_KNOWN}{}", own.unwrap_or_default());
        Some((url, path))
    }

    /// Returns the protected resource metadata as JSON, for `GET` and `HEAD`. Other methods get
    /// 405. Clients may cache the response for five minutes.
    ///
    /// ```
    /// use bytes::Bytes;
    /// use http::Request;
    /// use oauth_core::jose::KeySet;
    /// use oauth_core::resource::ResourceServer;
    ///
    /// let (issuer, audience) = ("https://as.example".parse()?, "https://api.example/v1".parse()?);
    /// let api = ResourceServer::new(issuer, audience, KeySet::new([])?);
    /// let api = api.with_metadata("read:charges".parse()?);
    /// let path = "/.well-known/oauth-protected-resource/v1";
    /// assert_eq!(api.metadata_path().as_deref(), Some(path));
    /// let response = api.metadata(&Request::get(path).body(Bytes::new())?);
    /// let document: serde_json::Value = serde_json::from_slice(response.body())?;
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
            if let Some(required) = self.required {
                let (name, taken) = match required {
                    RequiredPossession::Key => ("dpop_bound_access_tokens_required", json!([])),
                    _ => ("tls_client_certificate_bound_access_tokens", json!(["header"])),
                };
                members.insert(name.to_owned(), json!(true));
                members.insert("bearer_methods_supported".to_owned(), taken);
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
