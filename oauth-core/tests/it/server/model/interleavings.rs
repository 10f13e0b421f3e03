//! Every interleaving of three requests to a server and its sessions, at the granularity of store
//! verbs.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::cell::RefCell;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::FutureExt as _;
use host_ports::testing::SeededEntropy;
use http::{HeaderMap, HeaderValue};
use oauth_core::secret::{PasswordResetToken, TokenHash};
use oauth_core::server::{Consent, EndpointResponse};
use oauth_core::session::{SessionCookie, Sessions};
use oauth_core::store::{RevocationReason, SessionId, SessionStore, TokenStore};
use oauth_core::vocabulary::Subject;
use oauth_core_conformance::verbs::VerbStore;

use super::live;
use super::schedule::{Gated, Schedule};
use crate::server::fixture::{Fixture, Tokens, redirected, web_request};

/// One of the three requests.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Request {
    /// Redeems a fresh code.
    Redeem,
    /// Refreshes the active token of another family.
    Refresh,
    /// Refreshes a tombstone of that family.
    RefreshSpent,
    /// Revokes that family.
    Revoke,
    /// Renews the session with a new secret.
    Renew,
    /// Ends the session by its id.
    End,
    /// Signs the browser out by the cookie of the start.
    SignOut,
    /// Ends everything of the user.
    SignOutEverywhere,
    /// Ends everything of the user but this session.
    SignOutElsewhere,
    /// Sets a new password.
    Reset,
}

use Request::{
    End, Redeem, Refresh, RefreshSpent, Renew, Reset, Revoke, SignOut, SignOutElsewhere, SignOutEverywhere,
};

const REQUESTS: [Request; 10] = [
    Redeem,
    Refresh,
    RefreshSpent,
    Revoke,
    Renew,
    End,
    SignOut,
    SignOutEverywhere,
    SignOutElsewhere,
    Reset,
];

/// O6, O10, S3: in any interleaving of three requests, no code and no token is exchanged twice. A
/// family has at most one active token, and none after a reuse, a revocation or a sign-out. All
/// else stays active.
#[test]
fn every_interleaving_leaves_expected_token_active() {
    let store = Arc::new(VerbStore(Gated::new()));
    let world = World::over(&store);
    let mut runs = 0;
    for (at, first) in REQUESTS.into_iter().enumerate() {
        for (then, second) in REQUESTS.into_iter().enumerate().skip(at) {
            for third in REQUESTS.into_iter().skip(then) {
                let requests = [first, second, third];
                let mut schedule = Schedule::default();
                while schedule.next() {
                    world.interleave(&store.0, requests, &mut schedule);
                    runs += 1;
                }
            }
        }
    }
    assert!(runs > 5_000, "{runs} schedules");
}

/// A server and sessions over one store, and their user.
struct World {
    fixture: Fixture,
    sessions: Sessions,
    store: Arc<VerbStore<Gated>>,
    ada: Subject,
}

/// The targets of the requests.
struct Things {
    session: SessionId,
    cookie: HeaderMap,
    code: String,
    spent: String,
    leaf: String,
    reset: PasswordResetToken,
}

/// The results of the requests.
#[derive(Default)]
struct Won {
    /// Refresh tokens that the code was redeemed for.
    bought: Vec<String>,
    /// Successors of the active token.
    refreshed: Vec<String>,
    /// Secrets of the session.
    secrets: Vec<TokenHash>,
    resets: usize,
}

impl World {
    fn over(store: &Arc<VerbStore<Gated>>) -> Self {
        let fixture = Fixture::with(store.clone(), |builder| builder);
        let cookie = SessionCookie::new("session").unwrap();
        let sessions = Sessions::new(
            store.clone(),
            cookie,
            fixture.clock.clone(),
            SeededEntropy::new(2),
        );
        Self {
            fixture,
            sessions,
            store: store.clone(),
            ada: "ada".parse().unwrap(),
        }
    }

    fn interleave(&self, gate: &Gated, requests: [Request; 3], schedule: &mut Schedule) {
        gate.closed.store(false, Ordering::Relaxed);
        let things = self.things().now_or_never().expect("open gates");
        let won = RefCell::new(Won::default());
        gate.closed.store(true, Ordering::Relaxed);
        let futures = requests.map(|request| -> Pin<Box<dyn Future<Output = ()>>> {
            Box::pin(self.make(request, &things, &won))
        });
        schedule.run(futures.into());
        gate.closed.store(false, Ordering::Relaxed);
        let said = format!("{requests:?} {:?}", schedule.choices);
        let checked = self.check(requests, &things, won.into_inner(), &said);
        checked.now_or_never().expect("open gates");
    }

