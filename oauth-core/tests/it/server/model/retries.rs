//! The retry window: every short history of one family, and every interleaving of three requests
//! that may be retries.
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::cell::RefCell;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::FutureExt as _;
use oauth_core::grant::AccessTokenFormat;
use oauth_core::memory::MemoryTokens;
use oauth_core::server::{AuthorizationServerBuilder, EndpointResponse};
use oauth_core_conformance::verbs::VerbStore;

use super::live;
use super::schedule::{Gated, Schedule};
use crate::server::fixture::{Fixture, Tokens};
use crate::server::retry::windowed;

const WINDOW: u64 = 10;

/// Opaque tokens, so that only ID tokens cost a signature.
fn opaque(builder: AuthorizationServerBuilder) -> AuthorizationServerBuilder {
    windowed(builder, 7).with_access_token_format(AccessTokenFormat::Opaque)
}

/// Events of a family.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Step {
    RefreshNewest,
    /// Refreshes the token before the newest.
    RefreshBefore,
    RefreshOldest,
    RevokeNewestAccess,
    WaitFourSeconds,
    WaitTenSeconds,
}

const STEPS: [Step; 6] = [
    Step::RefreshNewest,
    Step::RefreshBefore,
    Step::RefreshOldest,
    Step::RevokeNewestAccess,
    Step::WaitFourSeconds,
    Step::WaitTenSeconds,
];

/// The expected result of a refresh.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Expected {
    Rotated,
    Repeated,
    Refused,
}

/// The expected state: the rules in a few lines.
#[derive(Default)]
struct Model {
    revoked: bool,
    now: u64,
    /// The time of the rotation of each token but the last.
    rotated_at: Vec<u64>,
    newest_access_is_revoked: bool,
}

impl Model {
    fn refresh(&mut self, link: usize) -> Expected {
        let links = self.rotated_at.len() + 1;
        if self.revoked {
            return Expected::Refused;
        }
        if link + 1 == links {
            self.rotated_at.push(self.now);
            self.newest_access_is_revoked = false;
            return Expected::Rotated;
        }
        // until the use of its successor, within the window
        let is_retry = link + 2 == links && self.now - self.rotated_at[link] < WINDOW;
        if is_retry && !self.newest_access_is_revoked {
            return Expected::Repeated;
        }
        self.revoked = true;
        Expected::Refused
    }
}

/// O10, 51, 52, 53: after any history of a sign-in and five more steps, a retry within the window
/// got the tokens of the rotation. The family has one active token, and none after a reuse outside
/// of the window.
#[test]
fn every_history_of_retries_leaves_at_most_one_token() {
    let fixture = Fixture::with(Arc::new(MemoryTokens::new()), opaque);
    let mut repeated = 0;
    for history in 0..STEPS.len().pow(5) {
        let steps = [0, 1, 2, 3, 4].map(|place| STEPS[history / STEPS.len().pow(place) % STEPS.len()]);
        let followed = follow(&fixture, &steps).now_or_never();
        repeated += followed.expect("memory stores never wait");
    }
    assert!(repeated > 1_000, "{repeated} retries");
}

/// Follows the history; returns the number of retries that got tokens.
async fn follow(fixture: &Fixture, steps: &[Step]) -> usize {
    let first = fixture.sign_in().await;
    let (mut issued, mut answers, mut access) = (vec![first.refresh], Vec::new(), first.access);
    let (mut model, mut repeated) = (Model::default(), 0);
    for step in steps {
        let newest = issued.len() - 1;
        let link = match step {
            Step::RefreshNewest => Some(newest),
            Step::RefreshBefore => newest.checked_sub(1),
            Step::RefreshOldest => Some(0),
            Step::RevokeNewestAccess => {
                let answer = fixture.revoke_as("web", &[("token", &access)]).await;
                assert_eq!(answer.response.status(), 200);
                model.newest_access_is_revoked = true;
                None
            }
            Step::WaitFourSeconds | Step::WaitTenSeconds => {
                let seconds = if *step == Step::WaitTenSeconds { WINDOW } else { 4 };
                fixture.clock.advance(Duration::from_secs(seconds));
                model.now += seconds;
                None
            }
        };
        if let Some(link) = link {
            let answer = fixture.refresh(&issued[link]).await;
            let said = format!("{step:?} of {steps:?}");
            match model.refresh(link) {
                Expected::Rotated => {
                    let tokens = Tokens::of(&answer);
                    answers.push(answer.response.into_body());
                    (access, _) = (tokens.access, issued.push(tokens.refresh));
                }
                Expected::Repeated => {
                    assert_eq!(answer.response.body(), &answers[link], "{said}");
                    repeated += 1;
                }
                Expected::Refused => assert_eq!(answer.response.status(), 400, "{said}"),
            }
        }
        let expected = usize::from(!model.revoked);
        assert_eq!(live(fixture, &issued).await, expected, "{step:?} of {steps:?}");
    }
    repeated
}

