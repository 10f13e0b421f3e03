//! A client on its own behalf, [RFC 6749 §4.4](https://www.rfc-editor.org/rfc/rfc6749#section-4.4).

use std::time::SystemTime;

use super::{TokenPolicy, narrow};
use crate::error::{ErrorCode, Reason};
use crate::store::{GrantType, RegisteredClient};
use crate::time::later;
use crate::vocabulary::{AccessTokenTerms, Audience, Confirmation, OPENID, Scopes};

/// What an authenticated client asks for itself.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "callers build it; a new parameter of the grant must not go unnoticed"
)]
pub struct Request<'a> {
    /// Who asks, authenticated.
    pub client: &'a RegisteredClient,
    /// `scope`; everything the client may have when absent.
    pub scopes: Option<&'a Scopes>,
    /// The resource servers that tokens are issued for.
    pub audience: &'a [Audience],
    /// `resource`, as often as it came: some of these. The token is for them alone; for all when there is none.
    pub resources: &'a [Audience],
    /// What the client proves to have, for the token to be bound to.
    pub confirmation: Option<Confirmation>,
}

/// Why the grant was refused.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// The client is public, or not registered for this grant.
    NotAllowed,
    /// More was asked for than the client may have, or it may have nothing.
    ScopeExceeded,
    /// A resource was asked for that no token is issued for.
    ResourceExceeded,
    /// The tokens of the client are bound to something that it does not prove to have.
    Unconfirmed,
}

impl Refusal {
    /// The reason as events name it.
    #[must_use]
    pub const fn reason(self) -> Reason {
        match self {
            Self::NotAllowed => Reason::GrantTypeNotAllowed,
            Self::ScopeExceeded => Reason::ScopeExceeded,
            Self::ResourceExceeded => Reason::ResourceExceeded,
            Self::Unconfirmed => Reason::SenderUnconfirmed,
        }
    }

    /// What the peer is told.
    #[must_use]
    pub const fn error(self) -> ErrorCode {
        match self {
            Self::NotAllowed => ErrorCode::UnauthorizedClient,
            Self::ScopeExceeded => ErrorCode::InvalidScope,
            Self::ResourceExceeded => ErrorCode::InvalidTarget,
            Self::Unconfirmed => ErrorCode::InvalidGrant,
        }
    }
}

/// The access token to issue: its subject is the client, and nothing refreshes it.
///
/// `openid` is never granted: there is no user for an ID token to speak of.
///
/// # Errors
///
/// [`Refusal`] when the client may not have it.
pub fn issue(
    request: &Request<'_>,
    policy: &TokenPolicy,
    now: SystemTime,
) -> Result<AccessTokenTerms, Refusal> {
    let client = request.client;
    if !client.is_confidential() || !client.may_use(GrantType::ClientCredentials) {
        return Err(Refusal::NotAllowed);
    }
    if !client.may_have_bound(request.confirmation) {
        return Err(Refusal::Unconfirmed);
    }
    let subject = client.id.as_str().parse().map_err(|_| Refusal::NotAllowed)?;
    let allowed: Scopes = client
        .scopes
        .iter()
        .filter(|scope| scope.as_str() != OPENID)
        .cloned()
        .collect();
    let scopes = match request.scopes {
        None => allowed,
        Some(wanted) if wanted.is_subset(&allowed) => wanted.clone(),
        Some(_) => return Err(Refusal::ScopeExceeded),
    };
    if scopes.is_empty() {
        return Err(Refusal::ScopeExceeded);
    }
    let audience = narrow(request.audience, request.resources).ok_or(Refusal::ResourceExceeded)?;
    Ok(AccessTokenTerms {
        client_id: client.id.clone(),
        subject,
        scopes,
        audience,
        confirmation: request.confirmation,
        issued_at: now,
        expires_at: later(now, policy.access_token.as_duration()),
    })
}
