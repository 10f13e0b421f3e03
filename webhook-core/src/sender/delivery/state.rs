//! The state table of a delivery.

use crate::sender::term::terms;

/// Where a delivery stands.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum DeliveryState {
    /// Accepted or replayed, not attempted yet.
    Ready,
    /// Waits for the next attempt.
    RetryScheduled,
    /// Being attempted by the holder of the latest fence, until the lease is over.
    Leased,
    /// The receiver answered 2xx. Final.
    Acked,
    /// The receiver refused it in a way that another attempt cannot change. Kept for inspection and replay.
    PermanentFailure,
    /// Attempts or time ran out, or it had to be set aside. Kept for inspection and replay.
    DeadLetter,
}

terms!(DeliveryState {
    Ready => "ready",
    RetryScheduled => "retry_scheduled",
    Leased => "leased",
    Acked => "acked",
    PermanentFailure => "permanent_failure",
    DeadLetter => "dead_letter",
});

/// What can happen to a delivery: the columns of the state table.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Step {
    /// A dispatcher takes it; also when the lease before is over.
    Lease,
    /// The receiver answered 2xx, perhaps after the lease was lost.
    Acknowledge,
    /// An attempt failed and is tried again later.
    Retry,
    /// It could not be tried now, and waits without having spent an attempt.
    Hold,
    /// It was refused for good.
    Refuse,
    /// Its attempts or its time are used up.
    Exhaust,
    /// An operator sends it again.
    Replay,
}

terms!(Step {
    Lease => "lease",
    Acknowledge => "acknowledge",
    Retry => "retry",
    Hold => "hold",
    Refuse => "refuse",
    Exhaust => "exhaust",
    Replay => "replay",
});

impl DeliveryState {
    /// The state table: what a step makes of a state, or `None` where the step is not allowed.
    ///
    /// An acknowledgement is the one thing that also counts without a lease: the receiver has the event, whoever asked.
    #[must_use]
    pub const fn after(self, step: Step) -> Option<Self> {
        match (self, step) {
            (Self::Ready | Self::RetryScheduled | Self::Leased, Step::Lease) => Some(Self::Leased),
            (Self::Ready | Self::RetryScheduled | Self::Leased, Step::Acknowledge) => Some(Self::Acked),
            (Self::Leased, Step::Retry | Step::Hold) => Some(Self::RetryScheduled),
            (Self::Leased, Step::Refuse) => Some(Self::PermanentFailure),
            (Self::Leased, Step::Exhaust) => Some(Self::DeadLetter),
            (Self::PermanentFailure | Self::DeadLetter, Step::Replay) => Some(Self::Ready),
            (Self::Ready | Self::RetryScheduled, Step::Retry | Step::Hold | Step::Refuse | Step::Exhaust)
            | (Self::Ready | Self::RetryScheduled | Self::Leased | Self::Acked, Step::Replay)
            | (Self::Acked | Self::PermanentFailure | Self::DeadLetter, _) => None,
        }
    }

    /// Whether the delivery still goes on by itself.
    #[must_use]
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Ready | Self::RetryScheduled | Self::Leased)
    }

    /// Whether the delivery ended without the receiver's 2xx, and may be replayed.
    #[must_use]
    pub const fn is_failed(self) -> bool {
        matches!(self, Self::PermanentFailure | Self::DeadLetter)
    }
}
