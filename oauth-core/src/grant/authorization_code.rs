//! Redeeming an authorization code, [RFC 6749 §4.1.3](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.3) with
//! [RFC 7636 §4.6](https://www.rfc-editor.org/rfc/rfc7636#section-4.6).

use std::time::SystemTime;

use super::{AccessTokenLifetime, TokenPolicy, narrow};
use crate::error::{ErrorCode, Reason};
use crate::pkce::CodeVerifier;
use crate::secret::TokenHash;
use crate::store::{
    AccessTokenRecord, AuthorizationCodeRecord, CodeRedemption, FamilyId, Grant, RefreshTokenRecord,
    RegisteredClient, TokenFamily,
};
use crate::time::later;
use crate::vocabulary::{AccessTokenTerms, Audience, Confirmation, Scopes};

/// What an authenticated client sends with the code.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "callers build it; a new parameter of the grant must not go unnoticed"
)]
pub struct Request<'a> {
    /// Who sends it, authenticated, as it is registered now.
    pub client: &'a RegisteredClient,
    /// `redirect_uri`, which OAuth 2.1 dropped and older clients send.
    pub redirect_uri: Option<&'a str>,
    /// `code_verifier`.
    pub code_verifier: Option<&'a str>,
    /// `resource`, as often as it came, [RFC 8707 §2.2](https://www.rfc-editor.org/rfc/rfc8707#section-2.2): some of what was
    /// granted. The access token is for these alone; for all when there is none.
    pub resources: &'a [Audience],
    /// What the client proves to have, for the tokens to be bound to.
    pub confirmation: Option<Confirmation>,
}

/// Decision on a code that a client presents.
#[derive(Clone, Debug, Eq, PartialEq)]
#[must_use]
#[non_exhaustive]
pub enum RedemptionDecision {
    /// Issue this, in the step that spends the code.
    Redeem(Box<Redemption>),
    /// The code was spent on this family and everything else is in order: somebody else has the code too. Revoke the
    /// family and refuse.
    RevokeFamily(FamilyId),
    /// Refuse, and change nothing.
    Refuse(Refusal),
}

/// Why a code was refused.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// The code was issued to another client.
    ClientMismatch,
    /// The code is too old.
    Expired,
    /// `redirect_uri` is there and is not the one the code was sent to.
    RedirectUriMismatch,
    /// There is no `code_verifier`.
    VerifierMissing,
    /// The verifier is not 43 to 128 unreserved characters.
    VerifierMalformed,
    /// The verifier does not hash to the challenge.
    VerifierMismatch,
    /// The code is bound to a key that the client does not prove to have.
    KeyMismatch,
    /// The tokens of the client are bound to something that it does not prove to have.
    Unconfirmed,
    /// Nothing of the grant is left to the client.
    ScopeExceeded,
    /// A resource was asked for that was not granted.
    ResourceExceeded,
}

impl Refusal {
    /// The reason as events name it.
    #[must_use]
    pub const fn reason(self) -> Reason {
        match self {
            Self::ClientMismatch => Reason::CodeOfAnotherClient,
            Self::Expired => Reason::CodeExpired,
            Self::RedirectUriMismatch => Reason::RedirectUriMismatch,
            Self::VerifierMissing => Reason::CodeVerifierMissing,
            Self::VerifierMalformed => Reason::CodeVerifierMalformed,
            Self::VerifierMismatch => Reason::CodeVerifierMismatch,
            Self::KeyMismatch => Reason::CodeOfAnotherKey,
            Self::Unconfirmed => Reason::SenderUnconfirmed,
            Self::ScopeExceeded => Reason::ScopeExceeded,
            Self::ResourceExceeded => Reason::ResourceExceeded,
        }
    }

    /// What the peer is told: one `invalid_grant` for everything that is wrong with the code.
    #[must_use]
    pub const fn error(self) -> ErrorCode {
        match self {
            Self::ScopeExceeded => ErrorCode::InvalidScope,
            Self::ResourceExceeded => ErrorCode::InvalidTarget,
            _ => ErrorCode::InvalidGrant,
        }
    }
}

