/// Where a session stands. It begins active, and of the other three none is ever left.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum SessionState {
    /// It opens what its user may do.
    Active,
    /// It was not used for its idle timeout.
    IdleExpired,
    /// It reached its absolute limit, however busy it was.
    AbsoluteExpired,
    /// Somebody ended it: by signing out, here or everywhere, by a new password, or on suspicion.
    Revoked,
}

/// What happens to a session.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum SessionTrigger {
    /// A request came with its cookie.
    Used,
    /// The idle timeout went by without one.
    LeftIdle,
    /// The absolute limit was reached.
    GrewOld,
    /// Somebody ended it.
    Revoked,
    /// The user gained higher rights, or proved anew who they are: the same session goes on under a new secret, and the old secret opens nothing.
    Escalated,
}

impl SessionState {
    /// Every state.
    pub const ALL: [Self; 4] = [
        Self::Active,
        Self::IdleExpired,
        Self::AbsoluteExpired,
        Self::Revoked,
    ];

    /// The state after `trigger`; `None` when the session is over and nothing can happen to it any more.
    #[must_use]
    pub const fn after(self, trigger: SessionTrigger) -> Option<Self> {
        match (self, trigger) {
            (Self::Active, SessionTrigger::Used | SessionTrigger::Escalated) => Some(Self::Active),
            (Self::Active, SessionTrigger::LeftIdle) => Some(Self::IdleExpired),
            (Self::Active, SessionTrigger::GrewOld) => Some(Self::AbsoluteExpired),
            (Self::Active, SessionTrigger::Revoked) => Some(Self::Revoked),
            (Self::IdleExpired | Self::AbsoluteExpired | Self::Revoked, _) => None,
        }
    }
}

impl SessionTrigger {
    /// Everything that can happen.
    pub const ALL: [Self; 5] = [
        Self::Used,
        Self::LeftIdle,
        Self::GrewOld,
        Self::Revoked,
        Self::Escalated,
    ];
}
