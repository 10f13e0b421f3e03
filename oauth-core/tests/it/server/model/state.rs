//! What three callers, a code, its chain of refresh tokens and its session are at one moment, and which of that must not be.
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

use oauth_core::session::SessionState;
use oauth_core_conformance::history::{CodeState, RefreshState};

/// The longest chain, and the most secrets of the session.
pub(super) const LONGEST: usize = 3;

/// What a caller has read and is about to write.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) enum Caller {
    Idle,
    /// Saw the session active, and is about to store the code that its user agreed to.
    Consenting,
    /// Saw a fresh code.
    Redeeming,
    /// Saw this link as the leaf.
    Rotating(usize),
    /// Saw a code or a token that was used before, or was told so.
    RevokingTheft,
    /// Was asked by the client to revoke.
    Revoking,
    /// Saw the session active under this secret.
    Renewing(usize),
    /// The same, and writes its use.
    Touching(usize),
}

/// What there is, and what was seen of it.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) struct State {
    pub(super) code: CodeState,
    pub(super) code_is_issued: bool,
    pub(super) code_is_late: bool,
    /// The chain; absent where it is shorter.
    pub(super) links: [RefreshState; LONGEST],
    pub(super) leaf_is_late: bool,
    pub(super) session: SessionState,
    /// The secret that opens the session.
    pub(super) secret: usize,
    /// Whether somebody was answered that everything of the session ended.
    pub(super) ended: bool,
    /// How many families the code bought.
    pub(super) families: u8,
    /// Whether somebody presented again what was used before.
    pub(super) replayed: bool,
    pub(super) callers: [Caller; 3],
}

pub(super) const START: State = State {
    code: CodeState::Absent,
    code_is_issued: false,
    code_is_late: false,
    links: [RefreshState::Absent; LONGEST],
    leaf_is_late: false,
    session: SessionState::Active,
    secret: 0,
    ended: false,
    families: 0,
    replayed: false,
    callers: [Caller::Idle; 3],
};

/// What a store or a server may get wrong.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Flaw {
    None,
    /// Redeeming trusts what was read before.
    RedeemsUnchecked,
    /// Rotating trusts what was read before.
    RotatesUnchecked,
    /// Redeeming does not look at the session.
    ForgetsTheSession,
    /// Ending a session leaves its family.
    EndsTheSessionAlone,
    /// Who presents a tombstone is refused, and that is all.
    ForgivesReplays,
    /// A use that was read before the end brings the session back.
    TouchRevives,
}

impl State {
    /// What is wrong with the state.
    pub(super) fn breaks(&self) -> Option<&'static str> {
        let leaves = self
            .links
            .iter()
            .filter(|link| **link == RefreshState::Leaf)
            .count();
        let revoking = self.callers.contains(&Caller::RevokingTheft);
        if self.families > 1 {
            Some("one code bought two families")
        } else if leaves > 1 {
            Some("two leaves are alive")
        } else if self.ended && leaves > 0 {
            Some("something lives on after its session was ended")
        } else if self.ended && self.session == SessionState::Active {
            Some("a session was ended and is active")
        } else if self.replayed && !revoking && leaves > 0 {
            Some("a replay was forgiven")
        } else {
            None
        }
    }

    pub(super) fn issues_code(&mut self) -> Caller {
        if !self.code_is_issued {
            (self.code, self.code_is_issued) = (CodeState::Fresh, true);
        }
        Caller::Idle
    }

    pub(super) fn look_at_code(&mut self) -> Caller {
        match self.code {
            CodeState::Absent => Caller::Idle,
            CodeState::Fresh => Caller::Redeeming,
            CodeState::Spent => self.is_told_of_a_replay(Flaw::None),
        }
    }

    pub(super) fn look_at_link(&mut self, link: usize, flaw: Flaw) -> Caller {
        match self.links[link] {
            // the longest chain has no room for its successor
            RefreshState::Leaf if link + 1 < LONGEST => Caller::Rotating(link),
            RefreshState::Tombstone => self.is_told_of_a_replay(flaw),
            RefreshState::Leaf
            | RefreshState::Absent
            | RefreshState::DeadLeaf
            | RefreshState::DeadTombstone => Caller::Idle,
        }
    }

    pub(super) fn look_at_session(&self, secret: usize, then: impl Fn(usize) -> Caller) -> Caller {
        if self.session == SessionState::Active && self.secret == secret {
            then(secret)
        } else {
            Caller::Idle
        }
    }

    pub(super) fn is_told_of_a_replay(&mut self, flaw: Flaw) -> Caller {
        self.replayed = true;
        if flaw == Flaw::ForgivesReplays {
            Caller::Idle
        } else {
            Caller::RevokingTheft
        }
    }
}
