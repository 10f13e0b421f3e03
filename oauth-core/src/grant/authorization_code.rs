//! Authorization code grant: redemption of a code, [RFC 6749
//! §4.1.3](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.3) with [RFC 7636
//! §4.6](https://www.rfc-editor.org/rfc/rfc7636#section-4.6).

use std::time::SystemTime;

use super::{AccessTokenLifetime, TokenPolicy, narrow};
use crate::error::{ErrorCode, Reason};
use crate::pkce::CodeVerifier;
use crate::secret::TokenHash;
use crate::session_timeouts::SessionTimeouts;
use crate::store::{
    AccessTokenRecord, AuthorizationCodeRecord, CodeRedemption, FamilyId, Grant, RefreshTokenRecord,
    RegisteredClient, TokenFamily,
};
use crate::time::later;
use crate::vocabulary::{AccessTokenTerms, Audience, Confirmation, Scopes};

/// Token request with an authorization code, from an authenticated client.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "callers build it; a new parameter of the grant must not go unnoticed"
)]
pub struct Request<'a> {
    /// Authenticated client, with its current registration.
    pub client: &'a RegisteredClient,
    /// Parameter `redirect_uri`. OAuth 2.1 removed it; clients of OAuth 2.0 send it.
    pub redirect_uri: Option<&'a str>,
    /// Parameter `code_verifier`, [RFC 7636
    /// §4.5](https://www.rfc-editor.org/rfc/rfc7636#section-4.5).
    pub code_verifier: Option<&'a str>,
    /// All values of the parameter `resource`, [RFC 8707
    /// §2.2](https://www.rfc-editor.org/rfc/rfc8707#section-2.2). They must be a subset of the
    /// grant's audience. When empty, the access token is for the whole audience.
    pub resources: &'a [Audience],
    /// DPoP key or client certificate that the client proved. The tokens are bound to it. `None`:
    /// the tokens are bearer tokens.
    pub confirmation: Option<Confirmation>,
}

/// Decision on a presented code.
#[derive(Clone, Debug, Eq, PartialEq)]
#[must_use]
#[non_exhaustive]
pub enum RedemptionDecision {
    /// Issue tokens by this plan. Store them in the same step that redeems the code.
    Redeem(Box<Redemption>),
    /// The request is valid, but the code was redeemed before: two parties have the code. Revoke
    /// this token family, which the first redemption created, and refuse.
    RevokeFamily(FamilyId),
    /// Refuse. Change nothing.
    Refuse(Refusal),
}

/// Reason to refuse a code.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// The code was issued to another client.
    ClientMismatch,
    /// The code has expired.
    Expired,
    /// `redirect_uri` is present and differs from that of the authorization request.
    RedirectUriMismatch,
    /// `code_verifier` is missing.
    VerifierMissing,
    /// The verifier is not 43 to 128 unreserved characters.
    VerifierMalformed,
    /// The verifier does not match the challenge.
    VerifierMismatch,
    /// The code is bound to a DPoP key that the client did not prove.
    KeyMismatch,
    /// The client requires sender-constrained tokens and proved no key or certificate of the
    /// required kind.
    Unconfirmed,
    /// The client is no longer registered for any granted scope.
    ScopeExceeded,
    /// A requested resource is not part of the grant.
    ResourceExceeded,
}

impl Refusal {
    /// Returns the reason for events.
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

    /// Returns the error for the client: `invalid_grant` for all faults of the code.
    #[must_use]
    pub const fn error(self) -> ErrorCode {
        match self {
            Self::ScopeExceeded => ErrorCode::InvalidScope,
            Self::ResourceExceeded => ErrorCode::InvalidTarget,
            _ => ErrorCode::InvalidGrant,
        }
    }
}

/// Decides on a presented code.
///
/// A replay revokes the token family only if the rest of the request is valid. If any replay did,
/// an attacker who has only the code could revoke the user's tokens ([OAuth 2.1
/// §4.1.3](https://datatracker.ietf.org/doc/html/draft-ietf-oauth-v2-1#section-4.1.3)). The second
/// use of a code is a replay even after the code has expired.
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
    // the client may have lost scopes since the user's consent
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

/// Plan of a redemption: the token family and the terms of its first tokens.
/// [`commit`](Self::commit) adds the generated tokens.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Redemption {
    /// Hash of the code.
    pub code: TokenHash,
    /// Authorization by the user, which the family contains.
    pub grant: Grant,
    /// Key or certificate that a public client must prove at each refresh. `None` for confidential
    /// clients, which authenticate instead.
    pub confirmation: Option<Confirmation>,
    /// Terms of the first access token.
    pub access: AccessTokenTerms,
    /// Expiry of the first refresh token: after the idle timeout. If the client's refresh tokens
    /// are not rotated, it is the expiry of the family.
    pub refresh_expires_at: SystemTime,
    /// Absolute expiry of the family.
    pub family_expires_at: SystemTime,
    /// Instant from which the family may be deleted.
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
            // without rotation, uses are not recorded, so there is no idle timeout
            refresh_expires_at: if client.rotates_refresh_tokens() {
                left_idle_at
            } else {
                family_expires_at
            },
            family_expires_at,
            // the policy may change; this maximum covers access tokens of any policy. The family is
            // kept as long as its session, whose end queues the logout of the client
            retain_until: later(family_expires_at, AccessTokenLifetime::MAX)
                .max(later(now, SessionTimeouts::MAX_ABSOLUTE)),
        }
    }

    /// Completes the plan with the generated tokens and returns the records to store. `refresh` is
    /// `None` for a client that may not refresh.
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
