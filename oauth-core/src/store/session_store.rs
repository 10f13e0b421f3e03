use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{
    Insertion, ResetOutcome, RevocationReason, SessionId, SessionOutcome, SessionRecord, SessionRenewal,
    TokenStore,
};
use crate::ports::StoreError;
use crate::secret::TokenHash;
use crate::vocabulary::Subject;

/// An issued password-reset token.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct ResetTokenRecord {
    /// SHA-256 hash of the token.
    pub hash: TokenHash,
    /// User whose password may be set; `None` if no user has the requested address.
    pub subject: Option<Subject>,
    /// Instant of issue.
    pub issued_at: SystemTime,
    /// Instant from which the token is refused.
    pub expires_at: SystemTime,
}

/// Numbers of records that one call ended or deleted.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[must_use]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct Revoked {
    /// Sessions that were active.
    pub sessions: u64,
    /// Token families that were not revoked before.
    pub families: u64,
    /// Codes that were not redeemed before.
    pub codes: u64,
    /// Password-reset tokens.
    pub reset_tokens: u64,
}

/// Store of sessions and password-reset tokens, and of sign-out everywhere.
///
/// The trait extends [`TokenStore`], because both change the same tables in one step: ending a
/// session revokes its grants, and a sign-out everywhere ends sessions, codes, token families and
/// reset tokens. A session timeout ends only the session.
///
/// # Contract
///
/// In addition to the contract of the [module](super):
///
/// - **Pure functions decide the change of a row**: in one step, the store reads the row, calls the
///   function and writes the result. [`SessionChange::decide`](super::SessionChange::decide)
///   touches or renews a session, [`SessionRecord::revoke`] ends a session, and
///   [`ResetOutcome::decide`] redeems a reset token.
/// - Of any number of concurrent callers that renew a session by the same secret, exactly one gets
///   `Done`.
/// - **Ended records stay ended.** After [`end_session`](Self::end_session),
///   [`end_session_by_secret`](Self::end_session_by_secret),
///   [`revoke_subject`](Self::revoke_subject) or [`redeem_reset_token`](Self::redeem_reset_token)
///   has returned, all sessions, codes and tokens that the call ended are invalid, even for
///   concurrent calls that began before. A concurrent reader sees either all of them ended or none
///   of them.
/// - A code whose grant names a session is redeemed only while
///   [`Grant::is_session_active`](super::Grant::is_session_active) is `true`. Otherwise the outcome
///   is [`RedeemOutcome::SessionEnded`](super::RedeemOutcome::SessionEnded). Without this check, a
///   code that is issued during a sign-out everywhere could be redeemed after it. A session timeout
///   does not revoke the tokens of codes that were redeemed before.
/// - Records of other subjects do not change.
/// - Of any number of concurrent callers that redeem the same reset token, exactly one gets
///   `Redeemed`. A subject has at most one reset token.
#[async_trait]
pub trait SessionStore: TokenStore {
    /// Inserts a new session. Never overwrites a session with the same secret or identifier.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when nothing was stored or the response was lost.
    async fn insert_session(&self, session: SessionRecord) -> Result<Insertion, StoreError>;

    /// Reads the session with this current secret. An ended or timed-out session is returned until
    /// it is purged.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer.
    async fn session(&self, hash: &TokenHash) -> Result<Option<SessionRecord>, StoreError>;

    /// Records a use of the session at `now`.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer. Retrying is safe.
    async fn touch_session(&self, hash: &TokenHash, now: SystemTime) -> Result<SessionOutcome, StoreError>;

    /// Replaces the secret of the session. The old secret no longer authenticates.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when nothing was stored, or the new secret was stored and the response was
    /// lost. Either secret may be the valid one.
    async fn renew_session(
        &self,
        hash: &TokenHash,
        new_hash: TokenHash,
        renewal: SessionRenewal,
        now: SystemTime,
    ) -> Result<SessionOutcome, StoreError>;

