use std::time::SystemTime;

use async_trait::async_trait;

use super::{Reply, Respond, VerbStore};
use oauth_core::ports::StoreError;
use oauth_core::secret::TokenHash;
use oauth_core::store::{
    AccessTokenRecord, AccessTokenState, AuthorizationCodeRecord, CodeRedemption, FamilyId, Insertion,
    RedeemOutcome, RefreshTokenState, RevocationReason, RevokeOutcome, Revoked, RotateOutcome, Rotation,
    TokenStore,
};
use oauth_core::vocabulary::{ClientId, Subject};

/// A call of a [`TokenStore`].
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_enums,
    clippy::large_enum_variant,
    reason = "one of each verb, for tests"
)]
pub enum TokenVerb {
    /// [`TokenStore::insert_code`].
    InsertCode(AuthorizationCodeRecord),
    /// [`TokenStore::code`].
    Code(TokenHash),
    /// [`TokenStore::redeem_code`].
    RedeemCode(CodeRedemption, SystemTime),
    /// [`TokenStore::insert_access_token`].
    InsertAccessToken(AccessTokenRecord),
    /// [`TokenStore::access_token`].
    AccessToken(TokenHash),
    /// [`TokenStore::refresh_token`].
    RefreshToken(TokenHash),
    /// [`TokenStore::rotate`].
    Rotate(Rotation, SystemTime),
    /// [`TokenStore::revoke_family`].
    RevokeFamily(FamilyId, RevocationReason, SystemTime),
    /// [`TokenStore::revoke_grants`].
    RevokeGrants(Subject, ClientId, RevocationReason, SystemTime),
    /// [`TokenStore::revoke_access_token`].
    RevokeAccessToken(TokenHash, SystemTime),
    /// [`TokenStore::purge_tokens`].
    Purge(SystemTime),
}

impl TokenVerb {
    /// Returns `true` if the verb only reads.
    #[must_use]
    pub const fn is_lookup(&self) -> bool {
        matches!(self, Self::Code(_) | Self::AccessToken(_) | Self::RefreshToken(_))
    }

    /// Returns the `now` of the caller; `None` if the verb has none.
    pub const fn now_mut(&mut self) -> Option<&mut SystemTime> {
        match self {
            Self::RedeemCode(_, now)
            | Self::Rotate(_, now)
            | Self::RevokeFamily(_, _, now)
            | Self::RevokeGrants(_, _, _, now)
            | Self::RevokeAccessToken(_, now)
            | Self::Purge(now) => Some(now),
            Self::InsertCode(_)
            | Self::Code(_)
            | Self::InsertAccessToken(_)
            | Self::AccessToken(_)
            | Self::RefreshToken(_) => None,
        }
    }

    /// Performs the verb on `store`.
    ///
    /// # Errors
    ///
    /// [`StoreError`] of the called verb.
    pub async fn call(self, store: &dyn TokenStore) -> Result<Reply, StoreError> {
        Ok(match self {
            Self::InsertCode(code) => store.insert_code(code).await?.into(),
            Self::Code(hash) => store.code(&hash).await?.into(),
            Self::RedeemCode(redemption, now) => store.redeem_code(redemption, now).await?.into(),
            Self::InsertAccessToken(token) => store.insert_access_token(token).await?.into(),
            Self::AccessToken(hash) => store.access_token(&hash).await?.into(),
            Self::RefreshToken(hash) => store.refresh_token(&hash).await?.into(),
            Self::Rotate(rotation, now) => store.rotate(rotation, now).await?.into(),
            Self::RevokeFamily(id, reason, now) => store.revoke_family(&id, reason, now).await?.into(),
            Self::RevokeGrants(subject, client_id, reason, now) => {
                let revoked = store.revoke_grants(&subject, &client_id, reason, now);
                revoked.await?.into()
            }
            Self::RevokeAccessToken(hash, now) => store.revoke_access_token(&hash, now).await?.into(),
            Self::Purge(now) => store.purge_tokens(now).await?.into(),
        })
    }
}

#[async_trait]
impl<R: Respond> TokenStore for VerbStore<R> {
    async fn insert_code(&self, code: AuthorizationCodeRecord) -> Result<Insertion, StoreError> {
        self.ask(TokenVerb::InsertCode(code)).await
    }

    async fn code(&self, hash: &TokenHash) -> Result<Option<AuthorizationCodeRecord>, StoreError> {
        self.ask(TokenVerb::Code(*hash)).await
    }

    async fn redeem_code(
        &self,
        redemption: CodeRedemption,
        now: SystemTime,
    ) -> Result<RedeemOutcome, StoreError> {
        self.ask(TokenVerb::RedeemCode(redemption, now)).await
    }

    async fn insert_access_token(&self, token: AccessTokenRecord) -> Result<Insertion, StoreError> {
        self.ask(TokenVerb::InsertAccessToken(token)).await
    }

    async fn access_token(&self, hash: &TokenHash) -> Result<Option<AccessTokenState>, StoreError> {
        self.ask(TokenVerb::AccessToken(*hash)).await
    }

    async fn refresh_token(&self, hash: &TokenHash) -> Result<Option<RefreshTokenState>, StoreError> {
        self.ask(TokenVerb::RefreshToken(*hash)).await
    }

    async fn rotate(&self, rotation: Rotation, now: SystemTime) -> Result<RotateOutcome, StoreError> {
        self.ask(TokenVerb::Rotate(rotation, now)).await
    }

    async fn revoke_family(
        &self,
        id: &FamilyId,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<RevokeOutcome, StoreError> {
        self.ask(TokenVerb::RevokeFamily(*id, reason, now)).await
    }

    async fn revoke_access_token(
        &self,
        hash: &TokenHash,
        now: SystemTime,
    ) -> Result<RevokeOutcome, StoreError> {
        self.ask(TokenVerb::RevokeAccessToken(*hash, now)).await
    }

    async fn revoke_grants(
        &self,
        subject: &Subject,
        client_id: &ClientId,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<Revoked, StoreError> {
        let verb = TokenVerb::RevokeGrants(subject.clone(), client_id.clone(), reason, now);
        self.ask(verb).await
    }

    async fn purge_tokens(&self, now: SystemTime) -> Result<u64, StoreError> {
        self.ask(TokenVerb::Purge(now)).await
    }
}
