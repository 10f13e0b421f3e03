//! Every reachable state of three callers with arbitrary actions: a breadth-first search over the
//! tables of a code, its chain of refresh tokens and its session.
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::{HashMap, HashSet, VecDeque};

use oauth_core::session::{SessionState, SessionTrigger};
use oauth_core::store::RotateOutcome;
use oauth_core_conformance::history::{CodeOutcome, CodeState, CodeTrigger, RefreshState, RefreshTrigger};

use super::state::{Caller, Flaw, LONGEST, START, State};

/// A forbidden state, and the path to it.
type Broken = (&'static str, Vec<State>);

struct Search {
    flaw: Flaw,
    before: HashMap<State, Option<State>>,
    next: VecDeque<State>,
    codes: HashSet<(CodeState, CodeTrigger)>,
    links: HashSet<(RefreshState, RefreshTrigger)>,
    sessions: HashSet<(SessionState, SessionTrigger)>,
    broken: Option<(&'static str, State)>,
}

impl Search {
    fn with(flaw: Flaw) -> Self {
        let mut search = Self {
            flaw,
            before: HashMap::from([(START, None)]),
            next: VecDeque::from([START]),
            codes: HashSet::new(),
            links: HashSet::new(),
            sessions: HashSet::new(),
            broken: None,
        };
        while let Some(state) = search.next.pop_front() {
            search.time_goes_by(state);
            for caller in 0..state.callers.len() {
                search.moves(state, caller);
            }
            if search.broken.is_some() {
                break;
            }
        }
        search
    }

    fn broken(&self) -> Option<Broken> {
        let (why, last) = self.broken?;
        let mut trace = vec![last];
        while let Some(Some(state)) = trace
            .last()
            .map(|state| self.before.get(state).copied().flatten())
        {
            trace.push(state);
        }
        trace.reverse();
        Some((why, trace))
    }

    /// Stores a newly reached state. The order of the callers does not matter.
    fn reach(&mut self, from: State, mut to: State) {
        to.callers.sort_unstable();
        if self.before.contains_key(&to) {
            return;
        }
        self.before.insert(to, Some(from));
        self.next.push_back(to);
        if self.broken.is_none() {
            self.broken = to.breaks().map(|why| (why, to));
        }
    }

    /// Transitions without a caller: expiry and the like.
    fn time_goes_by(&mut self, state: State) {
        let mut late = state;
        late.code_is_late = true;
        self.reach(state, late);
        let mut late = state;
        late.leaf_is_late = true;
        self.reach(state, late);
        for trigger in [SessionTrigger::LeftIdle, SessionTrigger::GrewOld] {
            let mut over = state;
            self.happens_to_session(&mut over, trigger);
            self.reach(state, over);
        }
    }

    /// All next verbs of one caller.
    fn moves(&mut self, state: State, caller: usize) {
        let step = |search: &mut Self, act: &dyn Fn(&mut Self, &mut State) -> Caller| {
            let mut after = state;
            let then = act(search, &mut after);
            if let Some(caller) = after.callers.get_mut(caller) {
                *caller = then;
            }
            search.reach(state, after);
        };
        match state.callers.get(caller).copied().unwrap_or(Caller::Idle) {
            Caller::Idle => {
                step(self, &|_, state| state.look_at_code());
                for link in 0..LONGEST {
                    step(self, &|search, state| state.look_at_link(link, search.flaw));
                }
                step(self, &|_, _| Caller::Revoking);
                step(self, &|search, state| search.ends_session(state));
                step(self, &|_, state| {
                    state.look_at_session(state.secret, |_| Caller::Consenting)
                });
                for secret in 0..LONGEST {
                    step(self, &|_, state| state.look_at_session(secret, Caller::Renewing));
                    step(self, &|_, state| state.look_at_session(secret, Caller::Touching));
                }
            }
            Caller::Consenting => step(self, &|_, state| state.issues_code()),
            Caller::Redeeming => step(self, &|search, state| search.redeems(state)),
            Caller::Rotating(link) => step(self, &|search, state| search.rotates(state, link)),
            Caller::RevokingTheft | Caller::Revoking => step(self, &|search, state| {
                search.revokes(state);
                Caller::Idle
            }),
            Caller::Renewing(secret) => step(self, &|search, state| search.renews(state, secret)),
            Caller::Touching(secret) => step(self, &|search, state| search.touches(state, secret)),
        }
    }

    fn redeems(&mut self, state: &mut State) -> Caller {
        let stands = state.session == SessionState::Active || self.flaw == Flaw::ForgetsTheSession;
        let trigger = match (state.code_is_late, stands) {
            (true, _) => CodeTrigger::RedeemedLate,
            (false, false) => CodeTrigger::RedeemedAfterSession,
            (false, true) => CodeTrigger::Redeemed,
        };
        self.codes.insert((state.code, trigger));
        let (after, answer) = match self.flaw {
            Flaw::RedeemsUnchecked if state.code == CodeState::Spent => {
                (CodeState::Spent, CodeOutcome::Redeemed)
            }
            _ => state.code.after(trigger),
        };
        state.code = after;
        match answer {
            CodeOutcome::Redeemed => {
                state.families += 1;
                state.links[0] = RefreshState::Active;
                Caller::Idle
            }
            CodeOutcome::AlreadyRedeemed => state.is_told_of_a_replay(self.flaw),
            CodeOutcome::Expired | CodeOutcome::SessionEnded | CodeOutcome::NotFound | CodeOutcome::None => {
                Caller::Idle
            }
        }
    }

    fn rotates(&mut self, state: &mut State, link: usize) -> Caller {
        let trigger = if state.leaf_is_late {
            RefreshTrigger::RotatedLate
        } else {
            RefreshTrigger::Rotated
        };
        self.links.insert((state.links[link], trigger));
        let (after, outcome) = match self.flaw {
            Flaw::RotatesUnchecked if state.links[link] == RefreshState::Tombstone => {
                (RefreshState::Tombstone, Some(RotateOutcome::Rotated))
            }
            _ => state.links[link].after(trigger),
        };
        state.links[link] = after;
        match outcome {
            Some(RotateOutcome::Rotated) => {
                let free = state.links.iter_mut().find(|link| **link == RefreshState::Absent);
                match free {
                    Some(successor) => *successor = RefreshState::Active,
                    None => state.links[LONGEST - 1] = RefreshState::Active,
                }
                Caller::Idle
            }
            Some(RotateOutcome::Superseded) => state.is_told_of_a_replay(self.flaw),
            _ => Caller::Idle,
        }
    }

    fn revokes(&mut self, state: &mut State) {
        for link in &mut state.links {
            self.links.insert((*link, RefreshTrigger::FamilyRevoked));
            *link = link.after(RefreshTrigger::FamilyRevoked).0;
        }
    }

    /// Ends the session by sign-out, here or everywhere, or by a password reset: one verb without a
    /// lookup.
    fn ends_session(&mut self, state: &mut State) -> Caller {
        self.happens_to_session(state, SessionTrigger::Revoked);
        if self.flaw != Flaw::EndsTheSessionAlone {
            self.revokes(state);
        }
        self.codes.insert((state.code, CodeTrigger::GrantEnded));
        state.code = state.code.after(CodeTrigger::GrantEnded).0;
        state.ended = true;
        Caller::Idle
    }

    fn renews(&mut self, state: &mut State, secret: usize) -> Caller {
        if state.secret == secret {
            let active = state.session == SessionState::Active;
            self.happens_to_session(state, SessionTrigger::Escalated);
            if active && secret + 1 < LONGEST {
                state.secret = secret + 1;
            }
        }
        Caller::Idle
    }

    fn touches(&mut self, state: &mut State, secret: usize) -> Caller {
        if self.flaw == Flaw::TouchRevives {
            state.session = SessionState::Active;
        } else if state.secret == secret {
            self.happens_to_session(state, SessionTrigger::Used);
        }
        Caller::Idle
    }

    fn happens_to_session(&mut self, state: &mut State, trigger: SessionTrigger) {
        self.sessions.insert((state.session, trigger));
        state.session = state.session.after(trigger).unwrap_or(state.session);
    }
}

/// O6, O10, S1, S3, S6: with any actions of three callers in any order, a code is redeemed for one
/// family, a family has one active refresh token, nothing outlives the end of its session, an ended
/// session stays ended, and a reuse ends in a revocation.
#[test]
fn three_callers_reach_no_forbidden_state() {
    let search = Search::with(Flaw::None);
    assert_eq!(search.broken(), None);
    let states = search.before.len();
    assert!(states > 10_000, "{states} states");
    check_that_every_line_was_met(&search);
}

/// Checks that the search used every line of the tables that three callers can reach.
fn check_that_every_line_was_met(search: &Search) {
    // a caller that redeems has read a code, and an absent code has no token to rotate
    for state in CodeState::ALL {
        for trigger in CodeTrigger::ALL {
            let met = search.codes.contains(&(state, trigger));
            // dropping a code ends its session as well
            let dropped = (state, trigger) == (CodeState::Absent, CodeTrigger::Redeemed);
            assert_eq!(met, !dropped, "{state:?} {trigger:?}");
        }
    }
    for state in RefreshState::ALL {
        for trigger in RefreshTrigger::ALL {
            let met = search.links.contains(&(state, trigger));
            let read = state != RefreshState::Absent || trigger == RefreshTrigger::FamilyRevoked;
            assert_eq!(met, read, "{state:?} {trigger:?}");
        }
    }
    for state in SessionState::ALL {
        for trigger in SessionTrigger::ALL {
            assert!(
                search.sessions.contains(&(state, trigger)),
                "{state:?} {trigger:?}"
            );
        }
    }
}

/// O6, O10, S3: the search detects each flaw.
#[test]
fn the_search_finds_each_flaw() {
    for (flaw, expected) in [
        (Flaw::RedeemsUnchecked, "one code bought two families"),
        (Flaw::RotatesUnchecked, "two leaves are alive"),
        (
            Flaw::ForgetsTheSession,
            "something lives on after its session was ended",
        ),
        (
            Flaw::EndsTheSessionAlone,
            "something lives on after its session was ended",
        ),
        (Flaw::ForgivesReplays, "a replay was forgiven"),
        (Flaw::TouchRevives, "a session was ended and is active"),
    ] {
        let (why, trace) = Search::with(flaw).broken().unwrap();
        assert_eq!(why, expected, "{flaw:?}: {trace:?}");
    }
}
