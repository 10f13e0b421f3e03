use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::{FamilyId, Grant, Rotated, Successor};
use crate::secret::TokenHash;
use crate::vocabulary::{AccessTokenTerms, Confirmation};

/// A token family: the tokens of one authorization. It has the refresh tokens, each of which
/// replaced the one before, and the access tokens issued with them. At most one refresh token is
/// valid.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct TokenFamily {
    /// Identifier of the family.
    pub id: FamilyId,
    /// Authorization by the user.
    pub grant: Grant,
    /// DPoP key or client certificate that a public client proved when it redeemed the code, and
    /// must prove again at each refresh. `None`: the family is not bound.
    pub confirmation: Option<Confirmation>,
    /// Instant at which the code was redeemed.
    pub created_at: SystemTime,
    /// Absolute expiry: the instant from which every refresh of the family is refused.
    pub expires_at: SystemTime,
    /// Instant from which the family and its refresh tokens may be deleted: all its access tokens
    /// and its session have expired by then.
    pub retain_until: SystemTime,
    /// Instant and reason of the revocation. This is the only field that changes.
    pub revoked: Option<FamilyRevocation>,
}

/// Revocation of a token family.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct FamilyRevocation {
    /// Reason.
    pub reason: RevocationReason,
    /// Instant.
    pub at: SystemTime,
}

impl FamilyRevocation {
    /// Creates a revocation for `reason` at the instant `at`.
    #[must_use]
    pub const fn new(reason: RevocationReason, at: SystemTime) -> Self {
        Self { reason, at }
    }
}

/// Reason of the revocation of a family or a session.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RevocationReason {
    /// The authorization code was replayed.
    CodeReplayed,
    /// A rotated refresh token was reused.
    RefreshTokenReused,
    /// The user withdrew the consent to the client.
    ConsentWithdrawn,
    /// The client requested the revocation.
    Requested,
    /// The user signed out.
    SignedOut,
    /// The user signed out everywhere.
    SignedOutEverywhere,
    /// The user changed their password.
    PasswordChanged,
    /// The user set a new password with a reset token sent to their address.
    PasswordReset,
    /// The host suspects that another person uses the account.
    SuspiciousActivity,
}

impl RevocationReason {
    /// Returns the stable code of the reason.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::CodeReplayed => "code_replayed",
            Self::RefreshTokenReused => "refresh_token_reused",
            Self::ConsentWithdrawn => "consent_withdrawn",
            Self::Requested => "requested",
            Self::SignedOut => "signed_out",
            Self::SignedOutEverywhere => "signed_out_everywhere",
            Self::PasswordChanged => "password_changed",
            Self::PasswordReset => "password_reset",
            Self::SuspiciousActivity => "suspicious_activity",
        }
    }
}

/// A refresh token: the current token of its family, or a rotated token, which is kept as a
/// tombstone to detect reuse.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct RefreshTokenRecord {
    /// SHA-256 hash of the token.
    pub hash: TokenHash,
    /// Family of the token.
    pub family: FamilyId,
    /// Number of rotations before this token was issued. The first token of a family has 0.
    pub generation: u32,
    /// Instant of issue.
    pub issued_at: SystemTime,
    /// Instant from which the token is refused, by its idle timeout or with its family.
    pub expires_at: SystemTime,
    /// Rotation that replaced the token. This is the only field that changes.
    pub rotated: Option<Rotated>,
}

/// An issued access token.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct AccessTokenRecord {
    /// SHA-256 hash of the whole token, as the client sends it.
    pub hash: TokenHash,
    /// Unique identifier of the token: `jti` of the JWT and of the introspection response.
    pub jti: String,
    /// Family of the token; `None` for client credentials.
    pub family: Option<FamilyId>,
    /// Client, subject, scopes, audience, binding and lifetime of the token.
    pub terms: AccessTokenTerms,
    /// Instant at which this token was revoked. The revocation of its family does not set the
    /// field. This is the only field that changes.
    pub revoked_at: Option<SystemTime>,
}

impl AccessTokenRecord {
    /// Creates a token that is not revoked.
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
    /// Record of the token.
    pub token: AccessTokenRecord,
    /// Family of the token, if it has one.
    pub family: Option<TokenFamily>,
}

impl AccessTokenState {
    /// Combines a token with its family.
    #[must_use]
    pub const fn new(token: AccessTokenRecord, family: Option<TokenFamily>) -> Self {
        Self { token, family }
    }

    /// Returns `true` if the token is valid at `now`: neither expired nor revoked, and its family
    /// is not revoked.
    ///
    /// A token is also invalid if it names a family that the store no longer has.
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

/// A refresh token, its family and the tokens that replaced it, read in one snapshot.
#[derive(Clone, Debug, Eq, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct RefreshTokenState {
    /// Record of the token.
    pub token: RefreshTokenRecord,
    /// Family of the token.
    pub family: TokenFamily,
    /// Tokens that replaced `token`. `None` if the token was not rotated, or if the store has
    /// purged one of the two.
    pub successor: Option<Successor>,
}

impl RefreshTokenState {
    /// Combines a token with its family. `successor` is `None`.
    #[must_use]
    pub const fn new(token: RefreshTokenRecord, family: TokenFamily) -> Self {
        Self {
            token,
            family,
            successor: None,
        }
    }

    /// Sets the tokens that replaced `token`.
    #[must_use]
    pub fn with_successor(self, successor: Option<Successor>) -> Self {
        Self { successor, ..self }
    }

    /// Returns `true` if the token is valid at `now`: neither rotated nor expired, and its family
    /// is neither revoked nor expired.
    #[must_use]
    pub fn is_active(&self, now: SystemTime) -> bool {
        self.token.rotated.is_none() && self.family.revoked.is_none() && !self.is_expired(now)
    }

    /// Returns `true` if the token or its family has expired at `now`.
    #[must_use]
    pub fn is_expired(&self, now: SystemTime) -> bool {
        now >= self.token.expires_at || now >= self.family.expires_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// O13, 45: a token is invalid if its family was deleted.
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
        let token = |family| AccessTokenRecord::new(TokenHash::new("at"), "1", family, terms.clone());
        assert!(AccessTokenState::new(token(None), None).is_active(now));
        let orphan = token(Some(FamilyId::from_bytes([7; 16])));
        assert!(!AccessTokenState::new(orphan, None).is_active(now));
    }
}
