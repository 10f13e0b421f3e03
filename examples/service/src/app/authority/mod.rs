//! Authorization server and token verification of the service.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use host_ports::transport_fn;
use host_transport_hyper::HyperTransport;
use http::Request;
use oauth_core::attempts::{AttemptPolicy, Source};
use oauth_core::dpop::NonceKey;
use oauth_core::grant::AccessTokenFormat;
use oauth_core::jose::KeySet;
use oauth_core::ports::OsEntropy;
use oauth_core::secret::ClientSecret;
use oauth_core::server::AuthorizationServerBuilder;
use oauth_core::store::ClientSecrets;
use oauth_core::vocabulary::{Audience, ClientId};
use oauth_core::{
    AuthorizationServer, Introspection, RegisteredClient, ResourceServer, Scopes, Sessions, SigningKey,
    SigningKeys,
};
use thiserror::Error;
use webhook_core::address::AddressPolicy;

use super::console::refusal;
use super::open::{OpenError, SCOPES, at, secret_bytes};
use super::sign_in::SignedInUsers;
use super::traced::Traced;
use crate::clock::DemoClock;
use crate::desk::Desk;
use crate::stores::Stores;

/// Format, audiences and binding of access tokens.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct AccessTokens {
    /// JWT by default.
    pub format: AccessTokenFormat,
    /// Scopes of other APIs, which the service issues beside its own.
    pub other_scopes: Scopes,
    /// Resource URLs of other APIs ([RFC 8707](https://www.rfc-editor.org/rfc/rfc8707)). Without a
    /// `resource` parameter, a token is valid for all of them and the desk.
    pub other_apis: Vec<String>,
    /// Enables mutual TLS ([RFC 8705](https://www.rfc-editor.org/rfc/rfc8705)): clients that are
    /// registered for it authenticate by certificate, and their tokens are bound to it.
    ///
    /// Requires a server that requests client certificates and inserts each connection's
    /// [`PeerCertificate`](host_tls::PeerCertificate) into the request extensions, as `serve_tls`
    /// of the adapters does.
    pub certificates: bool,
}

/// Authorization server and resource server.
pub(super) struct Authority {
    pub(super) server: AuthorizationServer,
    pub(super) resources: ResourceServer,
}

/// Parts of the service that the authorization server uses.
pub(super) struct Parts<'a> {
    pub(super) desk: &'a Desk,
    pub(super) clock: &'a DemoClock,
    pub(super) stores: &'a Stores,
    pub(super) sessions: &'a Sessions,
    /// Addresses to which logout tokens may be sent.
    pub(super) addresses: &'a AddressPolicy,
    pub(super) introspector: &'a Introspector,
}

/// Client by which the service introspects opaque tokens in its own process. Its secret is new at
/// each start.
pub(super) struct Introspector {
    id: ClientId,
    secret: ClientSecret,
    audience: Audience,
}

impl Introspector {
    pub(super) fn generate(base_url: &str) -> Result<Self, OpenError> {
        Ok(Self {
            id: "desk-introspection".parse().map_err(at("the introspection"))?,
            secret: ClientSecret::generate(&OsEntropy),
            audience: base_url.parse().map_err(at("the audience"))?,
        })
    }

    pub(super) fn registration(&self) -> RegisteredClient {
        RegisteredClient::confidential(self.id.clone(), ClientSecrets::new(&self.secret))
            .with_grant_types([])
            .with_audience(self.audience.clone())
    }
}

impl Authority {
    pub(super) async fn open(
        base_url: &str,
        tokens: AccessTokens,
        parts: &Parts<'_>,
    ) -> Result<Self, OpenError> {
        let Parts {
            desk, clock, stores, ..
        } = *parts;
        let signed_in = SignedInUsers::new(parts.sessions, desk);
        let signing_key = signing_key(desk).await?;
        // shared key: each server's nonces still differ
        let nonce_key = NonceKey::from_bytes(secret_bytes(desk, "dpop-nonce-key").await?);
        let resources = resource_server(base_url, stores, &signing_key)?.with_dpop_nonces(&nonce_key);
        let server = authorization_server(base_url, stores, clock, signing_key, &tokens.other_scopes)?
            // many clients accept ID tokens of RS256 only
            .with_id_token_keys(SigningKeys::new(id_token_key(desk).await?))
            .with_session_lookup(signed_in)
            .with_subject_status(Arc::clone(&stores.locks))
            .with_backchannel_logout(
                Arc::clone(&stores.sessions),
                Traced(HyperTransport::new(parts.addresses.clone())),
            )
            .with_dpop_nonces(nonce_key)
            .with_access_token_format(tokens.format);
        let others = tokens.other_apis.iter();
        let server = others.fold(server, |server, api| server.with_audience(api));
        let server = match tokens.certificates {
            true => server
                .with_certificate_bound_tokens()
                .with_tls_client_auth()
                .with_self_signed_tls_client_auth(),
            false => server,
        };
        let server = server.build().map_err(at("the authorization server"))?;
        let resources = if tokens.format == AccessTokenFormat::Opaque {
            resources.with_introspection(introspection(base_url, &server, parts.introspector)?)
        } else {
            resources
        };
        Ok(Self { server, resources })
    }
}

