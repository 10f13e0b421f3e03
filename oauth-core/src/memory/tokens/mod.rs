mod logouts;
mod sessions;

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::SystemTime;

use async_trait::async_trait;

use super::{count, insert, lock};
use crate::ports::StoreError;
use crate::secret::TokenHash;
use crate::store::{
    AccessTokenRecord, AccessTokenState, AuthorizationCodeRecord, CodeRedemption, CodeSnapshot, FamilyId,
    FamilyRevocation, Insertion, LogoutRecord, RedeemOutcome, RefreshTokenRecord, RefreshTokenSnapshot,
    RefreshTokenState, ResetTokenRecord, RevocationReason, RevokeOutcome, Revoked, RotateOutcome, Rotated,
    Rotation, SessionId, SessionRecord, Successor, TokenFamily, TokenStore,
};

use crate::vocabulary::{ClientId, Subject};
use sessions::End;

/// Store of codes, token families, tokens, sessions and reset tokens in memory.
#[derive(Debug, Default)]
pub struct MemoryTokens {
    tables: Mutex<Tables>,
}

/// The large records are boxed, because a map moves its values when it grows.
#[derive(Debug, Default)]
struct Tables {
    codes: HashMap<TokenHash, Box<AuthorizationCodeRecord>>,
    families: HashMap<FamilyId, Box<TokenFamily>>,
    refresh: HashMap<TokenHash, Box<RefreshTokenRecord>>,
    access: HashMap<TokenHash, Box<AccessTokenRecord>>,
    sessions: HashMap<TokenHash, SessionRecord>,
    reset_tokens: HashMap<TokenHash, ResetTokenRecord>,
    logouts: HashMap<(SessionId, ClientId), LogoutRecord>,
}

impl MemoryTokens {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

#[async_trait]
impl TokenStore for MemoryTokens {
    async fn insert_code(&self, code: AuthorizationCodeRecord) -> Result<Insertion, StoreError> {
        let (hash, code) = (code.hash, Box::new(code));
        Ok(insert(&mut lock(&self.tables).codes, hash, code))
    }

    async fn code(&self, hash: &TokenHash) -> Result<Option<AuthorizationCodeRecord>, StoreError> {
        Ok(lock(&self.tables).codes.get(hash).map(|code| (**code).clone()))
    }

    async fn redeem_code(
        &self,
        redemption: CodeRedemption,
        now: SystemTime,
    ) -> Result<RedeemOutcome, StoreError> {
        Ok(lock(&self.tables).redeem_code(redemption, now))
    }

    async fn insert_access_token(&self, token: AccessTokenRecord) -> Result<Insertion, StoreError> {
        let (hash, token) = (token.hash, Box::new(token));
        Ok(insert(&mut lock(&self.tables).access, hash, token))
    }

    async fn access_token(&self, hash: &TokenHash) -> Result<Option<AccessTokenState>, StoreError> {
        let tables = lock(&self.tables);
        let Some(token) = tables.access.get(hash) else {
            return Ok(None);
        };
        let family = token.family.and_then(|id| tables.families.get(&id));
        let family = family.map(|family| (**family).clone());
        Ok(Some(AccessTokenState::new((**token).clone(), family)))
    }

    async fn refresh_token(&self, hash: &TokenHash) -> Result<Option<RefreshTokenState>, StoreError> {
        let tables = lock(&self.tables);
        Ok(tables.refresh_token(hash))
    }

    async fn rotate(&self, rotation: Rotation, now: SystemTime) -> Result<RotateOutcome, StoreError> {
        Ok(lock(&self.tables).rotate(rotation, now))
    }

