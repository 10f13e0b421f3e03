//! A sequential model of a store: a history must have followed its rules in some order.

use std::collections::BTreeMap;
use std::time::SystemTime;

use super::table::{CodeOutcome, CodeState, CodeTrigger, RefreshState, RefreshTrigger};
use crate::verbs::{Reply, SessionVerb, TokenVerb, Verb};
use oauth_core::secret::TokenHash;
use oauth_core::session::SessionState;
use oauth_core::store::{
    AccessTokenRecord, AccessTokenState, AuthorizationCodeRecord, CodeRedemption, FamilyId, FamilyRevocation,
    Grant, Insertion, RedeemOutcome, RefreshTokenRecord, RefreshTokenState, ResetOutcome, ResetTokenRecord,
    RevocationReason, RevokeOutcome, Revoked, RotateOutcome, Rotation, SessionId, SessionOutcome,
    SessionRecord, Successor, TokenFamily,
};
use oauth_core::vocabulary::Subject;

/// The rows of a store.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct World {
    codes: BTreeMap<TokenHash, AuthorizationCodeRecord>,
    families: BTreeMap<FamilyId, TokenFamily>,
    links: BTreeMap<TokenHash, RefreshTokenRecord>,
    access: BTreeMap<TokenHash, AccessTokenRecord>,
    sessions: BTreeMap<SessionId, SessionRecord>,
    resets: BTreeMap<TokenHash, ResetTokenRecord>,
}

impl World {
    /// Applies the verb in one step and returns the response; `None` for a purge, which no history
    /// has.
    pub(super) fn apply(&mut self, verb: &Verb) -> Option<Reply> {
        match verb {
            Verb::Token(verb) => self.apply_token_verb(verb),
            Verb::Session(verb) => self.apply_session_verb(verb),
        }
    }

    fn apply_token_verb(&mut self, verb: &TokenVerb) -> Option<Reply> {
        Some(match verb {
            TokenVerb::InsertCode(code) => insert(&mut self.codes, code.hash, code).into(),
            TokenVerb::Code(hash) => self.codes.get(hash).cloned().into(),
            TokenVerb::RedeemCode(redemption, now) => self.redeem(redemption, *now).into(),
            TokenVerb::InsertAccessToken(token) => insert(&mut self.access, token.hash, token).into(),
            TokenVerb::AccessToken(hash) => self.access_token(hash).into(),
            TokenVerb::RefreshToken(hash) => self.refresh_token(hash).into(),
            TokenVerb::Rotate(rotation, now) => self.rotate(rotation, *now).into(),
            TokenVerb::RevokeFamily(id, reason, now) => match self.families.get_mut(id) {
                None => RevokeOutcome::NotFound,
                Some(family) => revoke(family, *reason, *now),
            }
            .into(),
            TokenVerb::RevokeGrants(subject, client_id, reason, now) => {
                let granted = |grant: &Grant| grant.subject == *subject && grant.client_id == *client_id;
                self.end(|_| false, granted, *reason, *now).into()
            }
            TokenVerb::RevokeAccessToken(hash, now) => match self.access.get_mut(hash) {
                None => RevokeOutcome::NotFound,
                Some(token) if token.revoked_at.is_some() => RevokeOutcome::AlreadyRevoked,
                Some(token) => {
                    token.revoked_at = Some(*now);
                    RevokeOutcome::Revoked
                }
            }
            .into(),
            TokenVerb::Purge(_) => return None,
        })
    }

    fn apply_session_verb(&mut self, verb: &SessionVerb) -> Option<Reply> {
        Some(match verb {
            SessionVerb::InsertSession(session) => self.insert_session(session).into(),
            SessionVerb::Session(hash) => self.session(hash).cloned().into(),
            SessionVerb::TouchSession(hash, now) => self.change(hash, |session| session.touch(*now)).into(),
            SessionVerb::RenewSession(hash, new, renewal, now) => self
                .change(hash, |session| session.renew(*new, *renewal, *now))
                .into(),
            SessionVerb::EndSession(id, reason, now) => self.end_session(*id, *reason, *now).into(),
            SessionVerb::EndSessionBySecret(hash, reason, now) => {
                let mut sessions = self.sessions.values();
                let meant = sessions.find(|session| session.matches_secret(hash));
                let Some(session) = meant.cloned() else {
                    return Some(None::<SessionRecord>.into());
                };
                let _counts = self.end_session(session.id, *reason, *now);
                session.revoke(*reason, *now).into()
            }
            SessionVerb::SessionsOf(subject, now) => self.sessions_of(subject, *now).into(),
            SessionVerb::RevokeSubject(subject, keep, reason, now) => {
                self.revoke_subject(subject, *keep, *reason, *now).into()
            }
            SessionVerb::PutResetToken(token) => {
                self.resets.retain(|_, other| other.subject != token.subject);
                self.resets.insert(token.hash, token.clone());
                ().into()
            }
            SessionVerb::ResetToken(hash) => self.resets.get(hash).cloned().into(),
            SessionVerb::RedeemResetToken(hash, now) => self.redeem_reset_token(hash, *now).into(),
            SessionVerb::Purge(_) => return None,
        })
    }

