/// State of a session. A session starts in `Active`; the other three states are final.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum SessionState {
    /// The session authenticates its user.
    Active,
    /// The idle timeout has passed.
    IdleExpired,
    /// The absolute timeout has passed.
    AbsoluteExpired,
    /// The session was ended by the user or the host;
    /// [`RevocationReason`](crate::store::RevocationReason) lists the reasons.
    Revoked,
}

/// Event that changes the state of a session, or confirms it.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum SessionTrigger {
    /// The server received a request with the cookie of the session.
    Used,
    /// The idle timeout passed without a request.
    LeftIdle,
    /// The absolute timeout passed.
    GrewOld,
    /// The user or the host ended the session.
    Revoked,
    /// The host renewed the secret of the session, because the user gained privileges or
    /// authenticated again.
    Escalated,
}

impl SessionState {
    /// All states.
    pub const ALL: [Self; 4] = [
        Self::Active,
        Self::IdleExpired,
        Self::AbsoluteExpired,
        Self::Revoked,
    ];

    /// Returns the state after `trigger`; `None` if `self` is not `Active`.
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
    /// All triggers.
    pub const ALL: [Self; 5] = [
        Self::Used,
        Self::LeftIdle,
        Self::GrewOld,
        Self::Revoked,
        Self::Escalated,
    ];
}
