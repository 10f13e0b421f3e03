//! Refresh token grant with rotation and reuse detection, [RFC 6749
//! §6](https://www.rfc-editor.org/rfc/rfc6749#section-6) and [RFC 9700
//! §4.14.2](https://www.rfc-editor.org/rfc/rfc9700#section-4.14.2).

use std::time::SystemTime;

use super::{TokenPolicy, narrow};
use crate::error::{ErrorCode, Reason};
use crate::secret::TokenHash;
use crate::store::{
    self, AccessTokenRecord, FamilyId, RefreshTokenRecord, RefreshTokenState, RegisteredClient, Rotated,
    RotationSalt, Successor,
};
use crate::time::later;
use crate::vocabulary::{AccessTokenTerms, Audience, Confirmation, Scopes};

/// Token request with a refresh token, from an authenticated client.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "callers build it; a new parameter of the grant must not go unnoticed"
)]
pub struct Request<'a> {
    /// Authenticated client, with its current registration.
    pub client: &'a RegisteredClient,
    /// Parameter `scope`. It must be a subset of the granted scopes for which the client is still
    /// registered. When absent, the access token has all of these.
    pub scopes: Option<&'a Scopes>,
    /// All values of the parameter `resource`, [RFC 8707
    /// §2.2](https://www.rfc-editor.org/rfc/rfc8707#section-2.2). They must be a subset of the
    /// grant's audience. When empty, the access token is for the whole audience.
    pub resources: &'a [Audience],
    /// DPoP key or client certificate that the client proved. The access token is bound to it.
    /// `None`: the access token is a bearer token.
    pub confirmation: Option<Confirmation>,
}

/// Decision on a presented refresh token.
#[derive(Clone, Debug, Eq, PartialEq)]
#[must_use]
#[non_exhaustive]
pub enum RotationDecision {
    /// Issue tokens by this plan. Store them in the same step that marks the presented token as
    /// rotated. The rotated token stays in the store as a tombstone, to detect reuse.
    Rotate(Box<RotationPlan>),
    /// Issue an access token with these terms. The client keeps its refresh token.
    Keep(Box<AccessTokenTerms>),
    /// The request is a retry. Derive the same tokens again and return them; store nothing.
    ///
    /// A request is a retry if the token was rotated within the [`RetryWindow`](super::RetryWindow)
    /// by a request with the same binding, scopes and resources, the new refresh token was not
    /// rotated, and the new access token was not revoked.
    Retry(Box<RetryPlan>),
    /// The token was rotated before, and the request is no retry (reuse): two parties have the
    /// token. Revoke the family and refuse.
    RevokeFamily(FamilyId),
    /// Refuse. Change nothing.
    Refuse(Refusal),
}

/// Reason to refuse a refresh.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// The token was issued to another client.
    ClientMismatch,
    /// The family is bound to a key or certificate that the client did not prove.
    KeyMismatch,
    /// The client requires sender-constrained tokens and proved no key or certificate of the
    /// required kind.
    Unconfirmed,
    /// The family was revoked.
    FamilyRevoked,
    /// The token or its family has expired.
    Expired,
    /// A requested scope was not granted, or the client is no longer registered for it or for any
    /// granted scope.
    ScopeExceeded,
    /// A requested resource is not part of the grant.
    ResourceExceeded,
}

impl Refusal {
    /// Returns the reason for events.
    #[must_use]
    pub const fn reason(self) -> Reason {
        match self {
            Self::ClientMismatch => Reason::RefreshTokenOfAnotherClient,
            Self::KeyMismatch => Reason::RefreshTokenOfAnotherKey,
            Self::Unconfirmed => Reason::SenderUnconfirmed,
            Self::FamilyRevoked => Reason::TokenFamilyRevoked,
            Self::Expired => Reason::RefreshTokenExpired,
            Self::ScopeExceeded => Reason::ScopeExceeded,
            Self::ResourceExceeded => Reason::ResourceExceeded,
        }
    }

    /// Returns the error for the client: `invalid_grant` for all faults of the token.
    #[must_use]
    pub const fn error(self) -> ErrorCode {
        match self {
            Self::ClientMismatch
            | Self::KeyMismatch
            | Self::Unconfirmed
            | Self::FamilyRevoked
            | Self::Expired => ErrorCode::InvalidGrant,
            Self::ScopeExceeded => ErrorCode::InvalidScope,
            Self::ResourceExceeded => ErrorCode::InvalidTarget,
        }
    }
}

