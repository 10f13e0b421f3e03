use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;

use super::{
    AccessTokenRecord, AccessTokenState, AuthorizationCodeRecord, FamilyId, Insertion, RedeemOutcome,
    RefreshTokenRecord, RefreshTokenState, RevocationReason, RevokeOutcome, Revoked, RotateOutcome, Rotated,
    RotationSalt, TokenFamily,
};
use crate::ports::StoreError;
use crate::secret::TokenHash;
use crate::vocabulary::{ClientId, Subject};

/// Records to store when a code is redeemed.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct CodeRedemption {
    /// Hash of the code.
    pub code: TokenHash,
    /// New token family.
    pub family: TokenFamily,
    /// First access token.
    pub access: AccessTokenRecord,
    /// First refresh token, if the client may refresh.
    pub refresh: Option<RefreshTokenRecord>,
}

/// Records to store when a refresh token is rotated.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct Rotation {
    /// Hash of the presented token.
    pub presented: TokenHash,
    /// Refresh token that replaces the presented token, of the same family.
    pub successor: RefreshTokenRecord,
    /// Access token that is issued with `successor`.
    pub access: AccessTokenRecord,
    /// Salt from which both new tokens were derived; `None` for random tokens.
    pub salt: Option<RotationSalt>,
}

impl Rotation {
    /// Sets the salt from which both new tokens were derived.
    #[must_use]
    pub fn with_salt(self, salt: Option<RotationSalt>) -> Self {
        Self { salt, ..self }
    }

    /// Returns the value for [`RefreshTokenRecord::rotated`] of the presented token, for a rotation
    /// at `at`.
    #[must_use]
    pub const fn to_rotated(&self, at: SystemTime) -> Rotated {
        Rotated::new(at, self.successor.hash, self.access.hash).with_salt(self.salt)
    }
}

/// Store of codes, token families and tokens.
///
/// # Contract
///
/// In addition to the contract of the [module](super):
///
/// - Of any number of concurrent callers that redeem the same code, exactly one gets `Redeemed`.
/// - Of any number of concurrent callers that rotate the same token, exactly one gets `Rotated`. At
///   all times a family has **at most one refresh token that is not rotated**.
/// - After `revoke_family` has returned, no `rotate` of that family succeeds, even one that began
///   before.
/// - A lookup reads the token, its family and its successors in one snapshot.
/// - The outcome of a method is that of [`RedeemOutcome::decide`], [`RotateOutcome::decide`] or
///   [`RevokeOutcome::decide`] for the rows that the method reads in its own step.
///
/// In SQL, `redeem_code` and `rotate` are one transaction with a conditional `UPDATE`: `… WHERE
/// redeemed IS NULL` or `… WHERE rotated_at IS NULL`. `rotate` also locks the row of the family. If
/// the `UPDATE` changed one row, the call succeeded. Otherwise the store reads the row and calls
/// `decide` to get the refusal.
#[async_trait]
pub trait TokenStore: Send + Sync {
    /// Inserts a new code. Never overwrites a record.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when nothing was stored or the response was lost.
    async fn insert_code(&self, code: AuthorizationCodeRecord) -> Result<Insertion, StoreError>;

    /// Reads a code. A redeemed or expired code is returned until it is purged.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer.
    async fn code(&self, hash: &TokenHash) -> Result<Option<AuthorizationCodeRecord>, StoreError>;

    /// Redeems a code that was not redeemed before, if `now < expires_at` and
    /// [`Grant::is_session_active`](super::Grant::is_session_active) is `true`. Stores the token
    /// family, the access token and the refresh token.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when nothing was stored or the response was lost.
    async fn redeem_code(
        &self,
        redemption: CodeRedemption,
        now: SystemTime,
    ) -> Result<RedeemOutcome, StoreError>;

    /// Inserts an access token that is issued without a refresh token: by the client credentials
    /// grant, or to a client that keeps its refresh token. Never overwrites a record.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when nothing was stored or the response was lost.
    async fn insert_access_token(&self, token: AccessTokenRecord) -> Result<Insertion, StoreError>;