    /// Ends a session, and revokes the token families and codes whose grants name this session. The
    /// call revokes them even if the session was ended or timed out before.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer. Retrying is safe.
    async fn end_session(
        &self,
        id: &SessionId,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<Revoked, StoreError>;

    /// Ends the session that [matches](SessionRecord::matches_secret) the secret, as
    /// [`end_session`](Self::end_session) does, and returns the ended session.
    ///
    /// Returns `None` in two cases:
    ///
    /// - No session matches the secret. Nothing changes.
    /// - The session was ended or timed out before. Its record does not change, but the token
    ///   families and codes whose grants name the session are revoked.
    ///
    /// Lookup and end are one step: even if a renewal runs concurrently, no secret of the session
    /// authenticates afterwards.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer. Retrying is safe.
    async fn end_session_by_secret(
        &self,
        hash: &TokenHash,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<Option<SessionRecord>, StoreError>;

    /// Returns the sessions of `subject` that are active at `now`, newest sign-in first; sessions
    /// with the same instant are sorted by identifier.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer.
    async fn sessions_of(&self, subject: &Subject, now: SystemTime)
    -> Result<Vec<SessionRecord>, StoreError>;

    /// Ends the sessions, token families, codes and reset tokens of `subject`. The session `keep`,
    /// if given, stays active, and the token families and codes whose grants name it stay valid.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer. Retrying is safe.
    async fn revoke_subject(
        &self,
        subject: &Subject,
        keep: Option<&SessionId>,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<Revoked, StoreError>;

    /// Stores a reset token and deletes all other reset tokens of the same subject. A token without
    /// a subject deletes all other tokens without a subject.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when nothing was stored, or the token was stored and the response was lost.
    /// The older tokens may have been deleted.
    async fn put_reset_token(&self, token: ResetTokenRecord) -> Result<(), StoreError>;

    /// Reads a reset token. An expired token is returned until it is purged.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer.
    async fn reset_token(&self, hash: &TokenHash) -> Result<Option<ResetTokenRecord>, StoreError>;

    /// Redeems a reset token that has a subject, while `now < expires_at`. The call deletes the
    /// token, and ends the sessions, token families and codes of the subject with
    /// [`RevocationReason::PasswordReset`].
    ///
    /// # Errors
    ///
    /// [`StoreError`] when nothing was stored, or the token was redeemed and the response was lost.
    /// The user must request another token.
    async fn redeem_reset_token(&self, hash: &TokenHash, now: SystemTime)
    -> Result<ResetOutcome, StoreError>;

    /// Deletes the sessions with [`kept_until`](SessionRecord::kept_until) `<= now` and the reset
    /// tokens with `expires_at <= now`, and returns their number.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer. Retrying is safe.
    async fn purge_sessions(&self, now: SystemTime) -> Result<u64, StoreError>;
}

#[async_trait]
impl<S: SessionStore + ?Sized> SessionStore for Arc<S> {
    async fn insert_session(&self, session: SessionRecord) -> Result<Insertion, StoreError> {
        (**self).insert_session(session).await
    }

    async fn session(&self, hash: &TokenHash) -> Result<Option<SessionRecord>, StoreError> {
        (**self).session(hash).await
    }

    async fn touch_session(&self, hash: &TokenHash, now: SystemTime) -> Result<SessionOutcome, StoreError> {
        (**self).touch_session(hash, now).await
    }

    async fn renew_session(
        &self,
        hash: &TokenHash,
        new_hash: TokenHash,
        renewal: SessionRenewal,
        now: SystemTime,
    ) -> Result<SessionOutcome, StoreError> {
        (**self).renew_session(hash, new_hash, renewal, now).await
    }

    async fn end_session(
        &self,
        id: &SessionId,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<Revoked, StoreError> {
        (**self).end_session(id, reason, now).await
    }

    async fn end_session_by_secret(
        &self,
        hash: &TokenHash,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<Option<SessionRecord>, StoreError> {
        (**self).end_session_by_secret(hash, reason, now).await
    }

    async fn sessions_of(
        &self,
        subject: &Subject,
        now: SystemTime,
    ) -> Result<Vec<SessionRecord>, StoreError> {
        (**self).sessions_of(subject, now).await
    }

    async fn revoke_subject(
        &self,
        subject: &Subject,
        keep: Option<&SessionId>,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<Revoked, StoreError> {
        (**self).revoke_subject(subject, keep, reason, now).await
    }

    async fn put_reset_token(&self, token: ResetTokenRecord) -> Result<(), StoreError> {
        (**self).put_reset_token(token).await
    }

    async fn reset_token(&self, hash: &TokenHash) -> Result<Option<ResetTokenRecord>, StoreError> {
        (**self).reset_token(hash).await
    }

    async fn redeem_reset_token(
        &self,
        hash: &TokenHash,
        now: SystemTime,
    ) -> Result<ResetOutcome, StoreError> {
        (**self).redeem_reset_token(hash, now).await
    }

    async fn purge_sessions(&self, now: SystemTime) -> Result<u64, StoreError> {
        (**self).purge_sessions(now).await
    }
}
