mod sessions;

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::SystemTime;

use async_trait::async_trait;

use super::{count, insert, lock};
use crate::ports::StoreError;
use crate::secret::TokenHash;
use crate::store::{
    AccessTokenRecord, AccessTokenState, AuthorizationCodeRecord, CodeRedemption, FamilyId, FamilyRevocation,
    Insertion, RedeemOutcome, RefreshTokenRecord, RefreshTokenState, ResetTokenRecord, RevocationReason,
    RevokeOutcome, RotateOutcome, Rotated, Rotation, SessionRecord, Successor, TokenFamily, TokenStore,
};

/// Codes, families, tokens and sessions in memory.
#[derive(Debug, Default)]
pub struct MemoryTokens {
    tables: Mutex<Tables>,
}

#[derive(Debug, Default)]
struct Tables {
    codes: HashMap<TokenHash, AuthorizationCodeRecord>,
    families: HashMap<FamilyId, TokenFamily>,
    refresh: HashMap<TokenHash, RefreshTokenRecord>,
    access: HashMap<TokenHash, AccessTokenRecord>,
    sessions: HashMap<TokenHash, SessionRecord>,
    reset_tokens: HashMap<TokenHash, ResetTokenRecord>,
}

impl MemoryTokens {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

#[async_trait]
impl TokenStore for MemoryTokens {
    async fn insert_code(&self, code: AuthorizationCodeRecord) -> Result<Insertion, StoreError> {
        Ok(insert(&mut lock(&self.tables).codes, code.hash, code))
    }

    async fn code(&self, hash: &TokenHash) -> Result<Option<AuthorizationCodeRecord>, StoreError> {
        Ok(lock(&self.tables).codes.get(hash).cloned())
    }

    async fn redeem_code(
        &self,
        redemption: CodeRedemption,
        now: SystemTime,
    ) -> Result<RedeemOutcome, StoreError> {
        Ok(lock(&self.tables).redeem_code(redemption, now))
    }

    async fn insert_access_token(&self, token: AccessTokenRecord) -> Result<Insertion, StoreError> {
        Ok(insert(&mut lock(&self.tables).access, token.hash, token))
    }

    async fn access_token(&self, hash: &TokenHash) -> Result<Option<AccessTokenState>, StoreError> {
        let tables = lock(&self.tables);
        let Some(token) = tables.access.get(hash).cloned() else {
            return Ok(None);
        };
        let family = token.family.and_then(|id| tables.families.get(&id)).cloned();
        Ok(Some(AccessTokenState::new(token, family)))
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
        let Some(family) = tables.families.get_mut(id) else {
            return Ok(RevokeOutcome::NotFound);
        };
        Ok(set_once(&mut family.revoked, FamilyRevocation::new(reason, now)))
    }

    async fn revoke_access_token(
        &self,
        hash: &TokenHash,
        now: SystemTime,
    ) -> Result<RevokeOutcome, StoreError> {
        let mut tables = lock(&self.tables);
        let Some(token) = tables.access.get_mut(hash) else {
            return Ok(RevokeOutcome::NotFound);
        };
        Ok(set_once(&mut token.revoked_at, now))
    }

    async fn purge_tokens(&self, now: SystemTime) -> Result<u64, StoreError> {
        Ok(count(lock(&self.tables).purge(now)))
    }
}

impl Tables {
    fn refresh_token(&self, hash: &TokenHash) -> Option<RefreshTokenState> {
        let token = self.refresh.get(hash)?;
        let family = self.families.get(&token.family)?;
        let state = RefreshTokenState::new(token.clone(), family.clone());
        Some(state.with_successor(token.rotated.and_then(|rotated| self.successor(&rotated))))
    }

    fn successor(&self, rotated: &Rotated) -> Option<Successor> {
        let refresh = self.refresh.get(&rotated.successor)?;
        let access = self.access.get(&rotated.access)?;
        Some(Successor::new(refresh.clone(), access.clone()))
    }

    fn redeem_code(&mut self, redemption: CodeRedemption, now: SystemTime) -> RedeemOutcome {
        let stands = self.session_stands(&redemption.family.grant, now);
        let Some(code) = self.codes.get_mut(&redemption.code) else {
            return RedeemOutcome::NotFound;
        };
        if let Some(family) = code.redeemed {
            return RedeemOutcome::AlreadyRedeemed { family };
        }
        if now >= code.expires_at {
            return RedeemOutcome::Expired;
        }
        if !stands {
            return RedeemOutcome::SessionEnded;
        }
        code.redeemed = Some(redemption.family.id);
        self.families.insert(redemption.family.id, redemption.family);
        self.access.insert(redemption.access.hash, redemption.access);
        self.refresh
            .extend(redemption.refresh.map(|token| (token.hash, token)));
        RedeemOutcome::Redeemed
    }

    fn rotate(&mut self, rotation: Rotation, now: SystemTime) -> RotateOutcome {
        let Some(presented) = self.refresh.get_mut(&rotation.presented) else {
            return RotateOutcome::NotFound;
        };
        let Some(family) = self.families.get(&presented.family) else {
            return RotateOutcome::NotFound;
        };
        if family.revoked.is_some() {
            return RotateOutcome::FamilyRevoked;
        }
        if presented.rotated.is_some() {
            return RotateOutcome::Superseded;
        }
        if now >= presented.expires_at || now >= family.expires_at {
            return RotateOutcome::Expired;
        }
        presented.rotated = Some(rotation.rotated(now));
        self.refresh.insert(rotation.successor.hash, rotation.successor);
        self.access.insert(rotation.access.hash, rotation.access);
        RotateOutcome::Rotated
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

fn set_once<T>(slot: &mut Option<T>, value: T) -> RevokeOutcome {
    if slot.is_some() {
        return RevokeOutcome::AlreadyRevoked;
    }
    *slot = Some(value);
    RevokeOutcome::Revoked
}
