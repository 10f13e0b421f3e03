//! A store that fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use http::Method;
use oauth_core::memory::MemoryTokens;
use oauth_core::secret::TokenHash;
use oauth_core::server::Decision;
use oauth_core::store::{
    AccessTokenRecord, AccessTokenState, AuthorizationCodeRecord, CodeRedemption, FamilyId, Insertion,
    RedeemOutcome, RefreshTokenState, RevocationReason, RevokeOutcome, RotateOutcome, Rotation, TokenStore,
};
use oauth_core::store_error::StoreError;

use super::fixture::{Fixture, Tokens, assert_error, basic, codes, post, reason, web_request, with_bearer};

/// The memory store, with a switch.
#[derive(Default)]
struct Faulty {
    store: MemoryTokens,
    down: AtomicBool,
    garbled: AtomicBool,
}

impl Faulty {
    fn up(&self) -> Result<&MemoryTokens, StoreError> {
        if self.down.load(Ordering::Relaxed) {
            Err(StoreError::unavailable("the disk is full of secrets"))
        } else if self.garbled.load(Ordering::Relaxed) {
            Err(StoreError::corrupt("a row of secrets"))
        } else {
            Ok(&self.store)
        }
    }
}

#[async_trait::async_trait]
impl TokenStore for Faulty {
    async fn insert_code(&self, code: AuthorizationCodeRecord) -> Result<Insertion, StoreError> {
        self.up()?.insert_code(code).await
    }
    async fn code(&self, hash: &TokenHash) -> Result<Option<AuthorizationCodeRecord>, StoreError> {
        self.up()?.code(hash).await
    }
    async fn redeem_code(
        &self,
        redemption: CodeRedemption,
        now: SystemTime,
    ) -> Result<RedeemOutcome, StoreError> {
        self.up()?.redeem_code(redemption, now).await
    }
    async fn insert_access_token(&self, token: AccessTokenRecord) -> Result<Insertion, StoreError> {
        self.up()?.insert_access_token(token).await
    }
    async fn access_token(&self, hash: &TokenHash) -> Result<Option<AccessTokenState>, StoreError> {
        self.up()?.access_token(hash).await
    }
    async fn refresh_token(&self, hash: &TokenHash) -> Result<Option<RefreshTokenState>, StoreError> {
        self.up()?.refresh_token(hash).await
    }
    async fn rotate(&self, rotation: Rotation, now: SystemTime) -> Result<RotateOutcome, StoreError> {
        self.up()?.rotate(rotation, now).await
    }
    async fn revoke_family(
        &self,
        id: &FamilyId,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<RevokeOutcome, StoreError> {
        self.up()?.revoke_family(id, reason, now).await
    }
    async fn revoke_access_token(
        &self,
        hash: &TokenHash,
        now: SystemTime,
    ) -> Result<RevokeOutcome, StoreError> {
        self.up()?.revoke_access_token(hash, now).await
    }
    async fn purge_tokens(&self, now: SystemTime) -> Result<u64, StoreError> {
        self.up()?.purge_tokens(now).await
    }
}

/// O13, O26, 63: 503 with `Retry-After`, the cause for the host alone, and nothing consumed.
#[tokio::test]
async fn a_store_that_is_down_is_a_503_and_consumes_nothing() {
    let store = Arc::new(Faulty::default());
    let fixture = Fixture::with(store.clone(), |builder| builder);
    let tokens = fixture.sign_in().await;
    let code = fixture.code().await;
    store.down.store(true, Ordering::Relaxed);
    let token = [("token", tokens.access.as_str())];
    for answer in [
        fixture.redeem(&code).await,
        fixture.refresh(&tokens.refresh).await,
        fixture
            .token_as("service", &vec![("grant_type", "client_credentials")])
            .await,
        fixture.server.introspect(post(basic("web"), &token)).await,
        fixture.revoke_as("web", &token).await,
        fixture.server.userinfo(with_bearer(&tokens.access)).await,
    ] {
        assert_error(&answer, 503, "temporarily_unavailable");
        assert!(answer.response.headers().contains_key("retry-after"));
        assert_eq!(codes(&answer.events), ["server_failed"]);
        assert_eq!(reason(&answer), "store_unavailable");
        assert!(!String::from_utf8_lossy(answer.response.body()).contains("disk"));
        assert!(answer.fault.is_some_and(|fault| {
            fault
                .source()
                .is_some_and(|cause| cause.to_string().contains("disk"))
        }));
    }
    store.down.store(false, Ordering::Relaxed);
    Tokens::of(&fixture.redeem(&code).await);
    Tokens::of(&fixture.refresh(&tokens.refresh).await);
}

/// O26: coming back does not help where a row cannot be read, so nobody is told to.
#[tokio::test]
async fn a_store_that_cannot_read_its_rows_is_a_500() {
    let store = Arc::new(Faulty::default());
    let fixture = Fixture::with(store.clone(), |builder| builder);
    let tokens = fixture.sign_in().await;
    store.garbled.store(true, Ordering::Relaxed);
    let answer = fixture.refresh(&tokens.refresh).await;
    assert_error(&answer, 500, "server_error");
    assert!(!answer.response.headers().contains_key("retry-after"));
    assert_eq!(reason(&answer), "store_corrupt");
}

/// O24: on the front channel the person sees a page.
#[tokio::test]
async fn a_store_that_is_down_is_a_page_for_the_person() {
    let store = Arc::new(Faulty::default());
    let fixture = Fixture::with(store.clone(), |builder| builder);
    let interaction = fixture.interact(&web_request()).await;
    store.down.store(true, Ordering::Relaxed);
    let decision = Decision::Granted(fixture.ada());
    let answer = fixture
        .server
        .resume(
            &Method::POST,
            &interaction.id,
            interaction.browser.expose(),
            decision,
        )
        .await;
    assert_eq!(answer.response.status(), 503);
    assert_eq!(
        answer.response.headers()["content-type"],
        "text/html; charset=utf-8"
    );
    assert!(answer.fault.is_some());
}
