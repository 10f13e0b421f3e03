//! Exhaustive models of a code and the family it buys: every short history, and every interleaving of a few requests at
//! the granularity of store verbs.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, SystemTime};

use futures_util::FutureExt as _;
use oauth_core::memory::MemoryTokens;
use oauth_core::secret::TokenHash;
use oauth_core::server::Answer;
use oauth_core::store::{
    AccessTokenRecord, AccessTokenState, AuthorizationCodeRecord, CodeRedemption, FamilyId, Insertion,
    RedeemOutcome, RefreshTokenState, RevocationReason, RevokeOutcome, RotateOutcome, Rotation, TokenStore,
};
use oauth_core::store_error::StoreError;

use super::fixture::{Fixture, Tokens};

/// What may happen next to a family, seen from outside.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Step {
    RedeemAgain,
    RefreshNewest,
    RefreshOldest,
    RefreshNewestByStranger,
    RevokeNewest,
    WaitTenDays,
}

const STEPS: [Step; 6] = [
    Step::RedeemAgain,
    Step::RefreshNewest,
    Step::RefreshOldest,
    Step::RefreshNewestByStranger,
    Step::RevokeNewest,
    Step::WaitTenDays,
];

/// What must be so: the rules in a dozen lines.
struct Model {
    revoked: bool,
    links: usize,
    idle_days: u32,
}

impl Model {
    /// Whether the step yields tokens.
    fn step(&mut self, step: Step) -> bool {
        let alive = !self.revoked && self.idle_days < 14;
        let rotates = step == Step::RefreshNewest || (step == Step::RefreshOldest && self.links == 1);
        match step {
            Step::WaitTenDays => self.idle_days += 10,
            _ if rotates && alive => (self.links, self.idle_days) = (self.links + 1, 0),
            Step::RedeemAgain | Step::RevokeNewest => self.revoked = true,
            Step::RefreshOldest if self.links > 1 => self.revoked = true,
            _ => {}
        }
        rotates && alive
    }

    fn has_live_leaf(&self) -> bool {
        !self.revoked && self.idle_days < 14
    }
}

/// O6, O9, O10, O13: after any history of a redemption and four more steps the right token lives, and no other.
#[test]
fn every_history_leaves_the_right_leaf_alive() {
    let fixture = Fixture::new();
    for history in 0..STEPS.len().pow(4) {
        let steps = [0, 1, 2, 3].map(|place| STEPS[history / STEPS.len().pow(place) % STEPS.len()]);
        follow(&fixture, &steps)
            .now_or_never()
            .expect("memory stores never wait");
    }
}

async fn follow(fixture: &Fixture, steps: &[Step]) {
    let code = fixture.code().await;
    let mut issued = vec![Tokens::of(&fixture.redeem(&code).await).refresh];
    let mut model = Model {
        revoked: false,
        links: 1,
        idle_days: 0,
    };
    for step in steps {
        let (oldest, newest) = (issued[0].clone(), issued[issued.len() - 1].clone());
        let answer = match step {
            Step::RedeemAgain => Some(fixture.redeem(&code).await),
            Step::RefreshNewest => Some(fixture.refresh(&newest).await),
            Step::RefreshOldest => Some(fixture.refresh(&oldest).await),
            Step::RefreshNewestByStranger => Some(fixture.token_as("other", &refresh(&newest)).await),
            Step::RevokeNewest => Some(fixture.revoke_as("web", &[("token", &newest)]).await),
            Step::WaitTenDays => {
                fixture.clock.advance(Duration::from_secs(10 * 24 * 60 * 60));
                None
            }
        };
        let answer =
            answer.filter(|answer| !answer.response.body().is_empty() && answer.response.status() == 200);
        assert_eq!(model.step(*step), answer.is_some(), "{step:?} of {steps:?}");
        issued.extend(answer.map(|answer| Tokens::of(&answer).refresh));
        let live = live(fixture, &issued).await;
        assert_eq!(
            live,
            usize::from(model.has_live_leaf()),
            "after {step:?} of {steps:?}"
        );
    }
}

/// What several requests at once do to one family.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Request {
    Redeem,
    Refresh,
    RefreshSpent,
    Revoke,
}

/// O6, O10: however two or three requests interleave between their store verbs, no token is exchanged twice, at most one
/// leaf lives, and none once something was presented twice or revoked.
#[test]
fn every_interleaving_leaves_at_most_one_leaf() {
    use Request::{Redeem, Refresh, RefreshSpent, Revoke};
    let store = Arc::new(Gated::default());
    let fixture = Fixture::with(store.clone(), |builder| builder);
    for requests in [
        &[Refresh, Refresh][..],
        &[Refresh, Revoke],
        &[Refresh, RefreshSpent],
        &[Redeem, Redeem],
        &[Refresh, Refresh, Refresh],
        &[Refresh, RefreshSpent, Revoke],
    ] {
        let mut schedule = Schedule::default();
        while schedule.next() {
            interleave(&fixture, &store, requests, &mut schedule);
        }
        assert!(schedule.runs > 5, "{requests:?}: {} schedules", schedule.runs);
    }
}

