//! Locked accounts, and the shape of scopes.

use std::sync::Arc;

use async_trait::async_trait;
use http::Request;
use oauth_core::ResourceServer;
use oauth_core::error::Reason;
use oauth_core::memory::{MemorySubjectLocks, MemoryTokens};
use oauth_core::ports::StoreError;
use oauth_core::resource::ChallengeReason;
use oauth_core::server::{AuthorizationServer, AuthorizationServerBuilder, ConfigMistake};
use oauth_core::store::{RegisteredClient, RevocationReason, SubjectLocks, SubjectStatus, TokenStore};
use oauth_core::vocabulary::Subject;

use super::fixture::{
    API, Fixture, ISSUER, Tokens, basic, change, post, reason, redirected, web_request, with_bearer,
};

fn fixture() -> (Fixture, Arc<MemorySubjectLocks>) {
    let locks = Arc::new(MemorySubjectLocks::new());
    let status = locks.clone();
    let fixture = Fixture::with(Arc::new(MemoryTokens::new()), |builder| {
        builder.with_subject_status(status)
    });
    (fixture, locks)
}

fn api(fixture: &Fixture, status: impl SubjectStatus + 'static) -> ResourceServer {
    let (issuer, audience) = (ISSUER.parse().unwrap(), API.parse().unwrap());
    ResourceServer::new(issuer, audience, fixture.keys()).with_subject_status(status)
}

/// O45: the tokens of a locked user are inactive everywhere at once, and valid again after the
/// lock, except those of a family that was revoked meanwhile.
#[tokio::test]
async fn locked_user_has_no_active_token() {
    let (fixture, locks) = fixture();
    let (kept, revoked) = (fixture.sign_in().await, fixture.sign_in().await);
    let code = fixture.code().await;
    let api = api(&fixture, locks.clone());
    let call = async |token: &str| {
        let (parts, ()) = Request::get("https://api.example/")
            .header("authorization", format!("Bearer {token}"))
            .body(())
            .unwrap()
            .into_parts();
        api.authenticate(&parts, fixture.now()).await.map(drop)
    };
    let ada: Subject = "ada".parse().unwrap();
    assert!(call(&kept.access).await.is_ok());
    locks.lock_subject(&ada).await.unwrap();
    let refused = call(&kept.access).await.unwrap_err();
    assert_eq!(*refused.reason(), ChallengeReason::LockedSubject);
    for token in [&kept.access, &kept.refresh] {
        assert!(!fixture.is_active(token).await);
    }
    let userinfo = fixture.server.userinfo(with_bearer(&kept.access)).await;
    assert_eq!(
        (userinfo.response.status().as_u16(), reason(&userinfo)),
        (401, "subject_locked")
    );
    for answer in [fixture.refresh(&kept.refresh).await, fixture.redeem(&code).await] {
        assert_eq!(
            (answer.response.status().as_u16(), reason(&answer)),
            (400, "subject_locked")
        );
    }
    let interaction = fixture.interact(&web_request()).await;
    let (_, params) = redirected(&fixture.grant(&interaction).await.response);
    assert_eq!(params.optional("error"), Some("access_denied"));

    let family = fixture
        .tokens
        .refresh_token(
            &revoked
                .refresh
                .parse::<oauth_core::secret::RefreshToken>()
                .unwrap()
                .hash(),
        )
        .await;
    let family = family.unwrap().unwrap().family.id;
    let reason = RevocationReason::SuspiciousActivity;
    let _outcome = fixture
        .tokens
        .revoke_family(&family, reason, fixture.now())
        .await
        .unwrap();
    locks.unlock_subject(&ada).await.unwrap();
    assert!(call(&kept.access).await.is_ok());
    assert!(!fixture.is_active(&revoked.refresh).await);
    Tokens::of(&fixture.refresh(&kept.refresh).await);
    Tokens::of(&fixture.redeem(&code).await);
}

/// O45: a lock of one user changes nothing for others, nor for clients without a user.
#[tokio::test]
async fn lock_leaves_other_users_active() {
    let (fixture, locks) = fixture();
    locks.lock_subject(&"bob".parse().unwrap()).await.unwrap();
    let tokens = fixture.sign_in().await;
    assert!(fixture.is_active(&tokens.access).await);
    let pairs = [("grant_type", "client_credentials"), ("scope", "read:charges")];
    Tokens::of(&fixture.server.token(post(basic("service"), &pairs)).await);
}

struct Broken;

#[async_trait]
impl SubjectStatus for Broken {
    async fn is_locked(&self, _: &Subject) -> Result<bool, StoreError> {
        Err(StoreError::unavailable("the accounts"))
    }
}

/// O45: if the accounts cannot be read, the API answers 503 and accepts nothing.
#[tokio::test]
async fn unreadable_accounts_refuse_tokens() {
    let (fixture, _) = fixture();
    let tokens = fixture.sign_in().await;
    let request = with_bearer(&tokens.access);
    let (parts, _) = request.into_parts();
    let refused = api(&fixture, Broken)
        .authenticate(&parts, fixture.now())
        .await
        .unwrap_err();
    assert_eq!(*refused.reason(), ChallengeReason::Unavailable);
    let broken = Fixture::with(fixture.tokens.clone(), |builder| {
        builder.with_subject_status(Broken)
    });
    let answer = broken.refresh(&tokens.refresh).await;
    assert_eq!(answer.response.status(), 503);
    // nothing was used up
    Tokens::of(&fixture.refresh(&tokens.refresh).await);
}

/// O46: with the policy, a scope of another shape is refused at each grant and in the settings;
/// without it, any scope is accepted.
#[tokio::test]
async fn scopes_of_another_shape_are_refused() {
    let shaped = Fixture::with(
        Arc::new(MemoryTokens::new()),
        AuthorizationServerBuilder::with_verb_noun_scopes,
    );
    let free = Fixture::new();
    let register =
        |client: RegisteredClient| client.with_scopes("openid admin read:charges".parse().unwrap());
    for fixture in [&shaped, &free] {
        fixture.change_client("web", register).await;
        fixture.change_client("service", register).await;
    }
    let request = change(web_request(), "scope", Some("openid admin"));
    let refused = shaped.refused(&request).await;
    assert_eq!(reason(&refused), Reason::ScopeShape.code());
    assert_eq!(
        redirected(&refused.response).1.optional("error"),
        Some("invalid_scope")
    );
    free.code_for(&request).await;
    shaped
        .code_for(&change(web_request(), "scope", Some("openid read:charges")))
        .await;

    let pairs = [("grant_type", "client_credentials"), ("scope", "admin")];
    let refused = shaped.server.token(post(basic("service"), &pairs)).await;
    assert_eq!(reason(&refused), Reason::ScopeShape.code());
    let body: serde_json::Value = serde_json::from_slice(refused.response.body()).unwrap();
    assert_eq!(body["error"], "invalid_scope");

    let builder = AuthorizationServer::builder(ISSUER).with_scopes("admin".parse().unwrap());
    let error = builder.with_verb_noun_scopes().build().unwrap_err();
    assert!(error.mistakes().contains(&ConfigMistake::ScopeShape));
}
