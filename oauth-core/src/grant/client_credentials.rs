//! Client credentials grant, [RFC 6749 §4.4](https://www.rfc-editor.org/rfc/rfc6749#section-4.4).

use std::time::SystemTime;

use super::{TokenPolicy, narrow};
use crate::error::{ErrorCode, Reason};
use crate::store::{GrantType, RegisteredClient};
use crate::time::later;
use crate::vocabulary::{AccessTokenTerms, Audience, Confirmation, OPENID, Scopes};

/// Token request by client credentials, from an authenticated client.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "callers build it; a new parameter of the grant must not go unnoticed"
)]
pub struct Request<'a> {
    /// Authenticated client.
    pub client: &'a RegisteredClient,
    /// Parameter `scope`. When absent, the client gets all its registered scopes except `openid`.
    pub scopes: Option<&'a Scopes>,
    /// All resource servers for which the authorization server issues tokens.
    pub audience: &'a [Audience],
    /// All values of the parameter `resource`. They must be a subset of `audience`. When empty, the
    /// token is for the whole `audience`.
    pub resources: &'a [Audience],
    /// DPoP key or client certificate that the client proved. The token is bound to it. `None`: the
    /// token is a bearer token.
    pub confirmation: Option<Confirmation>,
}

/// Reason to refuse the grant.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// The client is public, is not registered for this grant, or has an identifier of more than
    /// 255 characters, which cannot be a `sub`.
    NotAllowed,
    /// The client is not registered for a requested scope, or for no scope except `openid`.
    ScopeExceeded,
    /// A requested resource is not part of the audience.
    ResourceExceeded,
    /// The client requires sender-constrained tokens and proved no key or certificate of the
    /// required kind.
    Unconfirmed,
}

impl Refusal {
    /// Returns the reason for events.
    #[must_use]
    pub const fn reason(self) -> Reason {
        match self {
            Self::NotAllowed => Reason::GrantTypeNotAllowed,
            Self::ScopeExceeded => Reason::ScopeExceeded,
            Self::ResourceExceeded => Reason::ResourceExceeded,
            Self::Unconfirmed => Reason::SenderUnconfirmed,
        }
    }

    /// Returns the error for the client.
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

/// Decides on the request and returns the terms of the access token. The subject of the token is
/// the client. There is no refresh token.
///
/// The scope `openid` is never granted, because there is no user.
///
/// # Errors
///
/// [`Refusal`] when the client may not have the token. The caller issues nothing.
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
    let scopes = match request.scopes {
        None => client.scopes.without(OPENID),
        Some(wanted) if wanted.is_subset(&client.scopes) && !wanted.contains_str(OPENID) => wanted.clone(),
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