    /// Reads an access token and its family. A revoked or expired token is returned until it is
    /// purged.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer.
    async fn access_token(&self, hash: &TokenHash) -> Result<Option<AccessTokenState>, StoreError>;

    /// Reads a refresh token and its family, and for a rotated token the two tokens that replaced
    /// it. A rotated, revoked or expired token is returned until its family is purged.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer.
    async fn refresh_token(&self, hash: &TokenHash) -> Result<Option<RefreshTokenState>, StoreError>;

    /// Marks the presented token as [`rotated`](Rotation::to_rotated), and stores the new refresh
    /// token and access token. The presented token must not be rotated, its family must not be
    /// revoked, and neither may have expired.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when nothing was stored or the response was lost.
    async fn rotate(&self, rotation: Rotation, now: SystemTime) -> Result<RotateOutcome, StoreError>;

    /// Revokes a token family. All its tokens are invalid from this step on.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer. Retrying is safe.
    async fn revoke_family(
        &self,
        id: &FamilyId,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<RevokeOutcome, StoreError>;

    /// Revokes the token families of `subject` at `client_id`, and deletes the codes that were not
    /// redeemed before. Sessions do not change. Families and codes that other calls insert later
    /// stay valid.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer. Retrying is safe.
    async fn revoke_grants(
        &self,
        subject: &Subject,
        client_id: &ClientId,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<Revoked, StoreError>;

    /// Revokes one access token. Other tokens of its family stay valid.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer. Retrying is safe.
    async fn revoke_access_token(
        &self,
        hash: &TokenHash,
        now: SystemTime,
    ) -> Result<RevokeOutcome, StoreError>;

    /// Deletes these rows and returns their number:
    ///
    /// - unredeemed codes with `expires_at <= now`, and redeemed codes with `retain_until <= now`;
    /// - token families with `retain_until <= now`, and all their refresh tokens;
    /// - access tokens with `expires_at <= now`.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer. Retrying is safe.
    async fn purge_tokens(&self, now: SystemTime) -> Result<u64, StoreError>;
}

#[async_trait]
impl<S: TokenStore + ?Sized> TokenStore for Arc<S> {
    async fn insert_code(&self, code: AuthorizationCodeRecord) -> Result<Insertion, StoreError> {
        (**self).insert_code(code).await
    }

    async fn code(&self, hash: &TokenHash) -> Result<Option<AuthorizationCodeRecord>, StoreError> {
        (**self).code(hash).await
    }

    async fn redeem_code(
        &self,
        redemption: CodeRedemption,
        now: SystemTime,
    ) -> Result<RedeemOutcome, StoreError> {
        (**self).redeem_code(redemption, now).await
    }

    async fn insert_access_token(&self, token: AccessTokenRecord) -> Result<Insertion, StoreError> {
        (**self).insert_access_token(token).await
    }

    async fn access_token(&self, hash: &TokenHash) -> Result<Option<AccessTokenState>, StoreError> {
        (**self).access_token(hash).await
    }

    async fn refresh_token(&self, hash: &TokenHash) -> Result<Option<RefreshTokenState>, StoreError> {
        (**self).refresh_token(hash).await
    }

    async fn rotate(&self, rotation: Rotation, now: SystemTime) -> Result<RotateOutcome, StoreError> {
        (**self).rotate(rotation, now).await
    }

    async fn revoke_family(
        &self,
        id: &FamilyId,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<RevokeOutcome, StoreError> {
        (**self).revoke_family(id, reason, now).await
    }

    async fn revoke_access_token(
        &self,
        hash: &TokenHash,
        now: SystemTime,
    ) -> Result<RevokeOutcome, StoreError> {
        (**self).revoke_access_token(hash, now).await
    }

    async fn revoke_grants(
        &self,
        subject: &Subject,
        client_id: &ClientId,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<Revoked, StoreError> {
        (**self).revoke_grants(subject, client_id, reason, now).await
    }

    async fn purge_tokens(&self, now: SystemTime) -> Result<u64, StoreError> {
        (**self).purge_tokens(now).await
    }
}
