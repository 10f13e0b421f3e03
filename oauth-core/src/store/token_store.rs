use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;

use super::{
    AccessTokenRecord, AccessTokenState, AuthorizationCodeRecord, FamilyId, Insertion, RedeemOutcome,
    RefreshTokenRecord, RefreshTokenState, RevocationReason, RevokeOutcome, RotateOutcome, Rotated,
    RotationSalt, TokenFamily,
};
use crate::ports::StoreError;
use crate::secret::TokenHash;

/// What redeeming a code is to store.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct CodeRedemption {
    /// The hash of the code.
    pub code: TokenHash,
    /// The family it buys.
    pub family: TokenFamily,
    /// The first access token.
    pub access: AccessTokenRecord,
    /// The first refresh token, when the client may refresh.
    pub refresh: Option<RefreshTokenRecord>,
}

/// What rotating a refresh token is to store.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct Rotation {
    /// The hash of the token that was presented.
    pub presented: TokenHash,
    /// Its successor, of the same family.
    pub successor: RefreshTokenRecord,
    /// The access token issued with it.
    pub access: AccessTokenRecord,
    /// What the two were derived with; none when they were made at random.
    pub salt: Option<RotationSalt>,
}

impl Rotation {
    /// With the salt that the two tokens were derived with, if they were.
    #[must_use]
    pub fn with_salt(self, salt: Option<RotationSalt>) -> Self {
        Self { salt, ..self }
    }

    /// What the tombstone of the presented token is to tell when it is exchanged at `at`.
    #[must_use]
    pub const fn rotated(&self, at: SystemTime) -> Rotated {
        Rotated::new(at, self.successor.hash, self.access.hash).with_salt(self.salt)
    }
}

/// Keeps codes, families and tokens.
///
/// # What an implementation must guarantee
///
/// See the [module](super), and:
///
/// - of any number of callers that redeem one code exactly one gets `Redeemed`;
/// - of any number of callers that rotate one token exactly one gets `Rotated`: under every interleaving a family has
///   **at most one refresh token that was not rotated**;
/// - once `revoke_family` has answered, no `rotate` of that family succeeds, also one that had begun before;
/// - a lookup reads the token, its family and what it was exchanged for in one snapshot.
///
/// - the outcomes are those of [`RedeemOutcome::decide`], [`RotateOutcome::decide`] and [`RevokeOutcome::decide`], on what
///   the verb reads in its own step.
///
/// In SQL, `redeem_code` and `rotate` are one transaction around an `UPDATE … WHERE redeemed IS NULL` or
/// `… WHERE rotated_at IS NULL` whose row count decides; `rotate` also locks the family's row. When the `UPDATE` changed no
/// row, read the row and let `decide` name the refusal.
#[async_trait]
pub trait TokenStore: Send + Sync {
    /// Stores a new code; never overwrites.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when nothing was stored or the answer was lost.
    async fn insert_code(&self, code: AuthorizationCodeRecord) -> Result<Insertion, StoreError>;

    /// Reads a code, also one that was spent or has expired and was not purged yet.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer.
    async fn code(&self, hash: &TokenHash) -> Result<Option<AuthorizationCodeRecord>, StoreError>;

    /// Spends a fresh code with `now < expires_at` and stores the family, the access and the refresh token with it.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when nothing was stored or the answer was lost.
    async fn redeem_code(
        &self,
        redemption: CodeRedemption,
        now: SystemTime,
    ) -> Result<RedeemOutcome, StoreError>;

    /// Stores an access token that comes with no refresh token, of no family or of one whose client keeps its own; never overwrites.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when nothing was stored or the answer was lost.
    async fn insert_access_token(&self, token: AccessTokenRecord) -> Result<Insertion, StoreError>;

    /// Reads an access token and its family, also a revoked one.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer.
    async fn access_token(&self, hash: &TokenHash) -> Result<Option<AccessTokenState>, StoreError>;

    /// Reads a refresh token and its family, also a rotated or revoked one; of a rotated one also the two tokens that it was
    /// exchanged for.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer.
    async fn refresh_token(&self, hash: &TokenHash) -> Result<Option<RefreshTokenState>, StoreError>;

    /// Marks the presented token as [`rotated`](Rotation::rotated) and stores its successor and the access token, when the token is its
    /// family's leaf, the family stands, and `now` is before the expiry of both.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when nothing was stored or the answer was lost.
    async fn rotate(&self, rotation: Rotation, now: SystemTime) -> Result<RotateOutcome, StoreError>;

    /// Ends a family: from this step on no token of it is active.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer; calling again is safe.
    async fn revoke_family(
        &self,
        id: &FamilyId,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<RevokeOutcome, StoreError>;

    /// Ends one access token.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer; calling again is safe.
    async fn revoke_access_token(
        &self,
        hash: &TokenHash,
        now: SystemTime,
    ) -> Result<RevokeOutcome, StoreError>;

    /// Drops what can no longer matter at `now`, and answers how many rows that were: fresh codes with
    /// `expires_at <= now`, spent codes with `retain_until <= now`, families with `retain_until <= now` together with
    /// all their refresh tokens, access tokens with `expires_at <= now`.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer; calling again is safe.
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

    async fn purge_tokens(&self, now: SystemTime) -> Result<u64, StoreError> {
        (**self).purge_tokens(now).await
    }
}
