//! Every short history of one family.
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::time::Duration;

use futures_util::FutureExt as _;

use super::live;
use crate::server::fixture::{Fixture, Pairs, Tokens};

/// Events of a family, as its client sees them.
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

/// The expected state: the rules in a dozen lines.
struct Model {
    revoked: bool,
    links: usize,
    idle_days: u32,
}

impl Model {
    /// Applies the step. Returns `true` if it yields tokens.
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

/// O6, O9, O10, O13: after any history of a redemption and four more steps, the expected token is
/// active, and no other.
#[test]
fn every_history_leaves_expected_token_active() {
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
        // a revocation is answered by an empty object
        let answer =
            answer.filter(|answer| answer.response.body() != "{}" && answer.response.status() == 200);
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

fn refresh(token: &str) -> Pairs<'_> {
    vec![("grant_type", "refresh_token"), ("refresh_token", token)]
}