/// A request to a family that was just refreshed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Request {
    /// Presents the active token.
    Refresh,
    /// Presents the token before the active one.
    Retry,
    /// Revokes the family.
    Revoke,
}

const REQUESTS: [Request; 3] = [Request::Refresh, Request::Retry, Request::Revoke];

/// O10, 51, 52, 53: in any interleaving of three requests, all that present one token within the
/// window get one successor. One token is active if no request was refused, and none otherwise.
#[test]
fn every_interleaving_of_retries_leaves_at_most_one_token() {
    let store = Arc::new(VerbStore(Gated::new()));
    let fixture = Fixture::with(store.clone(), opaque);
    let mut runs = 0;
    for (at, first) in REQUESTS.into_iter().enumerate() {
        for (then, second) in REQUESTS.into_iter().enumerate().skip(at) {
            for third in REQUESTS.into_iter().skip(then) {
                let mut schedule = Schedule::default();
                while schedule.next() {
                    interleave(&fixture, &store.0, [first, second, third], &mut schedule);
                    runs += 1;
                }
            }
        }
    }
    assert!(runs > 100, "{runs} schedules");
}

fn interleave(fixture: &Fixture, gate: &Gated, requests: [Request; 3], schedule: &mut Schedule) {
    let chain = async {
        let spent = fixture.sign_in().await.refresh;
        let answer = fixture.refresh(&spent).await;
        (spent, Tokens::of(&answer).refresh, answer)
    };
    let (spent, leaf, answer) = chain.now_or_never().expect("open gates");
    let answers = RefCell::new(Vec::new());
    gate.closed.store(true, Ordering::Relaxed);
    let futures = requests.map(|request| -> Pin<Box<dyn Future<Output = ()>>> {
        let (spent, leaf, answers) = (&spent, &leaf, &answers);
        Box::pin(async move {
            let answer = match request {
                Request::Refresh => fixture.refresh(leaf).await,
                Request::Retry => fixture.refresh(spent).await,
                Request::Revoke => fixture.revoke_as("web", &[("token", leaf)]).await,
            };
            answers.borrow_mut().push((request, answer));
        })
    });
    schedule.run(futures.into());
    gate.closed.store(false, Ordering::Relaxed);

    let said = format!("{requests:?} {:?}", schedule.choices);
    let answers = answers.into_inner();
    let given = |to: Request| -> Vec<&EndpointResponse> {
        let of = answers
            .iter()
            .filter(|(request, answer)| *request == to && answer.response.status() == 200);
        of.map(|(_, answer)| answer).collect()
    };
    for repeated in given(Request::Retry) {
        assert_eq!(repeated.response.body(), answer.response.body(), "{said}");
    }
    let rotated = given(Request::Refresh);
    for pair in rotated.windows(2) {
        assert_eq!(pair[0].response.body(), pair[1].response.body(), "{said}");
    }
    let mut issued = vec![spent, leaf];
    issued.extend(rotated.first().map(|answer| Tokens::of(answer).refresh));
    let stands = answers
        .iter()
        .all(|(request, answer)| *request != Request::Revoke && answer.response.status() == 200);
    let lives = || live(fixture, &issued).now_or_never().expect("open gates");
    assert_eq!(lives(), usize::from(stands), "{said}");
    // a refusal needs a revocation, or a retry after the use of the active token
    let any = |of: Request| requests.contains(&of);
    let may_refuse = any(Request::Revoke) || any(Request::Retry) && any(Request::Refresh);
    assert!(stands || may_refuse, "{said}");

    // the use of the active token ended the window
    let is_over = any(Request::Refresh) || !stands;
    let late = fixture.refresh(&issued[0]).now_or_never().expect("open gates");
    let expected = if is_over { 400 } else { 200 };
    assert_eq!(late.response.status(), expected, "{said}");
    assert_eq!(lives(), usize::from(!is_over), "{said}");
}
