//! Sessions (S1–S4), password-reset tokens (S5), and revocation by session or subject.

pub(super) mod end;
mod reset_token;
mod row;

use std::time::SystemTime;

use async_trait::async_trait;
use oauth_core::ports::StoreError;
use oauth_core::secret::TokenHash;
use oauth_core::store::{
    Insertion, ResetOutcome, ResetTokenRecord, RevocationReason, Revoked, SessionChange, SessionId,
    SessionOutcome, SessionRecord, SessionRenewal, SessionStore,
};
use oauth_core::vocabulary::Subject;

pub(super) use self::end::End;
pub(super) use self::row::lock_shared;
use crate::database::Database;
use crate::json::Document;
use crate::purge;

#[async_trait]
impl SessionStore for Database {
    async fn insert_session(&self, session: SessionRecord) -> Result<Insertion, StoreError> {
        let session = Document::new(session)?;
        let inserted = self.run(|pool| async move { row::insert(&pool, &session).await });
        Ok(inserted.await?)
    }

    async fn session(&self, hash: &TokenHash) -> Result<Option<SessionRecord>, StoreError> {
        let hash = *hash;
        let session = self.run(move |pool| async move { row::load(&pool, &hash).await });
        Ok(session.await?)
    }

    async fn touch_session(&self, hash: &TokenHash, now: SystemTime) -> Result<SessionOutcome, StoreError> {
        let hash = *hash;
        let change = SessionChange::Touch;
        let touched = self.run(move |pool| async move { row::change(&pool, &hash, change, now).await });
        Ok(touched.await?)
    }

    async fn renew_session(
        &self,
        hash: &TokenHash,
        new_hash: TokenHash,
        renewal: SessionRenewal,
        now: SystemTime,
    ) -> Result<SessionOutcome, StoreError> {
        let hash = *hash;
        let change = SessionChange::Renew {
            hash: new_hash,
            renewal,
        };
        let renewed = self.run(move |pool| async move { row::change(&pool, &hash, change, now).await });
        Ok(renewed.await?)
    }

    async fn end_session(
        &self,
        id: &SessionId,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<Revoked, StoreError> {
        let (id, end) = (*id, End::new(reason, now)?);
        let ended = self.run(move |pool| async move { end::session(&pool, &id, &end).await });
        Ok(ended.await?)
    }

    async fn end_session_by_secret(
        &self,
        hash: &TokenHash,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<Option<SessionRecord>, StoreError> {
        let (hash, end) = (*hash, End::new(reason, now)?);
        let ended = self.run(move |pool| async move { end::session_by_secret(&pool, &hash, &end).await });
        Ok(ended.await?)
    }

    async fn sessions_of(
        &self,
        subject: &Subject,
        now: SystemTime,
    ) -> Result<Vec<SessionRecord>, StoreError> {
        let subject = subject.clone();
        let sessions = self.run(move |pool| async move { row::active_of(&pool, &subject, now).await });
        Ok(sessions.await?)
    }

    async fn revoke_subject(
        &self,
        subject: &Subject,
        keep: Option<&SessionId>,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<Revoked, StoreError> {
        let (subject, keep, end) = (subject.clone(), keep.copied(), End::new(reason, now)?);
        let ended =
            self.run(move |pool| async move { end::everything(&pool, &subject, keep.as_ref(), &end).await });
        Ok(ended.await?)
    }

    async fn put_reset_token(&self, token: ResetTokenRecord) -> Result<(), StoreError> {
        let token = Document::new(token)?;
        let put = self.run(|pool| async move { reset_token::put(&pool, &token).await });
        Ok(put.await?)
    }

    async fn reset_token(&self, hash: &TokenHash) -> Result<Option<ResetTokenRecord>, StoreError> {
        let hash = *hash;
        let token = self.run(move |pool| async move { reset_token::load(&pool, &hash).await });
        Ok(token.await?)
    }

    async fn redeem_reset_token(
        &self,
        hash: &TokenHash,
        now: SystemTime,
    ) -> Result<ResetOutcome, StoreError> {
        let (hash, end) = (*hash, End::new(RevocationReason::PasswordReset, now)?);
        let redeemed = self.run(move |pool| async move { end::by_reset_token(&pool, &hash, &end).await });
        Ok(redeemed.await?)
    }

    async fn purge_sessions(&self, now: SystemTime) -> Result<u64, StoreError> {
        Ok(self.purge_by(purge::OF_SESSIONS, now).await?)
    }
}
