//! Server metadata and JWKS: [RFC 8414](https://www.rfc-editor.org/rfc/rfc8414) and [OpenID Connect
//! Discovery](https://openid.net/specs/openid-connect-discovery-1_0.html).

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response};
use serde_json::{Value, json};

use super::AuthorizationServer;
use super::certificates::CertificateUse;
use super::endpoint_paths::EndpointPaths;
use super::form::method_not_allowed;
use super::path;
use crate::dpop;
use crate::jose::Algorithm;
use crate::pkce;
use crate::store::GrantType;
use crate::vocabulary::{Issuer, ResponseMode, Scopes};

impl AuthorizationServer {
    /// Returns the paths of the metadata. The host must mount [`metadata`](Self::metadata) at each
    /// path.
    ///
    /// [RFC 8414 §3](https://www.rfc-editor.org/rfc/rfc8414#section-3) inserts `/.well-known/…`
    /// between the host and the path of the issuer; [OpenID Connect Discovery
    /// §4](https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfig) appends it to
    /// the path. Clients try both document names at both positions. For an issuer without a path
    /// there are two paths, otherwise four.
    ///
    /// ```
    /// # use std::{sync::Arc, time::SystemTime};
    /// # use oauth_core::jose::{SigningKey, SigningKeys};
    /// # use oauth_core::memory::{MemoryClients, MemoryInteractions, MemoryTokens};
    /// # use oauth_core::ports::{OsEntropy, SystemClock};
    /// # use oauth_core::server::AuthorizationServer;
    /// # let server = AuthorizationServer::builder("https://auth.example/tenant")
    /// #     .with_clients(MemoryClients::new())
    /// #     .with_interactions(MemoryInteractions::new())
    /// #     .with_tokens(MemoryTokens::new())
    /// #     .with_clock(SystemClock)
    /// #     .with_entropy(OsEntropy)
    /// #     .with_signing_keys(SigningKeys::new(SigningKey::generate_es256(&OsEntropy)?))
    /// #     .with_audience("https://api.example")
    /// #     .build()?;
    /// assert_eq!(server.issuer().as_str(), "https://auth.example/tenant");
    /// assert_eq!(
    ///     server.metadata_paths(),
    ///     [
    ///         "/.well-known/oauth-authorization-server/tenant",
    ///         "/.well-known/openid-configuration/tenant",
    ///         "/tenant/.well-known/oauth-authorization-server",
    ///         "/tenant/.well-known/openid-configuration",
    ///     ]
    /// );
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn metadata_paths(&self) -> Vec<String> {
        let (_, tenant) = self.inner.issuer.origin_and_path();
        let names = [path::OAUTH_METADATA, path::OPENID_METADATA];
        let between = names.map(|name| format!("{name}{tenant}"));
        let behind = names.map(|name| format!("{tenant}{name}"));
        let mut paths: Vec<String> = between.into_iter().chain(behind).collect();
        if tenant.is_empty() {
            paths.truncate(names.len());
        }
        paths
    }

    /// Serves the metadata, by `GET` and `HEAD`. All [`metadata_paths`](Self::metadata_paths) serve
    /// the same document.
    #[must_use]
    pub fn metadata(&self, request: &Request<Bytes>) -> Response<Bytes> {
        document(request, || self.inner.metadata.clone())
    }

    /// Serves the JWKS, by `GET` and `HEAD`: the active key, the next key if there is one, and each
    /// retired key until the last token that it signed has expired.
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

/// Settings of a server that the metadata describes.
pub(super) struct Offer<'a> {
    pub(super) paths: &'a EndpointPaths,
    pub(super) scopes: &'a Scopes,
    /// Algorithms of ID tokens.
    pub(super) algorithms: Vec<Algorithm>,
    pub(super) pushed_requests_required: bool,
    /// `true` if the server has a replay store, which client assertions and DPoP proofs need.
    pub(super) replays: bool,
    pub(super) certificates: CertificateUse,
    /// `true` if the server sends logout tokens.
    pub(super) backchannel_logout: bool,
    /// Base URL of the mTLS endpoint aliases, if there are any.
    pub(super) mtls_base: Option<&'a Issuer>,
}