    fn redeem(&mut self, redemption: &CodeRedemption, now: SystemTime) -> RedeemOutcome {
        let stands = self.session_stands(&redemption.family.grant, now);
        let code = self.codes.get_mut(&redemption.code);
        let spent_on = code.as_ref().and_then(|code| code.redeemed);
        let state = match (&code, spent_on) {
            (None, _) => CodeState::Absent,
            (Some(_), None) => CodeState::Fresh,
            (Some(_), Some(_)) => CodeState::Spent,
        };
        let late = code.as_ref().is_some_and(|code| now >= code.expires_at);
        let trigger = match (late, stands) {
            (true, _) => CodeTrigger::RedeemedLate,
            (false, false) => CodeTrigger::RedeemedAfterSession,
            (false, true) => CodeTrigger::Redeemed,
        };
        match (state.after(trigger), code, spent_on) {
            ((CodeState::Spent, CodeOutcome::Redeemed), Some(code), None) => {
                code.redeemed = Some(redemption.family.id);
                self.families
                    .insert(redemption.family.id, redemption.family.clone());
                self.access
                    .insert(redemption.access.hash, redemption.access.clone());
                let refresh = redemption.refresh.iter();
                self.links
                    .extend(refresh.map(|token| (token.hash, token.clone())));
                RedeemOutcome::Redeemed
            }
            ((_, CodeOutcome::AlreadyRedeemed), _, Some(family)) => RedeemOutcome::AlreadyRedeemed { family },
            ((_, CodeOutcome::Expired), ..) => RedeemOutcome::Expired,
            ((_, CodeOutcome::SessionEnded), ..) => RedeemOutcome::SessionEnded,
            _ => RedeemOutcome::NotFound,
        }
    }

    fn rotate(&mut self, rotation: &Rotation, now: SystemTime) -> RotateOutcome {
        let Some(state) = self.refresh_token(&rotation.presented) else {
            return RotateOutcome::NotFound;
        };
        let trigger = if state.is_expired(now) {
            RefreshTrigger::RotatedLate
        } else {
            RefreshTrigger::Rotated
        };
        let (after, answer) = RefreshState::from_lookup(Some(&state)).after(trigger);
        if answer == Some(RotateOutcome::Rotated) && after == RefreshState::Tombstone {
            if let Some(link) = self.links.get_mut(&rotation.presented) {
                link.rotated = Some(rotation.to_rotated(now));
            }
            self.links
                .insert(rotation.successor.hash, rotation.successor.clone());
            self.access.insert(rotation.access.hash, rotation.access.clone());
        }
        answer.unwrap_or(RotateOutcome::NotFound)
    }

    fn refresh_token(&self, hash: &TokenHash) -> Option<RefreshTokenState> {
        let token = self.links.get(hash)?;
        let family = self.families.get(&token.family)?;
        let successor = token.rotated.and_then(|rotated| {
            let refresh = self.links.get(&rotated.successor)?;
            let access = self.access.get(&rotated.access)?;
            Some(Successor::new(refresh.clone(), access.clone()))
        });
        let state = RefreshTokenState::new(token.clone(), family.clone());
        Some(state.with_successor(successor))
    }

    fn access_token(&self, hash: &TokenHash) -> Option<AccessTokenState> {
        let token = self.access.get(hash)?;
        let family = token.family.and_then(|id| self.families.get(&id));
        Some(AccessTokenState::new(token.clone(), family.cloned()))
    }

    fn session(&self, hash: &TokenHash) -> Option<&SessionRecord> {
        self.sessions.values().find(|session| session.hash == *hash)
    }

