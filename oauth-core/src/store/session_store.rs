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

/// A password-reset token that was issued.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct ResetTokenRecord {
    /// The hash of the token.
    pub hash: TokenHash,
    /// Whose password it lets its owner set; `None` where nobody has the address that was asked for.
    pub subject: Option<Subject>,
    /// When it was issued.
    pub issued_at: SystemTime,
    /// The instant from which it opens nothing.
    pub expires_at: SystemTime,
}

/// How much ended.
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
    /// Codes that were not redeemed.
    pub codes: u64,
    /// Password-reset tokens.
    pub reset_tokens: u64,
}

/// Keeps sessions and password-reset tokens, and ends everything that lets somebody in.
///
/// A [`TokenStore`] too, of the same tables: ending a session ends what was granted in it, and signing out everywhere
/// reaches across sessions, codes, token families and reset tokens, in one step. A session that times out ends nothing but itself.
///
/// # What an implementation must guarantee
///
/// See the [module](super), and:
///
/// - **The rules of a row are pure functions**: load it, call [`SessionChange::decide`](super::SessionChange::decide) to touch or renew it,
///   [`SessionRecord::revoked`] to end it or [`ResetOutcome::decide`] to redeem a reset token, and write the result, in one step. Of any
///   number of callers that renew one session exactly one does.
/// - **What was ended stays ended**: once [`end_session`](Self::end_session),
///   [`end_session_by_secret`](Self::end_session_by_secret), [`revoke_subject`](Self::revoke_subject) or
///   [`redeem_reset_token`](Self::redeem_reset_token) has answered, nothing from before is worth anything, whatever had begun
///   before; and a reader sees either all of it ended or none.
/// - A code that names a session is redeemed only while that session is active, or else it is
///   [`RedeemOutcome::SessionEnded`](super::RedeemOutcome::SessionEnded): one that was left idle cannot be ended any more, and
///   signing out everywhere must outlast a consent that was under way. What it bought before goes on.
///   [`Grant::is_session_active`](super::Grant::is_session_active) is the check.
/// - What belongs to another subject is untouched.
/// - Of any number of callers that redeem one reset token exactly one gets `Redeemed`, and a subject has at most one.
#[async_trait]
pub trait SessionStore: TokenStore {
    /// Stores a new session; never overwrites one of the same secret or name.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when nothing was stored or the answer was lost.
    async fn insert_session(&self, session: SessionRecord) -> Result<Insertion, StoreError>;

    /// Reads the session under a secret, also one that is over and was not purged yet.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer.
    async fn session(&self, hash: &TokenHash) -> Result<Option<SessionRecord>, StoreError>;

    /// Writes a use of the session at `now`.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer; calling again is safe.
    async fn touch_session(&self, hash: &TokenHash, now: SystemTime) -> Result<SessionOutcome, StoreError>;

    /// Puts the session under a new secret; the old one opens nothing from this step on.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when nothing was stored or the answer was lost: then neither secret is known to open anything.
    async fn renew_session(
        &self,
        hash: &TokenHash,
        new_hash: TokenHash,
        renewal: SessionRenewal,
        now: SystemTime,
    ) -> Result<SessionOutcome, StoreError>;

    /// Ends a session, with the token families and codes whose grants name it, which end also when it was over before.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer; calling again is safe.
    async fn end_session(
        &self,
        id: &SessionId,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<Revoked, StoreError>;

    /// Ends the session that a secret [means](SessionRecord::is_meant_by), as [`end_session`](Self::end_session) does, and
    /// answers it as it is then; `None` when there is none, and nothing changes, or when it was over before: then it stays as it is, and
    /// the token families and codes whose grants name it end all the same.
    ///
    /// Looks and ends in one step: of a renewal that crosses it, whichever comes first, no secret is left that opens
    /// anything.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer; calling again is safe.
    async fn end_session_by_secret(
        &self,
        hash: &TokenHash,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<Option<SessionRecord>, StoreError>;

    /// The sessions of `subject` that are active at `now`, the last begun first, by name where two began at once.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer.
    async fn sessions_of(&self, subject: &Subject, now: SystemTime)
    -> Result<Vec<SessionRecord>, StoreError>;

    /// Ends everything of `subject`: sessions, token families, codes and reset tokens. The session `keep` goes on, with the
    /// families and codes whose grants name it.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer; calling again is safe.
    async fn revoke_subject(
        &self,
        subject: &Subject,
        keep: Option<&SessionId>,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<Revoked, StoreError>;

    /// Stores a reset token in place of all others of the same subject, or of nobody.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when nothing was stored or the answer was lost; the older ones may be gone then.
    async fn put_reset_token(&self, token: ResetTokenRecord) -> Result<(), StoreError>;

    /// Reads a reset token, also one that has expired and was not purged yet.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer.
    async fn reset_token(&self, hash: &TokenHash) -> Result<Option<ResetTokenRecord>, StoreError>;

    /// Spends a reset token of somebody, with `now < expires_at`, and ends everything of its subject for
    /// [`RevocationReason::PasswordReset`].
    ///
    /// # Errors
    ///
    /// [`StoreError`] when nothing was stored or the answer was lost; the token may be spent then, and its owner asks for
    /// another.
    async fn redeem_reset_token(&self, hash: &TokenHash, now: SystemTime)
    -> Result<ResetOutcome, StoreError>;

    /// Drops the sessions that are kept [until](SessionRecord::kept_until) `now` or less and the reset tokens with
    /// `expires_at <= now`, and answers how many those were.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer; calling again is safe.
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
