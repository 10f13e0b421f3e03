//! What clients and resource servers read about the server:
//! [RFC 8414](https://www.rfc-editor.org/rfc/rfc8414),
//! [OpenID Connect Discovery](https://openid.net/specs/openid-connect-discovery-1_0.html) and its keys.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response};
use serde_json::json;

use super::AuthorizationServer;
use super::form::method_not_allowed;
use super::path;
use crate::pkce;
use crate::store::GrantType;
use crate::vocabulary::{Issuer, Scopes};

impl AuthorizationServer {
    /// Answers `GET` for the metadata: one document for `/.well-known/oauth-authorization-server` and
    /// `/.well-known/openid-configuration`.
    #[must_use]
    pub fn metadata(&self, request: &Request<Bytes>) -> Response<Bytes> {
        document(request, || self.inner.metadata.clone())
    }

    /// Answers `GET` for the key set: the key that signs now, the one that will, and each retired one until its last
    /// token has expired.
    #[must_use]
    pub fn jwks(&self, request: &Request<Bytes>) -> Response<Bytes> {
        document(request, || {
            let now = self.inner.clock.now();
            self.inner.signing_keys.published(now).to_json().into()
        })
    }
}

fn document(request: &Request<Bytes>, body: impl FnOnce() -> Bytes) -> Response<Bytes> {
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return method_not_allowed("GET, HEAD");
    }
    let mut response = Response::new(body());
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"));
    response
}

/// The metadata of a server with these settings; what it does not name, it does not offer.
pub(super) fn describe(
    issuer: &Issuer,
    scopes: &Scopes,
    signing_algorithm: &str,
    pushed_requests_required: bool,
) -> Bytes {
    let base = issuer.as_str().trim_end_matches('/');
    let confidential = ["client_secret_basic", "client_secret_post"];
    let every_client = ["client_secret_basic", "client_secret_post", "none"];
    let document = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{base}{}", path::AUTHORIZE),
        "pushed_authorization_request_endpoint": format!("{base}{}", path::PAR),
        "require_pushed_authorization_requests": pushed_requests_required,
        "token_endpoint": format!("{base}{}", path::TOKEN),
        "introspection_endpoint": format!("{base}{}", path::INTROSPECT),
        "revocation_endpoint": format!("{base}{}", path::REVOKE),
        "jwks_uri": format!("{base}{}", path::JWKS),
        "scopes_supported": scopes.iter().collect::<Vec<_>>(),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": GrantType::ALL.map(GrantType::as_str),
        "code_challenge_methods_supported": [pkce::METHOD],
        "token_endpoint_auth_methods_supported": every_client,
        "introspection_endpoint_auth_methods_supported": confidential,
        "revocation_endpoint_auth_methods_supported": every_client,
        "authorization_response_iss_parameter_supported": true,
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [signing_algorithm],
        "claims_supported": ["aud", "auth_time", "email", "exp", "iat", "iss", "name", "nonce", "sub"],
        "request_parameter_supported": false,
        "request_uri_parameter_supported": false,
    });
    document.to_string().into()
}
