//! Grants of a session, which end with it.

use std::sync::Arc;

use host_ports::testing::SeededEntropy;
use http::HeaderMap;
use http::header::COOKIE;
use oauth_core::memory::MemoryTokens;
use oauth_core::server::Consent;
use oauth_core::session::{NewSession, SessionCookie, SessionTimeouts, Sessions};
use oauth_core::store::{RevocationReason, SessionId};

use super::fixture::{Fixture, Tokens, assert_error, reason, redirected, web_request, with_bearer};

/// The request headers of a browser with the cookie of this response.
fn browser(begun: &NewSession) -> HeaderMap {
    let (pair, _) = begun.set_cookie.to_str().unwrap().split_once(';').unwrap();
    HeaderMap::from_iter([(COOKIE, pair.parse().unwrap())])
}

struct SignedIn {
    fixture: Fixture,
    sessions: Sessions,
    session: SessionId,
    /// The request headers of the browser.
    headers: HeaderMap,
}

impl SignedIn {
    async fn new() -> Self {
        let store = Arc::new(MemoryTokens::new());
        let fixture = Fixture::with(store.clone(), |builder| builder);
        let cookie = SessionCookie::new("session").unwrap();
        let sessions = Sessions::new(store, cookie, fixture.clock.clone(), SeededEntropy::new(2));
        let ada = "ada".parse().unwrap();
        let begun = sessions.sign_in(&HeaderMap::new(), &ada, None).await.unwrap();
        let session = begun.session.record.id;
        Self {
            fixture,
            sessions,
            session,
            headers: browser(&begun),
        }
    }

    /// Issues a code for Ada, who consents in this session.
    async fn code(&self) -> String {
        let interaction = self.fixture.interact(&web_request()).await;
        let decision = Consent::Granted(self.fixture.ada().with_session(self.session));
        let browser = interaction.browser.expose();
        let server = &self.fixture.server;
        let answer = server
            .resume(
                &http::Request::post("/").body(()).unwrap(),
                &interaction.id,
                browser,
                decision,
            )
            .await;
        redirected(&answer.response)
            .1
            .optional("code")
            .unwrap()
            .to_owned()
    }
}

/// S3: a code is refused after its user has signed out everywhere.
#[tokio::test]
async fn code_is_refused_after_sign_out_everywhere() {
    let ada = SignedIn::new().await;
    let code = ada.code().await;
    let everywhere = RevocationReason::SignedOutEverywhere;
    let ended = ada
        .sessions
        .sign_out_everywhere(&"ada".parse().unwrap(), None, everywhere)
        .await
        .unwrap();
    assert_eq!(ended.codes, 1);
    let refused = ada.fixture.redeem(&code).await;
    assert_error(&refused, 400, "invalid_grant");
    assert_eq!(reason(&refused), "code_unknown");
    // consent in a session that had just ended
    let code = ada.code().await;
    let refused = ada.fixture.redeem(&code).await;
    assert_error(&refused, 400, "invalid_grant");
    assert_eq!(reason(&refused), "session_ended");
}

/// S3, O10, 110: the refresh token of an ended session is refused, with the reason of the end.
#[tokio::test]
async fn a_refresh_token_ends_with_its_session() {
    let ada = SignedIn::new().await;
    let code = ada.code().await;
    let tokens = Tokens::of(&ada.fixture.redeem(&code).await);
    assert!(
        ada.sessions
            .end(&"ada".parse().unwrap(), &ada.session)
            .await
            .unwrap()
    );
    let refused = ada.fixture.refresh(&tokens.refresh).await;
    assert_error(&refused, 400, "invalid_grant");
    assert_eq!(reason(&refused), "token_family_revoked");
}

/// S3, O18, 110: the access token of an ended session is refused at the UserInfo endpoint.
#[tokio::test]
async fn userinfo_ends_with_the_session() {
    let ada = SignedIn::new().await;
    let code = ada.code().await;
    let token = Tokens::of(&ada.fixture.redeem(&code).await).access;
    let asked = || ada.fixture.server.userinfo(with_bearer(&token));
    assert_eq!(asked().await.response.status(), 200);
    let subject = "ada".parse().unwrap();
    assert!(ada.sessions.end(&subject, &ada.session).await.unwrap());
    let refused = asked().await;
    assert_eq!(refused.response.status(), 401);
    assert_eq!(reason(&refused), "access_token_revoked");
}

/// S1, S2, 110: grants of a session outlive its timeout, until its user signs out.
#[tokio::test]
async fn signing_out_after_timeout_revokes_grants() {
    let ada = SignedIn::new().await;
    let tokens = Tokens::of(&ada.fixture.redeem(&ada.code().await).await);
    ada.fixture.clock.advance(SessionTimeouts::default().idle());
    let tokens = Tokens::of(&ada.fixture.refresh(&tokens.refresh).await);
    ada.sessions.sign_out(&ada.headers).await.unwrap();
    let refused = ada.fixture.refresh(&tokens.refresh).await;
    assert_error(&refused, 400, "invalid_grant");
    assert_eq!(reason(&refused), "token_family_revoked");
}

/// S1, S2: signing in again after a timeout is no sign-out: earlier grants stay active.
#[tokio::test]
async fn signing_in_after_timeout_revokes_nothing() {
    for again in [false, true] {
        let ada = SignedIn::new().await;
        let tokens = Tokens::of(&ada.fixture.redeem(&ada.code().await).await);
        ada.fixture.clock.advance(SessionTimeouts::default().idle());
        let (sessions, subject) = (&ada.sessions, "ada".parse().unwrap());
        let begun = match again {
            true => sessions.sign_in_again(&ada.headers, &subject, None).await,
            false => sessions.sign_in(&ada.headers, &subject, None).await,
        };
        assert_ne!(begun.unwrap().session.record.id, ada.session);
        Tokens::of(&ada.fixture.refresh(&tokens.refresh).await);
    }
}