    async fn revoke_family(
        &self,
        id: &FamilyId,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<RevokeOutcome, StoreError> {
        let mut tables = lock(&self.tables);
        let family = tables.families.get_mut(id);
        let revocation = FamilyRevocation::new(reason, now);
        Ok(set_once(family.map(|family| &mut family.revoked), revocation))
    }

    async fn revoke_access_token(
        &self,
        hash: &TokenHash,
        now: SystemTime,
    ) -> Result<RevokeOutcome, StoreError> {
        let mut tables = lock(&self.tables);
        let token = tables.access.get_mut(hash);
        Ok(set_once(token.map(|token| &mut token.revoked_at), now))
    }

    async fn revoke_grants(
        &self,
        subject: &Subject,
        client_id: &ClientId,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<Revoked, StoreError> {
        let end = End { reason, now };
        Ok(lock(&self.tables).revoke_grants(&end, subject, client_id))
    }

    async fn purge_tokens(&self, now: SystemTime) -> Result<u64, StoreError> {
        Ok(count(lock(&self.tables).purge(now)))
    }
}

impl Tables {
    fn refresh_token(&self, hash: &TokenHash) -> Option<RefreshTokenState> {
        let token = self.refresh.get(hash)?;
        let family = self.families.get(&token.family)?;
        let state = RefreshTokenState::new((**token).clone(), (**family).clone());
        Some(state.with_successor(token.rotated.and_then(|rotated| self.successor(&rotated))))
    }

    fn successor(&self, rotated: &Rotated) -> Option<Successor> {
        let refresh = self.refresh.get(&rotated.successor)?;
        let access = self.access.get(&rotated.access)?;
        Some(Successor::new((**refresh).clone(), (**access).clone()))
    }

    fn redeem_code(&mut self, redemption: CodeRedemption, now: SystemTime) -> RedeemOutcome {
        let is_session_active = self.is_session_active(&redemption.family.grant, now);
        let code = self.codes.get_mut(&redemption.code);
        let snapshot = code
            .as_deref()
            .map(|code| CodeSnapshot::new(code, is_session_active));
        let outcome = RedeemOutcome::decide(snapshot, now);
        if let (RedeemOutcome::Redeemed, Some(code)) = (outcome, code) {
            code.redeemed = Some(redemption.family.id);
            self.families
                .insert(redemption.family.id, Box::new(redemption.family));
            self.access
                .insert(redemption.access.hash, Box::new(redemption.access));
            self.refresh
                .extend(redemption.refresh.map(|token| (token.hash, Box::new(token))));
        }
        outcome
    }

    fn rotate(&mut self, rotation: Rotation, now: SystemTime) -> RotateOutcome {
        let presented = self.refresh.get_mut(&rotation.presented);
        let found = presented.and_then(|token| Some((self.families.get(&token.family)?, token)));
        let snapshot = found
            .as_ref()
            .map(|(family, token)| RefreshTokenSnapshot::new(token, family));
        let outcome = RotateOutcome::decide(snapshot, now);
        if let (RotateOutcome::Rotated, Some((_, presented))) = (outcome, found) {
            presented.rotated = Some(rotation.to_rotated(now));
            self.refresh
                .insert(rotation.successor.hash, Box::new(rotation.successor));
            self.access
                .insert(rotation.access.hash, Box::new(rotation.access));
        }
        outcome
    }

    fn purge(&mut self, now: SystemTime) -> usize {
        let before = self.rows();
        self.codes.retain(|_, code| {
            now < if code.redeemed.is_some() {
                code.retain_until
            } else {
                code.expires_at
            }
        });
        self.families.retain(|_, family| now < family.retain_until);
        self.refresh
            .retain(|_, token| self.families.contains_key(&token.family));
        self.access.retain(|_, token| now < token.terms.expires_at);
        before - self.rows()
    }

    fn rows(&self) -> usize {
        self.codes.len() + self.families.len() + self.refresh.len() + self.access.len()
    }
}

/// Sets `slot` to `value` if it has no value yet. `None`: the record does not exist.
fn set_once<T>(slot: Option<&mut Option<T>>, value: T) -> RevokeOutcome {
    let outcome = RevokeOutcome::decide(slot.as_deref().map(|slot| slot.is_some()));
    if let (RevokeOutcome::Revoked, Some(slot)) = (outcome, slot) {
        *slot = Some(value);
    }
    outcome
}