/// A generated signing key cannot be exported.
#[derive(Debug, Error)]
#[error("the signing key cannot be exported")]
struct KeyNotExportable;

/// Key that signs access tokens.
async fn signing_key(desk: &Desk) -> Result<SigningKey, OpenError> {
    let fresh = SigningKey::generate_es256(&OsEntropy).map_err(at("a signing key"))?;
    keep(desk, "signing-key", fresh).await
}

/// Key that signs ID tokens, for RS256.
async fn id_token_key(desk: &Desk) -> Result<SigningKey, OpenError> {
    let fresh = SigningKey::generate_rsa().map_err(at("a signing key"))?;
    keep(desk, "id-token-key", fresh).await
}

/// Stores a key at the first start, and returns the stored key, so that tokens survive a restart.
async fn keep(desk: &Desk, name: &'static str, fresh: SigningKey) -> Result<SigningKey, OpenError> {
    let pem = fresh
        .to_pkcs8_pem()
        .ok_or(KeyNotExportable)
        .map_err(at("a signing key"))?;
    let kept = desk
        .host_secret(name, pem.expose().as_bytes().to_vec())
        .await
        .map_err(at("the signing key"))?;
    let pem = String::from_utf8(kept).map_err(at("the signing key"))?;
    SigningKey::from_pkcs8_pem(&pem).map_err(at("the signing key"))
}

fn authorization_server(
    base_url: &str,
    stores: &Stores,
    clock: &DemoClock,
    signing_key: SigningKey,
    other_scopes: &Scopes,
) -> Result<AuthorizationServerBuilder, OpenError> {
    let scopes: Scopes = SCOPES.parse().map_err(at("the scopes"))?;
    Ok(AuthorizationServer::builder(base_url)
        .with_clients(Arc::clone(&stores.clients))
        .with_interactions(Arc::clone(&stores.interactions))
        .with_tokens(Arc::clone(&stores.tokens))
        .with_consents(Arc::clone(&stores.consents))
        .with_replays(Arc::clone(&stores.replays))
        .with_clock(clock.clone())
        .with_entropy(OsEntropy)
        .with_signing_keys(SigningKeys::new(signing_key))
        .with_audience(base_url)
        .with_scopes(scopes.union(other_scopes))
        // as the consent page promises
        .with_claims_by_scope()
        .with_error_page(refusal(base_url))
        .with_attempts(Arc::clone(&stores.attempts.clients), AttemptPolicy::CLIENTS))
}

fn resource_server(
    base_url: &str,
    stores: &Stores,
    signing_key: &SigningKey,
) -> Result<ResourceServer, OpenError> {
    let keys = KeySet::new([signing_key.public_key().clone()]).map_err(at("the keys of tokens"))?;
    let issuer = base_url.parse().map_err(at("the issuer"))?;
    let audience = base_url.parse().map_err(at("the audience"))?;
    let url = base_url.parse().map_err(at("the URL of the API"))?;
    let scopes = SCOPES.parse().map_err(at("the scopes"))?;
    let server = ResourceServer::new(issuer, audience, keys)
        .with_dpop(url, Arc::clone(&stores.replays))
        // a revoked token is refused at once, not when it expires
        .with_token_store(Arc::clone(&stores.tokens))
        .with_subject_status(Arc::clone(&stores.locks))
        .with_metadata(scopes);
    // the issuer and the verifier share a clock, and pages state exact lifetimes
    Ok(server.with_leeway(Duration::ZERO))
}

/// Validates opaque tokens by introspection (RFC 7662), in process: the state is always current.
fn introspection(
    base_url: &str,
    server: &AuthorizationServer,
    introspector: &Introspector,
) -> Result<Introspection, OpenError> {
    let endpoint = format!("{base_url}/oauth/introspect");
    let endpoint = endpoint.parse().map_err(at("the introspection"))?;
    let (client, secret) = (introspector.id.clone(), introspector.secret.clone());
    let server = server.clone();
    let ask = transport_fn(move |mut request: Request<Bytes>| {
        // requests in process have no address, so the limit on wrong secrets applies to this client
        // alone
        request
            .extensions_mut()
            .insert(Source::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED)));
        let server = server.clone();
        async move { Ok(server.introspect(request).await.response) }
    });
    Ok(Introspection::new(endpoint, client, secret, ask).with_cache(Duration::ZERO, 0))
}