fn interleave(fixture: &Fixture, store: &Gated, requests: &[Request], schedule: &mut Schedule) {
    store.closed.store(false, Ordering::Relaxed);
    let code = fixture.code().now_or_never().expect("open gates");
    let fresh = requests.iter().all(|request| *request == Request::Redeem);
    let (spent, leaf) = if fresh {
        (String::new(), String::new())
    } else {
        let first = Tokens::of(&fixture.redeem(&code).now_or_never().expect("open gates"));
        let second = Tokens::of(
            &fixture
                .refresh(&first.refresh)
                .now_or_never()
                .expect("open gates"),
        );
        (first.refresh, second.refresh)
    };
    store.closed.store(true, Ordering::Relaxed);
    let futures = requests
        .iter()
        .map(|request| -> Pin<Box<dyn Future<Output = Answer>>> {
            match request {
                Request::Redeem => Box::pin(fixture.redeem(&code)),
                Request::Refresh => Box::pin(fixture.refresh(&leaf)),
                Request::RefreshSpent => Box::pin(fixture.refresh(&spent)),
                Request::Revoke => Box::pin(async { fixture.revoke_as("web", &[("token", &leaf)]).await }),
            }
        });
    let answers = schedule.run(futures.collect());
    store.closed.store(false, Ordering::Relaxed);

    let won = answers
        .iter()
        .filter(|answer| !answer.response.body().is_empty() && answer.response.status() == 200);
    let mut issued: Vec<_> = won.map(|answer| Tokens::of(answer).refresh).collect();
    assert!(issued.len() <= 1, "{requests:?} {:?}", schedule.choices);
    issued.extend([spent, leaf]);
    let live = live(fixture, &issued).now_or_never().expect("open gates");
    assert_eq!(
        live, 0,
        "each of these is a theft or a revocation: {requests:?} {:?}",
        schedule.choices
    );
}

fn refresh(token: &str) -> super::fixture::Pairs<'_> {
    vec![("grant_type", "refresh_token"), ("refresh_token", token)]
}

/// How many of the refresh tokens open something.
async fn live(fixture: &Fixture, issued: &[String]) -> usize {
    let mut live = 0;
    for token in issued {
        let state = fixture.tokens.refresh_token(&TokenHash::of(token)).await.unwrap();
        live += usize::from(state.is_some_and(|state| state.is_active(fixture.now())));
    }
    live
}

/// Every order in which some futures can be polled, one after the other.
#[derive(Default)]
struct Schedule {
    /// At each step, which of how many unfinished futures is polled.
    choices: Vec<(usize, usize)>,
    runs: usize,
}

impl Schedule {
    /// Moves to the next order; false after the last.
    fn next(&mut self) -> bool {
        self.runs += 1;
        if self.runs == 1 {
            return true;
        }
        while let Some((choice, options)) = self.choices.pop() {
            if choice + 1 < options {
                self.choices.push((choice + 1, options));
                return true;
            }
        }
        false
    }

    fn run<T>(&mut self, mut futures: Vec<Pin<Box<dyn Future<Output = T> + '_>>>) -> Vec<T> {
        let mut outputs = Vec::new();
        let mut step = 0;
        while !futures.is_empty() {
            if step == self.choices.len() {
                self.choices.push((0, futures.len()));
            }
            let chosen = self.choices[step].0;
            if let Poll::Ready(output) = futures[chosen]
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
            {
                outputs.push(output);
                drop(futures.remove(chosen));
            }
            step += 1;
        }
        outputs
    }
}

/// The memory store behind a gate: when it is closed, each verb waits for one more poll before it happens.
#[derive(Default)]
struct Gated {
    store: MemoryTokens,
    closed: AtomicBool,
}

impl Gated {
    async fn pass(&self) -> &MemoryTokens {
        let mut waits = self.closed.load(Ordering::Relaxed);
        poll_fn(|_| {
            if std::mem::take(&mut waits) {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        })
        .await;
        &self.store
    }
}

#[async_trait::async_trait]
impl TokenStore for Gated {
    async fn insert_code(&self, code: AuthorizationCodeRecord) -> Result<Insertion, StoreError> {
        self.pass().await.insert_code(code).await
    }
    async fn code(&self, hash: &TokenHash) -> Result<Option<AuthorizationCodeRecord>, StoreError> {
        self.pass().await.code(hash).await
    }
    async fn redeem_code(
        &self,
        redemption: CodeRedemption,
        now: SystemTime,
    ) -> Result<RedeemOutcome, StoreError> {
        self.pass().await.redeem_code(redemption, now).await
    }
    async fn insert_access_token(&self, token: AccessTokenRecord) -> Result<Insertion, StoreError> {
        self.pass().await.insert_access_token(token).await
    }
    async fn access_token(&self, hash: &TokenHash) -> Result<Option<AccessTokenState>, StoreError> {
        self.pass().await.access_token(hash).await
    }
    async fn refresh_token(&self, hash: &TokenHash) -> Result<Option<RefreshTokenState>, StoreError> {
        self.pass().await.refresh_token(hash).await
    }
    async fn rotate(&self, rotation: Rotation, now: SystemTime) -> Result<RotateOutcome, StoreError> {
        self.pass().await.rotate(rotation, now).await
    }
    async fn revoke_family(
        &self,
        id: &FamilyId,
        reason: RevocationReason,
        now: SystemTime,
    ) -> Result<RevokeOutcome, StoreError> {
        self.pass().await.revoke_family(id, reason, now).await
    }
    async fn revoke_access_token(
        &self,
        hash: &TokenHash,
        now: SystemTime,
    ) -> Result<RevokeOutcome, StoreError> {
        self.pass().await.revoke_access_token(hash, now).await
    }
    async fn purge_tokens(&self, now: SystemTime) -> Result<u64, StoreError> {
        self.pass().await.purge_tokens(now).await
    }
}
