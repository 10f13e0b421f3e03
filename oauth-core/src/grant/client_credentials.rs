//! Client credentials grant, [RFC 6749 §4.4](https://www.rfc-editor.org/rfc/rfc6749#section-4.4).

use std::time::SystemTime;

use super::{TokenPolicy, narrow};
use crate::error::{ErrorCode, Reason};
use crate::store::{GrantType, RegisteredClient};
use crate::time::later;
use crate::vocabulary::{AccessTokenTerms, Audience, Confirmation, OPENID, Scopes};

/// Token request of an authenticated client for itself.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "callers build it; a new parameter of the grant must not go unnoticed"
)]
pub struct Request<'a> {
    /// Authenticated client.
    pub client: &'a RegisteredClient,
    /// `scope`; all scopes of the client when absent.
    pub scopes: Option<&'a Scopes>,
    /// Resource servers of the authorization server.
    pub audience: &'a [Audience],
    /// All values of `resource`: a subset of `audience`. When empty, the token is for the whole
    /// audience.
    pub resources: &'a [Audience],
    /// Key or certificate that the client proved, to which the token is bound.
    pub confirmation: Option<Confirmation>,
}

/// Reason to refuse the grant.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// The client is public, or not registered for this grant.
    NotAllowed,
    /// A requested scope exceeds those of the client, or none is left.
    ScopeExceeded,
    /// A requested resource is not part of the audience.
    ResourceExceeded,
    /// The client must use bound tokens and proved no binding.
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

/// Decides on the grant and returns the terms of the access token. Its subject is the client, and
/// there is no refresh token.
///
/// The scope `openid` is never granted, because there is no user.
///
/// # Errors
///
/// [`Refusal`] when the client may not have the token.
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
