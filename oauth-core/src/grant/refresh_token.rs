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

/// Token request of an authenticated client with a refresh token.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "callers build it; a new parameter of the grant must not go unnoticed"
)]
pub struct Request<'a> {
    /// Authenticated client, with its current registration.
    pub client: &'a RegisteredClient,
    /// `scope`: a subset of the granted scopes.
    pub scopes: Option<&'a Scopes>,
    /// All values of `resource`, [RFC 8707
    /// §2.2](https://www.rfc-editor.org/rfc/rfc8707#section-2.2): a subset of the grant's audience.
    /// When empty, the access token is for the whole audience.
    pub resources: &'a [Audience],
    /// Key or certificate that the client proved, to which the access token is bound.
    pub confirmation: Option<Confirmation>,
}

/// Decision on a presented refresh token.
#[derive(Clone, Debug, Eq, PartialEq)]
#[must_use]
#[non_exhaustive]
pub enum RotationDecision {
    /// Issue these tokens. Store them in the step that marks the presented token as rotated (a
    /// tombstone).
    Rotate(Box<RotationPlan>),
    /// Issue this access token. The client keeps its refresh token.
    Keep(Box<AccessTokenTerms>),
    /// The request is a retry: the token was rotated within the window by a request with the same
    /// binding, scopes and resources, the new refresh token was not rotated, and the new access
    /// token was not revoked. Derive the same tokens again and return them. Store nothing.
    Retry(Box<RetryPlan>),
    /// The token was rotated before (reuse): two parties have it. Revoke the family and refuse.
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
    /// The family is bound to a key that the client did not prove.
    KeyMismatch,
    /// The client must use bound tokens and proved no binding.
    Unconfirmed,
    /// The family was revoked.
    FamilyRevoked,
    /// The token or its family has expired.
    Expired,
    /// A requested scope exceeds the grant, or the client is no longer registered for any granted
    /// scope.
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
/// - The client and its key come first, so that neither another client nor a thief without the key
///   can learn or change anything.
/// - Reuse comes before expiry, so that a tombstone detects reuse as long as the store keeps it.
/// - A retry is not reuse. After the expiry of the family a retry is refused as expired.
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
            // a retry is no theft, but an expired family issues nothing
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

/// Plan of a retry: within the window, for the same binding, scopes and resources, and while the
/// issued tokens are unused.
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

/// Scopes of the new access token: those of the grant that the client may still have, or the
/// requested subset.
fn scopes(state: &RefreshTokenState, request: &Request<'_>) -> Option<Scopes> {
    let allowed = state.family.grant.scopes.intersection(&request.client.scopes);
    let scopes = match request.scopes {
        None => allowed,
        Some(wanted) if wanted.is_subset(&allowed) => wanted.clone(),
        Some(_) => return None,
    };
    (!scopes.is_empty()).then_some(scopes)
}

/// Plan of a rotation: the successor and its access token, without their random parts.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct RotationPlan {
    /// Hash of the presented token.
    pub presented: TokenHash,
    /// Family of the token.
    pub family: FamilyId,
    /// Position of the successor in the chain.
    pub generation: u32,
    /// Terms of the access token.
    pub access: AccessTokenTerms,
    /// Idle expiry of the successor, at most the expiry of the family.
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

    /// Completes the plan with the generated tokens, for the store.
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
/// It has no ID token. A caller that returns an ID token signs it again, with the `iat` and `exp`
/// of the access token.
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
    /// nothing: the pepper or the token format has changed or, for a JWT, the signing key or the
    /// issuer, or the algorithm is not deterministic.
    ///
    /// The ID token is not compared, because the store has no hash of it. With a JWT access token,
    /// the match proves that the signing key is the same. With an opaque access token, the ID token
    /// of a retry is valid, but equals the first one only if signing key and claims did not change.
    #[must_use]
    pub fn matches(&self, refresh: &TokenHash, access: &TokenHash) -> bool {
        self.successor.refresh.hash.matches(refresh) & self.successor.access.hash.matches(access)
    }
}
