//! The state of three callers, a code, its chain of refresh tokens and its session, and the
//! forbidden states.
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

use oauth_core::session::SessionState;
use oauth_core_conformance::history::{CodeState, RefreshState};

/// The maximum length of the chain, and the maximum number of session secrets.
pub(super) const LONGEST: usize = 3;

/// The lookup of a caller, and the write that it will make.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) enum Caller {
    Idle,
    /// Saw the session active; will store a code of the consent.
    Consenting,
    /// Saw a fresh code.
    Redeeming,
    /// Saw this token as the active one.
    Rotating(usize),
    /// Saw or was told of a reuse of a code or token; will revoke.
    RevokingTheft,
    /// Will revoke for the client.
    Revoking,
    /// Saw the session active under this secret; will renew it.
    Renewing(usize),
    /// Saw the session active under this secret; will touch it.
    Touching(usize),
}

/// The records, and what the callers have observed.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) struct State {
    pub(super) code: CodeState,
    pub(super) code_is_issued: bool,
    pub(super) code_is_late: bool,
    /// The chain; unused places are absent.
    pub(super) links: [RefreshState; LONGEST],
    pub(super) leaf_is_late: bool,
    pub(super) session: SessionState,
    /// The current secret of the session.
    pub(super) secret: usize,
    /// Set once a caller was told that the session has ended.
    pub(super) ended: bool,
    /// Number of families that the code was redeemed for.
    pub(super) families: u8,
    /// Set once a caller has presented a used code or token.
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

/// Faults of a store or a server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Flaw {
    None,
    /// A redemption trusts an earlier lookup.
    RedeemsUnchecked,
    /// A rotation trusts an earlier lookup.
    RotatesUnchecked,
    /// A redemption ignores the session.
    ForgetsTheSession,
    /// The end of a session leaves its family active.
    EndsTheSessionAlone,
    /// A reuse is refused without a revocation.
    ForgivesReplays,
    /// A touch that read the session before its end revives it.
    TouchRevives,
}

impl State {
    /// The broken rule, if the state is forbidden.
    pub(super) fn breaks(&self) -> Option<&'static str> {
        let leaves = self
            .links
            .iter()
            .filter(|link| **link == RefreshState::Active)
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
            // the longest chain has no room for a successor
            RefreshState::Active if link + 1 < LONGEST => Caller::Rotating(link),
            RefreshState::Tombstone => self.is_told_of_a_replay(flaw),
            RefreshState::Active
            | RefreshState::Absent
            | RefreshState::Revoked
            | RefreshState::RevokedTombstone => Caller::Idle,
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
