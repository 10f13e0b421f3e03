//! Codes and their tokens (O9–O13), one aggregate: redeeming a code inserts a family and its first
//! tokens in one step.

mod access_token;
mod code;
mod family;
mod refresh_token;

use std::time::SystemTime;

use async_trait::async_trait;
use oauth_core::ports::StoreError;
use oauth_core::secret::TokenHash;
use oauth_core::store::{
    AccessTokenRecord, AccessTokenState, AuthorizationCodeRecord, CodeRedemption, FamilyId, FamilyRevocation,
    Insertion, RedeemOutcome, RefreshTokenRecord, RefreshTokenState, RevocationReason, RevokeOutcome,
    Revoked, RotateOutcome, Rotation, TokenFamily, TokenStore,
};
use oauth_core::vocabulary::{ClientId, Subject};

use crate::database::Database;
use crate::json::Document;
use crate::oauth::sessions::{End, end};
use crate::purge;

/// The rows that a redemption inserts.
struct Purchase {
    family: Document<TokenFamily>,
    access: Document<AccessTokenRecord>,
    refresh: Option<Document<RefreshTokenRecord>>,
}

#[async_trait]
impl TokenStore for Database {
    async fn insert_code(&self, code: AuthorizationCodeRecord) -> Result<Insertion, StoreError> {
        let code = Document::new(code)?;
        let inserted = self.run(|pool| async move { code::insert(&pool, &code).await });
        Ok(inserted.await?)
    }

    async fn code(&self, hash: &TokenHash) -> Result<Option<AuthorizationCodeRecord>, StoreError> {
        let hash = *hash;
        let code = self.run(move |pool| async move { code::load(&pool, &hash).await });
        Ok(code.await?)
    }

    async fn redeem_code(
        &self,
        redemption: CodeRedemption,
        now: SystemTime,
    ) -> Result<RedeemOutcome, StoreError> {
        let hash = redemption.code;
        let purchase = Purchase {
            family: Document::new(redemption.family)?,
            access: Document::new(redemption.access)?,
            refresh: redemption.refresh.map(Document::new).transpose()?,
        };
        let redeemed = self.run(move |pool| async move { code::redeem(&pool, &hash, &purchase, now).await });
        Ok(redeemed.await?)
    }

    async fn insert_access_token(&self, token: AccessTokenRecord) -> Result<Insertion, StoreError> {
        let token = Document::new(token)?;
        let inserted = self.run(|pool| async move { access_token::insert(&pool, &token).await });
        Ok(inserted.await?)
    }

    async fn access_token(&self, hash: &TokenHash) -> Result<Option<AccessTokenState>, StoreError> {
        let hash = *hash;
        let token = self.run(move |pool| async move { access_token::load(&pool, &hash).await });
        Ok(token.await?)
    }

    async fn refresh_token(&self, hash: &TokenHash) -> Result<Option<RefreshTokenState>, StoreError> {
        let hash = *hash;
        let token = self.run(move |pool| async move { refresh_token::load(&pool, &hash).await });
        Ok(token.await?)
    }

    async fn rotate(&self, rotation: Rotation, now: SystemTime) -> Result<RotateOutcome, StoreError> {
        let step = refresh_token::Step {
            presented: rotation.presented,
            rotated: rotation.to_rotated(now),
            successor: Document::new(rotation.successor)?,
            access: Document::new(rotation.access)?,
        };
        let rotated = self.run(move |pool| async move { refresh_token::rotate(&pool, &step).await });
        Ok(rotated.await?)
    }

    async fn revoke_family(
        &self,
        id: &FamilyId,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<RevokeOutcome, StoreError> {
        let id = *id;
        let revocation = Document::new(FamilyRevocation::new(reason, now))?;
        let revoked = self.run(move |pool| async move { family::revoke(&pool, &id, &revocation).await });
        Ok(revoked.await?)
    }

    async fn revoke_access_token(
        &self,
        hash: &TokenHash,
        now: SystemTime,
    ) -> Result<RevokeOutcome, StoreError> {
        let hash = *hash;
        let revoked = self.run(move |pool| async move { access_token::revoke(&pool, &hash, now).await });
        Ok(revoked.await?)
    }

    async fn revoke_grants(
        &self,
        subject: &Subject,
        client_id: &ClientId,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<Revoked, StoreError> {
        let (subject, client_id, end) = (subject.clone(), client_id.clone(), End::new(reason, now)?);
        let revoked =
            self.run(move |pool| async move { end::grants_at(&pool, &subject, &client_id, &end).await });
        Ok(revoked.await?)
    }

    async fn purge_tokens(&self, now: SystemTime) -> Result<u64, StoreError> {
        Ok(self.purge_by(purge::OF_TOKENS, now).await?)
    }
}
