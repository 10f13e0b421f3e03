//! Authorization server and token verification of the service.

mod introspector;
mod keys;
mod plan;
mod rotating;

use std::sync::Arc;
use std::time::Duration;

use host_transport_hyper::HyperTransport;
use oauth_core::attempts::AttemptPolicy;
use oauth_core::dpop::NonceKey;
use oauth_core::grant::AccessTokenFormat;
use oauth_core::jose::KeySet;
use oauth_core::ports::OsEntropy;
use oauth_core::server::AuthorizationServerBuilder;
use oauth_core::{AuthorizationServer, ResourceServer, Scopes, Sessions, SigningKeys};
use webhook_core::address::AddressPolicy;

use super::console::refusal;
use super::open::{OpenError, SCOPES, at};
use super::sign_in::SignedInUsers;
use super::traced::Traced;
use crate::clock::DemoClock;
use crate::desk::Desk;
use crate::stores::Stores;

pub(super) use introspector::Introspector;
pub(super) use rotating::RotatingAuthority;

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
pub(super) struct Parts {
    pub(super) base_url: String,
    pub(super) tokens: AccessTokens,
    pub(super) desk: Desk,
    pub(super) clock: DemoClock,
    pub(super) stores: Stores,
    pub(super) sessions: Sessions,
    /// Addresses to which logout tokens may be sent.
    pub(super) addresses: AddressPolicy,
    pub(super) introspector: Introspector,
}

/// Keys of an authority: those that sign, and the public ones whose access tokens are accepted.
struct AuthorityKeys {
    /// Shared by both servers, whose nonces still differ.
    nonces: NonceKey,
    access_tokens: SigningKeys,
    id_tokens: SigningKeys,
    accepted: KeySet,
}

impl Authority {
    fn new(parts: &Parts, keys: AuthorityKeys) -> Result<Self, OpenError> {
        let Parts { base_url, tokens, .. } = parts;
        let resources =
            resource_server(base_url, &parts.stores, keys.accepted)?.with_dpop_nonces(&keys.nonces);
        let server = authorization_server(parts)?
            .with_dpop_nonces(keys.nonces)
            .with_signing_keys(keys.access_tokens)
            .with_id_token_keys(keys.id_tokens);
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
            resources.with_introspection(parts.introspector.introspection(base_url, &server)?)
        } else {
            resources
        };
        Ok(Self { server, resources })
    }
}

fn authorization_server(parts: &Parts) -> Result<AuthorizationServerBuilder, OpenError> {
    let Parts {
        base_url,
        tokens,
        stores,
        ..
    } = parts;
    let scopes: Scopes = SCOPES.parse().map_err(at("the scopes"))?;
    Ok(AuthorizationServer::builder(base_url)
        .with_clients(Arc::clone(&stores.clients))
        .with_interactions(Arc::clone(&stores.interactions))
        .with_tokens(Arc::clone(&stores.tokens))
        .with_consents(Arc::clone(&stores.consents))
        .with_replays(Arc::clone(&stores.replays))
        .with_clock(parts.clock.clone())
        .with_entropy(OsEntropy)
        .with_audience(base_url)
        .with_scopes(scopes.union(&tokens.other_scopes))
        // as the consent page promises
        .with_claims_by_scope()
        .with_error_page(refusal(base_url))
        .with_attempts(Arc::clone(&stores.attempts.clients), AttemptPolicy::CLIENTS)
        .with_session_lookup(SignedInUsers::new(&parts.sessions, &parts.desk))
        .with_subject_status(Arc::clone(&stores.locks))
        .with_backchannel_logout(
            Arc::clone(&stores.sessions),
            Traced(HyperTransport::new(parts.addresses.clone())),
        )
        .with_access_token_format(tokens.format))
}

fn resource_server(base_url: &str, stores: &Stores, keys: KeySet) -> Result<ResourceServer, OpenError> {
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