/// Renders the metadata of a server with these settings.
pub(super) fn describe(issuer: &Issuer, offer: &Offer<'_>) -> Bytes {
    let (base, paths) = (issuer.as_str().trim_end_matches('/'), offer.paths);
    let mut confidential = vec!["client_secret_basic", "client_secret_post"];
    if offer.replays {
        confidential.push("private_key_jwt");
    }
    confidential.extend(offer.certificates.methods());
    let every_client = [&confidential[..], &["none"]].concat();
    let mut document = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{base}{}", paths.authorize),
        "pushed_authorization_request_endpoint": format!("{base}{}", paths.par),
        "require_pushed_authorization_requests": offer.pushed_requests_required,
        "token_endpoint": offer.paths.token_url(issuer),
        "introspection_endpoint": format!("{base}{}", paths.introspect),
        "revocation_endpoint": format!("{base}{}", paths.revoke),
        "userinfo_endpoint": format!("{base}{}", paths.userinfo),
        "end_session_endpoint": format!("{base}{}", paths.end_session),
        "jwks_uri": format!("{base}{}", paths.jwks),
        "scopes_supported": offer.scopes.iter().collect::<Vec<_>>(),
        "response_types_supported": ["code"],
        "response_modes_supported": ResponseMode::ALL.map(ResponseMode::as_str),
        "grant_types_supported": GrantType::ALL.map(GrantType::as_str),
        "code_challenge_methods_supported": [pkce::METHOD],
        "token_endpoint_auth_methods_supported": every_client,
        "introspection_endpoint_auth_methods_supported": confidential,
        "revocation_endpoint_auth_methods_supported": every_client,
        "authorization_response_iss_parameter_supported": true,
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": offer.algorithms,
        "claims_supported": [
            "acr", "amr", "aud", "auth_time", "email", "exp", "iat", "iss", "name", "nonce", "sid", "sub",
        ],
        "prompt_values_supported": ["none", "login", "consent", "select_account"],
        "request_parameter_supported": false,
        "request_uri_parameter_supported": false,
        "backchannel_logout_supported": offer.backchannel_logout,
        "backchannel_logout_session_supported": offer.backchannel_logout,
        "tls_client_certificate_bound_access_tokens": offer.certificates.bound_tokens,
    });
    if let Some(members) = document.as_object_mut().filter(|_| offer.replays) {
        let name = "dpop_signing_alg_values_supported".to_owned();
        members.insert(name, json!(dpop::algorithms()));
        members.extend(["token", "introspection", "revocation"].map(|endpoint| {
            let name = format!("{endpoint}_endpoint_auth_signing_alg_values_supported");
            (name, json!(Algorithm::names_of(&Algorithm::ALL)))
        }));
    }
    let aliases = offer.mtls_base.map(|base| mtls_endpoint_aliases(base, paths));
    if let Some((members, aliases)) = document.as_object_mut().zip(aliases) {
        members.insert("mtls_endpoint_aliases".to_owned(), aliases);
    }
    document.to_string().into()
}

/// Returns `mtls_endpoint_aliases`, the URLs below `base` of the endpoints that use client
/// certificates, [RFC 8705 §5](https://www.rfc-editor.org/rfc/rfc8705#section-5).
fn mtls_endpoint_aliases(base: &Issuer, paths: &EndpointPaths) -> Value {
    let base = base.as_str().trim_end_matches('/');
    json!({
        "token_endpoint": format!("{base}{}", paths.token),
        "pushed_authorization_request_endpoint": format!("{base}{}", paths.par),
        "introspection_endpoint": format!("{base}{}", paths.introspect),
        "revocation_endpoint": format!("{base}{}", paths.revoke),
        "userinfo_endpoint": format!("{base}{}", paths.userinfo),
    })
}
