use std::time::SystemTime;

use async_trait::async_trait;

use super::{Reply, Respond, VerbStore};
use oauth_core::ports::StoreError;
use oauth_core::secret::TokenHash;
use oauth_core::store::{
    Insertion, ResetOutcome, ResetTokenRecord, RevocationReason, Revoked, SessionId, SessionOutcome,
    SessionRecord, SessionRenewal, SessionStore,
};
use oauth_core::vocabulary::Subject;

/// A call of a method of [`SessionStore`], with its arguments in the order of the method.
/// [`TokenVerb`](super::TokenVerb) has the calls of [`TokenStore`](oauth_core::store::TokenStore).
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "one of each verb, for tests")]
pub enum SessionVerb {
    /// [`SessionStore::insert_session`].
    InsertSession(SessionRecord),
    /// [`SessionStore::session`].
    Session(TokenHash),
    /// [`SessionStore::touch_session`].
    TouchSession(TokenHash, SystemTime),
    /// [`SessionStore::renew_session`].
    RenewSession(TokenHash, TokenHash, SessionRenewal, SystemTime),
    /// [`SessionStore::end_session`].
    EndSession(SessionId, RevocationReason, SystemTime),
    /// [`SessionStore::end_session_by_secret`].
    EndSessionBySecret(TokenHash, RevocationReason, SystemTime),
    /// [`SessionStore::sessions_of`].
    SessionsOf(Subject, SystemTime),
    /// [`SessionStore::revoke_subject`].
    RevokeSubject(Subject, Option<SessionId>, RevocationReason, SystemTime),
    /// [`SessionStore::put_reset_token`].
    PutResetToken(ResetTokenRecord),
    /// [`SessionStore::reset_token`].
    ResetToken(TokenHash),
    /// [`SessionStore::redeem_reset_token`].
    RedeemResetToken(TokenHash, SystemTime),
    /// [`SessionStore::purge_sessions`].
    Purge(SystemTime),
}

impl SessionVerb {
    /// Returns `true` if the verb only reads.
    #[must_use]
    pub const fn is_lookup(&self) -> bool {
        matches!(
            self,
            Self::Session(_) | Self::SessionsOf(..) | Self::ResetToken(_)
        )
    }

    /// Returns the `now` of the caller; `None` if the verb has none.
    pub const fn now_mut(&mut self) -> Option<&mut SystemTime> {
        match self {
            Self::TouchSession(_, now)
            | Self::RenewSession(_, _, _, now)
            | Self::EndSession(_, _, now)
            | Self::EndSessionBySecret(_, _, now)
            | Self::SessionsOf(_, now)
            | Self::RevokeSubject(_, _, _, now)
            | Self::RedeemResetToken(_, now)
            | Self::Purge(now) => Some(now),
            Self::InsertSession(_) | Self::Session(_) | Self::PutResetToken(_) | Self::ResetToken(_) => None,
        }
    }

    /// Performs the verb on `store`.
    ///
    /// # Errors
    ///
    /// [`StoreError`] of the called method.
    pub async fn call(self, store: &dyn SessionStore) -> Result<Reply, StoreError> {
        Ok(match self {
            Self::InsertSession(session) => store.insert_session(session).await?.into(),
            Self::Session(hash) => store.session(&hash).await?.into(),
            Self::TouchSession(hash, now) => store.touch_session(&hash, now).await?.into(),
            Self::RenewSession(hash, new, renewal, now) => {
                store.renew_session(&hash, new, renewal, now).await?.into()
            }
            Self::EndSession(id, reason, now) => store.end_session(&id, reason, now).await?.into(),
            Self::EndSessionBySecret(hash, reason, now) => {
                store.end_session_by_secret(&hash, reason, now).await?.into()
            }
            Self::SessionsOf(subject, now) => store.sessions_of(&subject, now).await?.into(),
            Self::RevokeSubject(subject, keep, reason, now) => {
                let revoked = store.revoke_subject(&subject, keep.as_ref(), reason, now);
                revoked.await?.into()
            }
            Self::PutResetToken(token) => store.put_reset_token(token).await?.into(),
            Self::ResetToken(hash) => store.reset_token(&hash).await?.into(),
            Self::RedeemResetToken(hash, now) => store.redeem_reset_token(&hash, now).await?.into(),
            Self::Purge(now) => store.purge_sessions(now).await?.into(),
        })
    }
}

#[async_trait]
impl<R: Respond> SessionStore for VerbStore<R> {
    async fn insert_session(&self, session: SessionRecord) -> Result<Insertion, StoreError> {
        self.ask(SessionVerb::InsertSession(session)).await
    }

    async fn session(&self, hash: &TokenHash) -> Result<Option<SessionRecord>, StoreError> {
        self.ask(SessionVerb::Session(*hash)).await
    }

    async fn touch_session(&self, hash: &TokenHash, now: SystemTime) -> Result<SessionOutcome, StoreError> {
        self.ask(SessionVerb::TouchSession(*hash, now)).await
    }

    async fn renew_session(
        &self,
        hash: &TokenHash,
        new_hash: TokenHash,
        renewal: SessionRenewal,
        now: SystemTime,
    ) -> Result<SessionOutcome, StoreError> {
        self.ask(SessionVerb::RenewSession(*hash, new_hash, renewal, now))
            .await
    }

    async fn end_session(
        &self,
        id: &SessionId,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<Revoked, StoreError> {
        self.ask(SessionVerb::EndSession(*id, reason, now)).await
    }

    async fn end_session_by_secret(
        &self,
        hash: &TokenHash,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<Option<SessionRecord>, StoreError> {
        self.ask(SessionVerb::EndSessionBySecret(*hash, reason, now))
            .await
    }

    async fn sessions_of(
        &self,
        subject: &Subject,
        now: SystemTime,
    ) -> Result<Vec<SessionRecord>, StoreError> {
        self.ask(SessionVerb::SessionsOf(subject.clone(), now)).await
    }

    async fn revoke_subject(
        &self,
        subject: &Subject,
        keep: Option<&SessionId>,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<Revoked, StoreError> {
        let (subject, keep) = (subject.clone(), keep.copied());
        self.ask(SessionVerb::RevokeSubject(subject, keep, reason, now))
            .await
    }

    async fn put_reset_token(&self, token: ResetTokenRecord) -> Result<(), StoreError> {
        self.ask(SessionVerb::PutResetToken(token)).await
    }

    async fn reset_token(&self, hash: &TokenHash) -> Result<Option<ResetTokenRecord>, StoreError> {
        self.ask(SessionVerb::ResetToken(*hash)).await
    }

    async fn redeem_reset_token(
        &self,
        hash: &TokenHash,
        now: SystemTime,
    ) -> Result<ResetOutcome, StoreError> {
        self.ask(SessionVerb::RedeemResetToken(*hash, now)).await
    }

    async fn purge_sessions(&self, now: SystemTime) -> Result<u64, StoreError> {
        self.ask(SessionVerb::Purge(now)).await
    }
}