/// Decides what presenting a code means.
///
/// A replay counts as one only when the rest of the request is valid: otherwise whoever saw a code could end the
/// sign-in of its owner ([OAuth 2.1 §4.1.3](https://datatracker.ietf.org/doc/html/draft-ietf-oauth-v2-1#section-4.1.3)).
/// A spent code is a replay however old it is.
pub fn redeem(
    record: &AuthorizationCodeRecord,
    request: &Request<'_>,
    policy: &TokenPolicy,
    now: SystemTime,
) -> RedemptionDecision {
    if let Err(refusal) = check(record, request, now) {
        return RedemptionDecision::Refuse(refusal);
    }
    let Some(audience) = narrow(&record.grant.audience, request.resources) else {
        return RedemptionDecision::Refuse(Refusal::ResourceExceeded);
    };
    if let Some(family) = record.redeemed {
        return RedemptionDecision::RevokeFamily(family);
    }
    // the client may have lost some since the user said yes
    let scopes = record.grant.scopes.intersection(&request.client.scopes);
    if scopes.is_empty() {
        return RedemptionDecision::Refuse(Refusal::ScopeExceeded);
    }
    let redemption = Redemption::new(record, request, (scopes, audience), policy, now);
    RedemptionDecision::Redeem(Box::new(redemption))
}

fn check(record: &AuthorizationCodeRecord, request: &Request<'_>, now: SystemTime) -> Result<(), Refusal> {
    if record.grant.client_id != request.client.id {
        return Err(Refusal::ClientMismatch);
    }
    if record.redeemed.is_none() && now >= record.expires_at {
        return Err(Refusal::Expired);
    }
    if request
        .redirect_uri
        .is_some_and(|uri| uri != record.redirect_uri.as_str())
    {
        return Err(Refusal::RedirectUriMismatch);
    }
    let verifier = request.code_verifier.ok_or(Refusal::VerifierMissing)?;
    let verifier: CodeVerifier = verifier.parse().map_err(|_| Refusal::VerifierMalformed)?;
    if !record.code_challenge.matches(&verifier) {
        return Err(Refusal::VerifierMismatch);
    }
    if record
        .dpop_jkt
        .is_some_and(|jkt| request.confirmation != Some(Confirmation::Jkt(jkt)))
    {
        return Err(Refusal::KeyMismatch);
    }
    if !request.client.may_have_bound(request.confirmation) {
        return Err(Refusal::Unconfirmed);
    }
    Ok(())
}

/// The family that a code buys, its first tokens included: everything about them but their random parts.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Redemption {
    /// The code.
    pub code: TokenHash,
    /// What was granted.
    pub grant: Grant,
    /// What must be proven to refresh: what a public client proves now. One that authenticates proves who it is by that.
    pub confirmation: Option<Confirmation>,
    /// The first access token.
    pub access: AccessTokenTerms,
    /// The instant from which the first refresh token was left idle too long.
    pub refresh_expires_at: SystemTime,
    /// The instant from which nothing can be refreshed.
    pub family_expires_at: SystemTime,
    /// The instant from which the family may be forgotten.
    pub retain_until: SystemTime,
}

impl Redemption {
    fn new(
        record: &AuthorizationCodeRecord,
        request: &Request<'_>,
        (scopes, audience): (Scopes, Vec<Audience>),
        policy: &TokenPolicy,
        now: SystemTime,
    ) -> Self {
        let grant = record.grant.clone();
        let family_expires_at = later(now, policy.refresh_token.absolute());
        let left_idle_at = later(now, policy.refresh_token.idle()).min(family_expires_at);
        let Request {
            client, confirmation, ..
        } = *request;
        Self {
            code: record.hash,
            confirmation: confirmation.filter(|_| !client.is_confidential()),
            access: AccessTokenTerms {
                client_id: grant.client_id.clone(),
                subject: grant.subject.clone(),
                scopes,
                audience,
                confirmation,
                issued_at: now,
                expires_at: later(now, policy.access_token.as_duration()),
            },
            grant,
            // nobody notes that a token which is kept was used
            refresh_expires_at: if client.rotates_refresh_tokens() {
                left_idle_at
            } else {
                family_expires_at
            },
            family_expires_at,
            // the policy may be changed while the family lives; no access token of any policy outlives this
            retain_until: later(family_expires_at, AccessTokenLifetime::MAX),
        }
    }

    /// What to store: the plan with the tokens that were made for it. `refresh` is `None` for a client that may not
    /// refresh.
    #[must_use]
    pub fn commit(
        self,
        family: FamilyId,
        access: AccessTokenRecord,
        refresh: Option<TokenHash>,
    ) -> CodeRedemption {
        let issued_at = self.access.issued_at;
        CodeRedemption {
            code: self.code,
            refresh: refresh.map(|hash| RefreshTokenRecord {
                hash,
                family,
                generation: 0,
                issued_at,
                expires_at: self.refresh_expires_at,
                rotated: None,
            }),
            family: TokenFamily {
                id: family,
                grant: self.grant,
                confirmation: self.confirmation,
                created_at: issued_at,
                expires_at: self.family_expires_at,
                retain_until: self.retain_until,
                revoked: None,
            },
            access,
        }
    }
}
