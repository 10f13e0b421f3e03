//! Refreshing with rotation and reuse detection, [RFC 6749 §6](https://www.rfc-editor.org/rfc/rfc6749#section-6) and
//! [RFC 9700 §4.14.2](https://www.rfc-editor.org/rfc/rfc9700#section-4.14.2).

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

/// What an authenticated client sends with the refresh token.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "callers build it; a new parameter of the grant must not go unnoticed"
)]
pub struct Request<'a> {
    /// Who sends it, authenticated, as it is registered now.
    pub client: &'a RegisteredClient,
    /// `scope`: less than was granted.
    pub scopes: Option<&'a Scopes>,
    /// `resource`, as often as it came, [RFC 8707 §2.2](https://www.rfc-editor.org/rfc/rfc8707#section-2.2): some of what was
    /// granted. The access token is for these alone; for all when there is none.
    pub resources: &'a [Audience],
    /// What the client proves to have, for the access token to be bound to.
    pub confirmation: Option<Confirmation>,
}

/// Decision on a refresh token that a client presents.
#[derive(Clone, Debug, Eq, PartialEq)]
#[must_use]
#[non_exhaustive]
pub enum RotationDecision {
    /// Issue this, in the step that turns the presented token into a tombstone.
    Rotate(Box<RotationPlan>),
    /// Issue this access token; the client keeps the refresh token.
    Keep(Box<AccessTokenTerms>),
    /// The token was rotated a moment ago, this is the same request, and neither token that was issued was rotated or revoked since:
    /// the answer may have been lost. Make the same two tokens again and give them once more; nothing is stored.
    Retry(Box<RetryPlan>),
    /// The token was rotated before: one of the two who have it is a thief. Revoke the family and refuse.
    RevokeFamily(FamilyId),
    /// Refuse, and change nothing.
    Refuse(Refusal),
}

/// Why a refresh was refused.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// The token was issued to another client.
    ClientMismatch,
    /// The chain is bound to a key that the client does not prove to have.
    KeyMismatch,
    /// The tokens of the client are bound to something that it does not prove to have.
    Unconfirmed,
    /// The family was revoked.
    FamilyRevoked,
    /// The token was left idle too long, or the family is too old.
    Expired,
    /// More was asked for than was granted, or nothing of the grant is left to the client.
    ScopeExceeded,
    /// A resource was asked for that was not granted.
    ResourceExceeded,
}

impl Refusal {
    /// The reason as events name it.
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

    /// What the peer is told: one `invalid_grant` for everything that is wrong with the token.
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

/// Decides what presenting a refresh token means.
///
/// Whose token it is comes first, so that neither another client nor a thief without the key can learn or change anything; reuse comes before
/// expiry, so that a tombstone betrays a theft for as long as it is kept. A retry is no reuse, and is refused as expired from the
/// end of the family on.
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
            // the client is no thief, and yet nothing of an old family is given out
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

/// What a tombstone's request is answered with, when it is the request of the rotation once more: within the window, for the same
/// scopes and resources, and while nobody has shown to have the tokens that were issued.
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

/// What the new access token allows: of the original grant what the client may still have, or the part asked for.
fn scopes(state: &RefreshTokenState, request: &Request<'_>) -> Option<Scopes> {
    let allowed = state.family.grant.scopes.intersection(&request.client.scopes);
    let scopes = match request.scopes {
        None => allowed,
        Some(wanted) if wanted.is_subset(&allowed) => wanted.clone(),
        Some(_) => return None,
    };
    (!scopes.is_empty()).then_some(scopes)
}

/// The next link of the chain and the access token issued with it: everything about them but their random parts.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct RotationPlan {
    /// The token that was presented.
    pub presented: TokenHash,
    /// The chain.
    pub family: FamilyId,
    /// The place of the successor in the chain.
    pub generation: u32,
    /// The access token.
    pub access: AccessTokenTerms,
    /// The instant from which the successor was left idle too long: never after the end of the family.
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

    /// What to store: the plan with the tokens that were made for it.
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

/// What a rotation issued, to be made and given once more: the refresh token and the access token.
///
/// An ID token is none of it. Whoever gives one beside them makes it anew, for the `iat` and `exp` of the access token.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct RetryPlan {
    /// The token that was presented.
    pub presented: TokenHash,
    /// What the tokens were derived with.
    pub salt: RotationSalt,
    /// What was issued.
    pub successor: Successor,
}

impl RetryPlan {
    /// Whether these two are the tokens that were issued. Where they are not, something that they are made with is another one by now:
    /// the pepper or the format of access tokens, and for a JWT the signing key, the issuer or an algorithm that signs differently
    /// each time. Refuse, and change nothing.
    ///
    /// An ID token is not asked for, as nothing of it is stored. An access token that is a JWT speaks for the key of both; beside an
    /// opaque one nothing does, so that the ID token of a retry is then signed by whatever key is active now: as valid as the first, and
    /// equal to it only while the key and the claims that are told are the same.
    #[must_use]
    pub fn is_answered_by(&self, refresh: &TokenHash, access: &TokenHash) -> bool {
        self.successor.refresh.hash.matches(refresh) & self.successor.access.hash.matches(access)
    }
}