    fn session_stands(&self, grant: &Grant, now: SystemTime) -> bool {
        grant.session.is_none_or(|id| {
            let session = self.sessions.get(&id);
            session.is_some_and(|session| session.state(now) == SessionState::Active)
        })
    }

    fn insert_session(&mut self, session: &SessionRecord) -> Insertion {
        if self.session(&session.hash).is_some() {
            return Insertion::Exists;
        }
        insert(&mut self.sessions, session.id, session)
    }

    fn change(
        &mut self,
        hash: &TokenHash,
        change: impl Fn(&SessionRecord) -> Option<SessionRecord>,
    ) -> SessionOutcome {
        match self.sessions.values_mut().find(|session| session.hash == *hash) {
            None => SessionOutcome::NotFound,
            Some(session) => match change(session) {
                None => SessionOutcome::Over,
                Some(changed) => {
                    *session = changed;
                    SessionOutcome::Done
                }
            },
        }
    }

    fn sessions_of(&self, subject: &Subject, now: SystemTime) -> Vec<SessionRecord> {
        let active = |session: &&SessionRecord| {
            session.subject == *subject && session.state(now) == SessionState::Active
        };
        let mut sessions: Vec<_> = self.sessions.values().filter(active).cloned().collect();
        // by name where two have the same start, as the map sorts them
        sessions.sort_by_key(|session| std::cmp::Reverse(session.created_at));
        sessions
    }

    fn redeem_reset_token(&mut self, hash: &TokenHash, now: SystemTime) -> ResetOutcome {
        let Some(ResetTokenRecord {
            subject: Some(subject),
            expires_at,
            ..
        }) = self.resets.get(hash).cloned()
        else {
            return ResetOutcome::NotFound;
        };
        if now >= expires_at {
            return ResetOutcome::Expired;
        }
        let revoked = self.revoke_subject(&subject, None, RevocationReason::PasswordReset, now);
        ResetOutcome::Redeemed { subject, revoked }
    }

    fn revoke_subject(
        &mut self,
        subject: &Subject,
        keep: Option<SessionId>,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Revoked {
        let kept = |session: Option<SessionId>| keep.is_some() && session == keep;
        let of_subject = |grant: &Grant| grant.subject == *subject && !kept(grant.session);
        let ends = |session: &SessionRecord| session.subject == *subject && !kept(Some(session.id));
        let mut revoked = self.end(ends, of_subject, reason, now);
        let before = self.resets.len();
        self.resets
            .retain(|_, token| token.subject.as_ref() != Some(subject));
        revoked.reset_tokens = count(before - self.resets.len());
        revoked
    }

    fn end_session(&mut self, id: SessionId, reason: RevocationReason, now: SystemTime) -> Revoked {
        let of_session = |grant: &Grant| grant.session == Some(id);
        self.end(|session| session.id == id, of_session, reason, now)
    }

    fn end(
        &mut self,
        ends: impl Fn(&SessionRecord) -> bool,
        granted: impl Fn(&Grant) -> bool,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Revoked {
        let mut revoked = Revoked::default();
        for session in self.sessions.values_mut().filter(|session| ends(session)) {
            if let Some(ended) = session.revoke(reason, now) {
                *session = ended;
                revoked.sessions += 1;
            }
        }
        for family in self.families.values_mut().filter(|family| granted(&family.grant)) {
            revoked.families += u64::from(revoke(family, reason, now) == RevokeOutcome::Revoked);
        }
        let before = self.codes.len();
        self.codes
            .retain(|_, code| code.redeemed.is_some() || !granted(&code.grant));
        revoked.codes = count(before - self.codes.len());
        revoked
    }
}

fn insert<K: Ord, V: Clone>(rows: &mut BTreeMap<K, V>, key: K, row: &V) -> Insertion {
    if rows.contains_key(&key) {
        return Insertion::Exists;
    }
    rows.insert(key, row.clone());
    Insertion::Inserted
}

fn revoke(family: &mut TokenFamily, reason: RevocationReason, now: SystemTime) -> RevokeOutcome {
    if family.revoked.is_some() {
        return RevokeOutcome::AlreadyRevoked;
    }
    family.revoked = Some(FamilyRevocation::new(reason, now));
    RevokeOutcome::Revoked
}

fn count(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}
