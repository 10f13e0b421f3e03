//! Server metadata, [RFC 8414 §2](https://www.rfc-editor.org/rfc/rfc8414#section-2) and [OpenID
//! Connect Discovery
//! §3](https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderMetadata).

use std::borrow::Cow;

use serde::Deserialize;

use super::place::Place;
use super::{MtlsAliases, Provider};
use crate::exchange::MAX_LENGTH;
use crate::json;
use crate::pkce;
use crate::vocabulary::{Endpoint, Issuer};

/// Refusal of a server's metadata.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum MetadataError {
    /// The document is longer than 64 KiB.
    #[error("the metadata are longer than 64 KiB")]
    TooLong,
    /// The document is not a JSON object, repeats a member, or a required member is missing or of
    /// the wrong type.
    #[error("the metadata are malformed")]
    Malformed,
    /// The document is about another issuer.
    #[error("the metadata are of another issuer")]
    WrongIssuer,
    /// The named member is not a URL to which secrets may be sent: it is not `https`, has a
    /// fragment or user information, or, for a public issuer, has a loopback or private address.
    #[error("the url of `{0}` is not https, or has a private address")]
    InvalidEndpoint(&'static str),
    /// `response_types_supported` lacks `code`: the server issues no authorization codes.
    #[error("the server does not support the authorization code grant")]
    NoCode,
    /// `code_challenge_methods_supported` is absent or lacks `S256`: the server may not support
    /// PKCE. If it is absent, and the server is known to verify S256,
    /// [`danger_take_silence_for_s256`](super::Discovery::danger_take_silence_for_s256) accepts
    /// the server.
    #[error("`code_challenge_methods_supported` of the server lacks S256")]
    NoS256,
    /// `jwks_uri` is missing: the server publishes no keys.
    #[error("the metadata have no `jwks_uri`: the server publishes no keys")]
    NoKeys,
}

/// Metadata document on the wire. Unknown members are ignored.
#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(borrow)]
    issuer: Cow<'a, str>,
    #[serde(borrow)]
    authorization_endpoint: Cow<'a, str>,
    #[serde(borrow)]
    token_endpoint: Cow<'a, str>,
    #[serde(borrow)]
    pushed_authorization_request_endpoint: Option<Cow<'a, str>>,
    require_pushed_authorization_requests: Option<bool>,
    #[serde(borrow)]
    userinfo_endpoint: Option<Cow<'a, str>>,
    #[serde(borrow)]
    revocation_endpoint: Option<Cow<'a, str>>,
    #[serde(borrow)]
    introspection_endpoint: Option<Cow<'a, str>>,
    #[serde(borrow)]
    end_session_endpoint: Option<Cow<'a, str>>,
    #[serde(borrow)]
    jwks_uri: Option<Cow<'a, str>>,
    response_types_supported: Vec<String>,
    code_challenge_methods_supported: Option<Vec<String>>,
    authorization_response_iss_parameter_supported: Option<bool>,
    #[serde(borrow)]
    mtls_endpoint_aliases: Option<WireAliases<'a>>,
}

#[derive(Default, Deserialize)]
struct WireAliases<'a> {
    #[serde(borrow)]
    pushed_authorization_request_endpoint: Option<Cow<'a, str>>,
    #[serde(borrow)]
    token_endpoint: Option<Cow<'a, str>>,
    #[serde(borrow)]
    userinfo_endpoint: Option<Cow<'a, str>>,
    #[serde(borrow)]
    revocation_endpoint: Option<Cow<'a, str>>,
    #[serde(borrow)]
    introspection_endpoint: Option<Cow<'a, str>>,
}

/// The members that an API needs.
#[derive(Deserialize)]
struct WireKeys<'a> {
    #[serde(borrow)]
    issuer: Cow<'a, str>,
    #[serde(borrow)]
    jwks_uri: Option<Cow<'a, str>>,
}

/// Reads only the URL of the JWKS from the metadata of `issuer`.
pub(super) fn read_jwks_uri(issuer: &Issuer, document: &[u8]) -> Result<Endpoint, MetadataError> {
    if document.len() > MAX_LENGTH {
        return Err(MetadataError::TooLong);
    }
    let wire: WireKeys<'_> = json::object(document).map_err(|_| MetadataError::Malformed)?;
    if wire.issuer != issuer.as_str() {
        return Err(MetadataError::WrongIssuer);
    }
    let uri = wire.jwks_uri.ok_or(MetadataError::NoKeys)?;
    Place::of(issuer).endpoint("jwks_uri", &uri)
}

/// Reads the metadata of `issuer`. With `silence_is_s256`, absent code challenge methods count as
/// S256.
pub(super) fn read(
    issuer: &Issuer,
    document: &[u8],
    silence_is_s256: bool,
) -> Result<Provider, MetadataError> {
    if document.len() > MAX_LENGTH {
        return Err(MetadataError::TooLong);
    }
    let wire: Wire<'_> = json::object(document).map_err(|_| MetadataError::Malformed)?;
    if wire.issuer != issuer.as_str() {
        return Err(MetadataError::WrongIssuer);
    }
    let has = |names: &[String], wanted: &str| names.iter().any(|name| name == wanted);
    if !has(&wire.response_types_supported, "code") {
        return Err(MetadataError::NoCode);
    }
    let methods = wire.code_challenge_methods_supported.as_deref();
    if !methods.map_or(silence_is_s256, |methods| has(methods, pkce::METHOD)) {
        return Err(MetadataError::NoS256);
    }
    wire.provider(issuer)
}

impl Wire<'_> {
    fn provider(self, issuer: &Issuer) -> Result<Provider, MetadataError> {
        let place = Place::of(issuer);
        let aliases = self.mtls_endpoint_aliases.unwrap_or_default();
        Ok(Provider {
            issuer: issuer.clone(),
            authorization_endpoint: place.endpoint("authorization_endpoint", &self.authorization_endpoint)?,
            token_endpoint: place.endpoint("token_endpoint", &self.token_endpoint)?,
            pushed_authorization_request_endpoint: place.optional(
                "pushed_authorization_request_endpoint",
                self.pushed_authorization_request_endpoint,
            )?,
            requires_pushed_authorization_requests: self.require_pushed_authorization_requests == Some(true),
            userinfo_endpoint: place.optional("userinfo_endpoint", self.userinfo_endpoint)?,
            revocation_endpoint: place.optional("revocation_endpoint", self.revocation_endpoint)?,
            introspection_endpoint: place.optional("introspection_endpoint", self.introspection_endpoint)?,
            end_session_endpoint: place.optional("end_session_endpoint", self.end_session_endpoint)?,
            jwks_uri: place.optional("jwks_uri", self.jwks_uri)?,
            sends_issuer: self.authorization_response_iss_parameter_supported == Some(true),
            mtls_aliases: aliases.read(&place)?,
        })
    }
}

impl WireAliases<'_> {
    fn read(self, place: &Place) -> Result<MtlsAliases, MetadataError> {
        let endpoint = |text| place.optional("mtls_endpoint_aliases", text);
        Ok(MtlsAliases {
            pushed_authorization_request_endpoint: endpoint(self.pushed_authorization_request_endpoint)?,
            token_endpoint: endpoint(self.token_endpoint)?,
            userinfo_endpoint: endpoint(self.userinfo_endpoint)?,
            revocation_endpoint: endpoint(self.revocation_endpoint)?,
            introspection_endpoint: endpoint(self.introspection_endpoint)?,
        })
    }
}
