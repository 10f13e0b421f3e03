use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::{FamilyId, Grant, Rotated, Successor};
use crate::secret::TokenHash;
use crate::vocabulary::{AccessTokenTerms, Confirmation};

/// Everything that one authorization led to: a chain of refresh tokens, of which at most one is live, and the access
/// tokens issued along it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct TokenFamily {
    /// Its name.
    pub id: FamilyId,
    /// What was granted.
    pub grant: Grant,
    /// What a public client must prove to refresh: that it has the key it redeemed the code with.
    pub confirmation: Option<Confirmation>,
    /// When the code was redeemed.
    pub created_at: SystemTime,
    /// The instant from which nothing can be refreshed, however busy the chain was.
    pub expires_at: SystemTime,
    /// The instant from which the family and its tombstones may be forgotten: no token of it can be alive.
    pub retain_until: SystemTime,
    /// Whether, when and why it ended early. The only field that changes.
    pub revoked: Option<FamilyRevocation>,
}

/// The end of a family before its time.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct FamilyRevocation {
    /// Why.
    pub reason: RevocationReason,
    /// When.
    pub at: SystemTime,
}

impl FamilyRevocation {
    /// A revocation for `reason` at `at`.
    #[must_use]
    pub const fn new(reason: RevocationReason, at: SystemTime) -> Self {
        Self { reason, at }
    }
}

/// Why a family or a session was revoked.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RevocationReason {
    /// Its code was redeemed a second time.
    CodeReplayed,
    /// A refresh token was used after it had been rotated.
    RefreshTokenReused,
    /// The client asked for it.
    Requested,
    /// The user ended the session.
    SignedOut,
    /// The user ended every session.
    SignedOutEverywhere,
    /// The user changed their password.
    PasswordChanged,
    /// The user has a new password, by a token that was sent to their address.
    PasswordReset,
    /// The host has reason to think that somebody else is the user.
    SuspiciousActivity,
}

impl RevocationReason {
    /// The stable code of the reason.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::CodeReplayed => "code_replayed",
            Self::RefreshTokenReused => "refresh_token_reused",
            Self::Requested => "requested",
            Self::SignedOut => "signed_out",
            Self::SignedOutEverywhere => "signed_out_everywhere",
            Self::PasswordChanged => "password_changed",
            Self::PasswordReset => "password_reset",
            Self::SuspiciousActivity => "suspicious_activity",
        }
    }
}

/// A refresh token: the live leaf of its family, or the tombstone of one that was rotated.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct RefreshTokenRecord {
    /// The hash of the token.
    pub hash: TokenHash,
    /// The chain it is a link of.
    pub family: FamilyId,
    /// Its place in the chain, from 0.
    pub generation: u32,
    /// When it was issued.
    pub issued_at: SystemTime,
    /// The instant from which it was left idle too long.
    pub expires_at: SystemTime,
    /// When and for what it was exchanged. The only field that changes.
    pub rotated: Option<Rotated>,
}

/// An access token.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct AccessTokenRecord {
    /// The hash of the whole token as it is sent.
    pub hash: TokenHash,
    /// Its `jti`.
    pub jti: String,
    /// The family it belongs to; none for client credentials.
    pub family: Option<FamilyId>,
    /// Its terms.
    pub terms: AccessTokenTerms,
    /// When this one token was revoked. The only field that changes.
    pub revoked_at: Option<SystemTime>,
}

impl AccessTokenRecord {
    /// A token that was not revoked.
    #[must_use]
    pub fn new(
        hash: TokenHash,
        jti: impl Into<String>,
        family: Option<FamilyId>,
        terms: AccessTokenTerms,
    ) -> Self {
        Self {
            hash,
            jti: jti.into(),
            family,
            terms,
            revoked_at: None,
        }
    }
}

/// An access token and its family, read in one snapshot.
#[derive(Clone, Debug, Eq, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct AccessTokenState {
    /// The token.
    pub token: AccessTokenRecord,
    /// Its family, when it has one.
    pub family: Option<TokenFamily>,
}

impl AccessTokenState {
    /// The token beside its family.
    #[must_use]
    pub const fn new(token: AccessTokenRecord, family: Option<TokenFamily>) -> Self {
        Self { token, family }
    }

    /// Whether the token opens anything at `now`: not expired, not revoked, and of a family that was not revoked.
    ///
    /// A token that names a family which is not there is dead: whoever removed the family meant to.
    #[must_use]
    pub fn is_active(&self, now: SystemTime) -> bool {
        let family_stands = match (&self.token.family, &self.family) {
            (None, _) => true,
            (Some(_), Some(family)) => family.revoked.is_none(),
            (Some(_), None) => false,
        };
        now < self.token.terms.expires_at && self.token.revoked_at.is_none() && family_stands
    }
}

/// A refresh token, its family and what it was exchanged for, read in one snapshot.
#[derive(Clone, Debug, Eq, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct RefreshTokenState {
    /// The token.
    pub token: RefreshTokenRecord,
    /// Its family.
    pub family: TokenFamily,
    /// What it was exchanged for: none while it is the leaf, and none once one of the two tokens was purged.
    pub successor: Option<Successor>,
}

impl RefreshTokenState {
    /// The token beside its family.
    #[must_use]
    pub const fn new(token: RefreshTokenRecord, family: TokenFamily) -> Self {
        Self {
            token,
            family,
            successor: None,
        }
    }

    /// With what the token was exchanged for.
    #[must_use]
    pub fn with_successor(self, successor: Option<Successor>) -> Self {
        Self { successor, ..self }
    }

    /// Whether the token can be refreshed at `now`.
    #[must_use]
    pub fn is_active(&self, now: SystemTime) -> bool {
        self.token.rotated.is_none() && self.family.revoked.is_none() && !self.is_expired(now)
    }

    /// Whether the token was left idle too long, or its family is too old.
    #[must_use]
    pub fn is_expired(&self, now: SystemTime) -> bool {
        now >= self.token.expires_at || now >= self.family.expires_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// O13, 45: a token whose family is gone is dead: whoever removed the family meant to end it.
    #[test]
    fn a_token_without_its_family_is_dead() {
        let now = SystemTime::UNIX_EPOCH;
        let terms = AccessTokenTerms {
            client_id: "web".parse().unwrap(),
            subject: "ada".parse().unwrap(),
            scopes: crate::vocabulary::Scopes::default(),
            audience: Vec::new(),
            confirmation: None,
            issued_at: now,
            expires_at: now + Duration::from_secs(600),
        };
        let token = |family| AccessTokenRecord::new(TokenHash::of("at"), "1", family, terms.clone());
        assert!(AccessTokenState::new(token(None), None).is_active(now));
        let orphan = token(Some(FamilyId::from_bytes([7; 16])));
        assert!(!AccessTokenState::new(orphan, None).is_active(now));
    }
}