    async fn things(&self) -> Things {
        let begun = self.sessions.sign_in(&HeaderMap::new(), &self.ada, None).await;
        let begun = begun.unwrap();
        let session = begun.session.record.id;
        let first = Tokens::of(&self.fixture.redeem(&self.code(session).await).await);
        let second = Tokens::of(&self.fixture.refresh(&first.refresh).await);
        Things {
            session,
            cookie: cookie(&begun.set_cookie),
            code: self.code(session).await,
            spent: first.refresh,
            leaf: second.refresh,
            reset: self
                .sessions
                .issue_reset("ada@example.com", Some(&self.ada))
                .await
                .unwrap()
                .expect("she exists"),
        }
    }

    /// Issues a code for Ada, who consents in this session.
    async fn code(&self, session: SessionId) -> String {
        let interaction = self.fixture.interact(&web_request()).await;
        let decision = Consent::Granted(self.fixture.ada().with_session(session));
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
        let (_, params) = redirected(&answer.response);
        params.optional("code").unwrap().to_owned()
    }

    async fn make(&self, request: Request, things: &Things, won: &RefCell<Won>) {
        let everywhere = RevocationReason::SignedOutEverywhere;
        match request {
            Redeem => {
                let answer = self.fixture.redeem(&things.code).await;
                won.borrow_mut().bought.extend(tokens(&answer));
            }
            Refresh => {
                let answer = self.fixture.refresh(&things.leaf).await;
                won.borrow_mut().refreshed.extend(tokens(&answer));
            }
            RefreshSpent => {
                let answer = self.fixture.refresh(&things.spent).await;
                assert_eq!(tokens(&answer), None);
            }
            Revoke => {
                let token = [("token", things.leaf.as_str())];
                let answer = self.fixture.revoke_as("web", &token).await;
                assert_eq!(answer.response.status(), 200);
            }
            Renew => {
                let renewed = self.sessions.renew(&things.cookie).await.unwrap();
                let secret = renewed.ok().map(|renewed| renewed.session.secret.hash());
                won.borrow_mut().secrets.extend(secret);
            }
            End => {
                self.sessions.end(&self.ada, &things.session).await.unwrap();
            }
            SignOut => {
                self.sessions.sign_out(&things.cookie).await.unwrap();
            }
            SignOutEverywhere | SignOutElsewhere => {
                let keep = (request == SignOutElsewhere).then_some(&things.session);
                let ended = self.sessions.sign_out_everywhere(&self.ada, keep, everywhere);
                let _ended = ended.await.unwrap();
            }
            Reset => {
                use oauth_core::store::ResetOutcome::Redeemed;
                let outcome = self.sessions.redeem_reset(&things.reset).await.unwrap();
                won.borrow_mut().resets += usize::from(matches!(outcome, Redeemed { .. }));
            }
        }
    }

    async fn check(&self, requests: [Request; 3], things: &Things, won: Won, said: &str) {
        let times = |one| requests.iter().filter(|request| **request == one).count();
        let any = |some: &[Request]| requests.iter().any(|request| some.contains(request));
        // signing out elsewhere drops the reset token, in either order
        let reset = times(Reset) > 0 && (won.resets > 0 || !any(&[SignOutElsewhere]));
        let over = any(&[End, SignOut, SignOutEverywhere]) || reset;
        assert!(won.resets <= 1, "{said}");

        assert!(won.bought.len() <= 1, "{said}");
        let lives = times(Redeem) == 1 && !over;
        assert_eq!(
            live(&self.fixture, &won.bought).await,
            usize::from(lives),
            "{said}"
        );

        assert!(won.refreshed.len() <= 1, "{said}");
        let lives = times(Refresh) <= 1 && !any(&[RefreshSpent, Revoke]) && !over;
        let mut chain = won.refreshed;
        chain.extend([things.spent.clone(), things.leaf.clone()]);
        assert_eq!(live(&self.fixture, &chain).await, usize::from(lives), "{said}");

        let mut secrets = won.secrets;
        assert!(secrets.len() <= 1, "{said}");
        let first = self.sessions.cookie().read(&things.cookie).unwrap();
        secrets.push(first.hash());
        let mut opening = 0;
        for secret in secrets {
            let session = self.store.session(&secret).await.unwrap();
            opening += usize::from(session.is_some_and(|session| session.ended.is_none()));
        }
        assert_eq!(opening, usize::from(!over), "{said}");
        let now = self.fixture.now() + std::time::Duration::from_secs(90 * 24 * 3600);
        self.store.purge_tokens(now).await.unwrap();
        self.store.purge_sessions(now).await.unwrap();
    }
}

/// The refresh token of a response, if it has one.
fn tokens(answer: &EndpointResponse) -> Option<String> {
    (answer.response.status() == 200).then(|| Tokens::of(answer).refresh)
}

/// The cookie header of the browser.
fn cookie(set_cookie: &HeaderValue) -> HeaderMap {
    let pair = set_cookie.to_str().unwrap().split(';').next().unwrap();
    HeaderMap::from_iter([(http::header::COOKIE, pair.parse().unwrap())])
}