/// Decides on a presented refresh token.
///
/// Order of the checks:
///
/// - Client and key are checked first, so that neither another client nor a thief without the key
///   can learn or change anything.
/// - Reuse is checked before expiry, so that a tombstone detects reuse as long as the store keeps
///   it.
/// - A retry is not reuse. After the family has expired, a retry is refused as expired.
pub fn rotate(
    state: &RefreshTokenState,
    request: &Request<'_>,
    policy: &TokenPolicy,
    now: SystemTime,
) -> RotationDecision {
    if state.family.grant.client_id != request.client.id {
        return RotationDecision::Refuse(Refusal::ClientMismatch);
    }
    if state.family.confirmation.is_some() && state.family.confirmation != request.confirmation {
        return RotationDecision::Refuse(Refusal::KeyMismatch);
    }
    if !request.client.may_have_bound(request.confirmation) {
        return RotationDecision::Refuse(Refusal::Unconfirmed);
    }
    if state.family.revoked.is_some() {
        return RotationDecision::Refuse(Refusal::FamilyRevoked);
    }
    if let Some(rotated) = &state.token.rotated {
        return match retry(state, rotated, request, policy, now) {
            // a retry is not reuse, but an expired family issues nothing
            Some(_) if now >= state.family.expires_at => RotationDecision::Refuse(Refusal::Expired),
            Some(plan) => RotationDecision::Retry(Box::new(plan)),
            None => RotationDecision::RevokeFamily(state.family.id),
        };
    }
    if state.is_expired(now) {
        return RotationDecision::Refuse(Refusal::Expired);
    }
    let Some(scopes) = scopes(state, request) else {
        return RotationDecision::Refuse(Refusal::ScopeExceeded);
    };
    let Some(audience) = narrow(&state.family.grant.audience, request.resources) else {
        return RotationDecision::Refuse(Refusal::ResourceExceeded);
    };
    let grant = &state.family.grant;
    let access = AccessTokenTerms {
        client_id: grant.client_id.clone(),
        subject: grant.subject.clone(),
        scopes,
        audience,
        confirmation: request.confirmation,
        issued_at: now,
        expires_at: later(now, policy.access_token.as_duration()),
    };
    if !request.client.rotates_refresh_tokens() {
        return RotationDecision::Keep(Box::new(access));
    }
    RotationDecision::Rotate(Box::new(RotationPlan::new(state, access, policy)))
}

/// Returns the plan if the request is a retry: within the window, with the same binding, scopes and
/// resources, while the new refresh token is not rotated and the new access token is not revoked.
fn retry(
    state: &RefreshTokenState,
    rotated: &Rotated,
    request: &Request<'_>,
    policy: &TokenPolicy,
    now: SystemTime,
) -> Option<RetryPlan> {
    let (salt, successor) = (rotated.salt?, state.successor.as_ref()?);
    let is_unused = successor.refresh.rotated.is_none() && successor.access.revoked_at.is_none();
    let is_same = request.confirmation == successor.access.terms.confirmation
        && scopes(state, request)? == successor.access.terms.scopes
        && narrow(&state.family.grant.audience, request.resources)? == successor.access.terms.audience;
    (policy.retry_window.covers(rotated.at, now) && is_unused && is_same).then(|| RetryPlan {
        presented: state.token.hash,
        salt,
        successor: successor.clone(),
    })
}

/// Returns the scopes of the new access token: the granted scopes for which the client is still
/// registered, or the requested subset. `None` if a requested scope is not among these or no scope
/// is left.
fn scopes(state: &RefreshTokenState, request: &Request<'_>) -> Option<Scopes> {
    let allowed = state.family.grant.scopes.intersection(&request.client.scopes);
    let scopes = match request.scopes {
        None => allowed,
        Some(wanted) if wanted.is_subset(&allowed) => wanted.clone(),
        Some(_) => return None,
    };
    (!scopes.is_empty()).then_some(scopes)
}

/// Plan of a rotation: the terms of the new access token and of the new refresh token (the
/// successor). [`commit`](Self::commit) adds the generated tokens.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct RotationPlan {
    /// Hash of the presented token.
    pub presented: TokenHash,
    /// Family of the token.
    pub family: FamilyId,
    /// Number of rotations from the first refresh token of the family to the successor.
    pub generation: u32,
    /// Terms of the access token.
    pub access: AccessTokenTerms,
    /// Expiry of the successor: after the idle timeout, but not later than the family.
    pub expires_at: SystemTime,
}

impl RotationPlan {
    fn new(state: &RefreshTokenState, access: AccessTokenTerms, policy: &TokenPolicy) -> Self {
        let left_idle_at = later(access.issued_at, policy.refresh_token.idle());
        Self {
            presented: state.token.hash,
            family: state.family.id,
            generation: state.token.generation.saturating_add(1),
            access,
            expires_at: left_idle_at.min(state.family.expires_at),
        }
    }

    /// Completes the plan with the generated tokens and returns the records to store.
    #[must_use]
    pub fn commit(self, access: AccessTokenRecord, successor: TokenHash) -> store::Rotation {
        store::Rotation {
            presented: self.presented,
            successor: RefreshTokenRecord {
                hash: successor,
                family: self.family,
                generation: self.generation,
                issued_at: self.access.issued_at,
                expires_at: self.expires_at,
                rotated: None,
            },
            access,
            salt: None,
        }
    }
}

/// Plan of a retry: the caller derives the refresh token and the access token of the rotation and
/// returns them again.
///
/// The plan has no ID token. A caller that returns an ID token signs a new one, with the `iat` and
/// `exp` of the access token.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct RetryPlan {
    /// Hash of the presented token.
    pub presented: TokenHash,
    /// Salt from which the tokens were derived.
    pub salt: RotationSalt,
    /// Records of the issued tokens.
    pub successor: Successor,
}

impl RetryPlan {
    /// Returns `true` if these hashes are those of the issued tokens. If `false`, refuse and change
    /// nothing.
    ///
    /// The hashes differ if the pepper or the token format has changed. For a JWT they also differ
    /// if the signing key or the issuer has changed, or if the signature algorithm is not
    /// deterministic.
    ///
    /// The ID token is not compared, because the store has no hash of it. With a JWT access token,
    /// equal hashes prove that the signing key is the same. With an opaque access token, the ID
    /// token of a retry is valid, but equals the first ID token only if signing key and claims did
    /// not change.
    #[must_use]
    pub fn matches(&self, refresh: &TokenHash, access: &TokenHash) -> bool {
        self.successor.refresh.hash.matches(refresh) & self.successor.access.hash.matches(access)
    }
}
