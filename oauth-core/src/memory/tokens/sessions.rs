use std::collections::HashSet;
use std::time::SystemTime;

use async_trait::async_trait;

use super::{MemoryTokens, Tables, insert, set_once};
use crate::memory::{count, lock};
use crate::ports::StoreError;
use crate::secret::TokenHash;
use crate::session::SessionState;
use crate::store::{
    FamilyRevocation, Grant, Insertion, ResetOutcome, ResetTokenRecord, RevocationReason, RevokeOutcome,
    Revoked, SessionChange, SessionId, SessionOutcome, SessionRecord, SessionRenewal, SessionStore,
};
use crate::vocabulary::{ClientId, Subject};

#[async_trait]
impl SessionStore for MemoryTokens {
    async fn insert_session(&self, session: SessionRecord) -> Result<Insertion, StoreError> {
        let sessions = &mut lock(&self.tables).sessions;
        if sessions.values().any(|other| other.id == session.id) {
            return Ok(Insertion::Exists);
        }
        Ok(insert(sessions, session.hash, session))
    }

    async fn session(&self, hash: &TokenHash) -> Result<Option<SessionRecord>, StoreError> {
        Ok(lock(&self.tables).sessions.get(hash).cloned())
    }

    async fn touch_session(&self, hash: &TokenHash, now: SystemTime) -> Result<SessionOutcome, StoreError> {
        let mut tables = lock(&self.tables);
        Ok(tables.change_session(hash, SessionChange::Touch, now))
    }

    async fn renew_session(
        &self,
        hash: &TokenHash,
        new_hash: TokenHash,
        renewal: SessionRenewal,
        now: SystemTime,
    ) -> Result<SessionOutcome, StoreError> {
        let change = SessionChange::Renew {
            hash: new_hash,
            renewal,
        };
        Ok(lock(&self.tables).change_session(hash, change, now))
    }

    async fn end_session(
        &self,
        id: &SessionId,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<Revoked, StoreError> {
        Ok(lock(&self.tables).end_session(id, &End { reason, now }))
    }

    async fn end_session_by_secret(
        &self,
        hash: &TokenHash,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<Option<SessionRecord>, StoreError> {
        let mut tables = lock(&self.tables);
        let meant = tables
            .sessions
            .values()
            .find(|session| session.matches_secret(hash));
        let Some(session) = meant.cloned() else {
            return Ok(None);
        };
        let _counts = tables.end_session(&session.id, &End { reason, now });
        Ok(session.revoke(reason, now))
    }

    async fn sessions_of(
        &self,
        subject: &Subject,
        now: SystemTime,
    ) -> Result<Vec<SessionRecord>, StoreError> {
        let tables = lock(&self.tables);
        let active = |session: &&SessionRecord| {
            session.subject == *subject && session.state(now) == SessionState::Active
        };
        let mut sessions: Vec<_> = tables.sessions.values().filter(active).cloned().collect();
        sessions.sort_by(|a, b| b.created_at.cmp(&a.created_at).then(a.id.cmp(&b.id)));
        Ok(sessions)
    }

    async fn revoke_subject(
        &self,
        subject: &Subject,
        keep: Option<&SessionId>,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<Revoked, StoreError> {
        let end = End { reason, now };
        Ok(lock(&self.tables).revoke_subject(&end, subject, keep))
    }

    async fn put_reset_token(&self, token: ResetTokenRecord) -> Result<(), StoreError> {
        let mut tables = lock(&self.tables);
        tables.drop_reset_tokens(token.subject.as_ref());
        tables.reset_tokens.insert(token.hash, token);
        Ok(())
    }

    async fn reset_token(&self, hash: &TokenHash) -> Result<Option<ResetTokenRecord>, StoreError> {
        Ok(lock(&self.tables).reset_tokens.get(hash).cloned())
    }

    async fn redeem_reset_token(
        &self,
        hash: &TokenHash,
        now: SystemTime,
    ) -> Result<ResetOutcome, StoreError> {
        let mut tables = lock(&self.tables);
        let subject = match ResetOutcome::decide(tables.reset_tokens.get(hash), now) {
            Ok(subject) => subject.clone(),
            Err(refused) => return Ok(refused),
        };
        let reason = RevocationReason::PasswordReset;
        let revoked = tables.revoke_subject(&End { reason, now }, &subject, None);
        Ok(ResetOutcome::Redeemed { subject, revoked })
    }

    async fn purge_sessions(&self, now: SystemTime) -> Result<u64, StoreError> {
        let mut tables = lock(&self.tables);
        let rows = |tables: &Tables| tables.sessions.len() + tables.reset_tokens.len() + tables.logouts.len();
        let before = rows(&tables);
        tables.sessions.retain(|_, session| now < session.kept_until());
        tables.reset_tokens.retain(|_, token| now < token.expires_at);
        tables.logouts.retain(|_, logout| now < logout.expires_at);
        Ok(count(before - rows(&tables)))
    }
}

pub(super) struct End {
    pub(super) reason: RevocationReason,
    pub(super) now: SystemTime,
}

impl Tables {
    /// Returns `true` if the grant names no session, or a session that is active at `now`.
    pub(super) fn is_session_active(&self, grant: &Grant, now: SystemTime) -> bool {
        // a grant without a session needs no lookup
        let find = |id| self.sessions.values().find(|session| session.id == id);
        grant.is_session_active(grant.session.and_then(find), now)
    }

    fn change_session(&mut self, hash: &TokenHash, change: SessionChange, now: SystemTime) -> SessionOutcome {
        match change.decide(self.sessions.get(hash), now) {
            Ok(changed) => {
                if changed.hash != *hash {
                    self.sessions.remove(hash);
                }
                self.sessions.insert(changed.hash, changed);
                SessionOutcome::Done
            }
            Err(refused) => refused,
        }
    }

    fn end_session(&mut self, id: &SessionId, end: &End) -> Revoked {
        self.end(
            end,
            |session| session.id == *id,
            |grant| grant.session == Some(*id),
        )
    }

    fn revoke_subject(&mut self, end: &End, subject: &Subject, keep: Option<&SessionId>) -> Revoked {
        let revoked = self.end(
            end,
            |session| session.subject == *subject && Some(&session.id) != keep,
            |grant| grant.subject == *subject && (keep.is_none() || grant.session.as_ref() != keep),
        );
        Revoked {
            reset_tokens: self.drop_reset_tokens(Some(subject)),
            ..revoked
        }
    }

    pub(super) fn revoke_grants(&mut self, end: &End, subject: &Subject, client_id: &ClientId) -> Revoked {
        let granted = |grant: &Grant| grant.subject == *subject && grant.client_id == *client_id;
        self.end(end, |_| false, granted)
    }

    /// Ends the sessions that `ends` selects, and revokes the families and deletes the codes that
    /// `granted` selects.
    fn end(
        &mut self,
        end: &End,
        ends: impl Fn(&SessionRecord) -> bool,
        granted: impl Fn(&Grant) -> bool,
    ) -> Revoked {
        let mut revoked = Revoked::default();
        let mut ended_sessions = HashSet::new();
        for session in self.sessions.values_mut().filter(|session| ends(session)) {
            if let Some(ended) = session.revoke(end.reason, end.now) {
                ended_sessions.insert(ended.id);
                *session = ended;
            }
        }
        revoked.sessions = count(ended_sessions.len());
        let mut signed_out = Vec::new();
        for family in self.families.values_mut() {
            let revocation = FamilyRevocation::new(end.reason, end.now);
            let is_revoked = granted(&family.grant)
                && set_once(Some(&mut family.revoked), revocation) == RevokeOutcome::Revoked;
            revoked.families += u64::from(is_revoked);
            let session = family.grant.session.as_ref();
            if is_revoked || session.is_some_and(|session| ended_sessions.contains(session)) {
                signed_out.push(family.grant.clone());
            }
        }
        self.queue_logouts(signed_out, end.now);
        let codes = self.codes.len();
        self.codes
            .retain(|_, code| code.redeemed.is_some() || !granted(&code.grant));
        revoked.codes = count(codes - self.codes.len());
        revoked
    }

    fn drop_reset_tokens(&mut self, subject: Option<&Subject>) -> u64 {
        let before = self.reset_tokens.len();
        self.reset_tokens
            .retain(|_, token| token.subject.as_ref() != subject);
        count(before - self.reset_tokens.len())
    }
}
