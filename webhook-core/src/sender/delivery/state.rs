//! State table of a delivery.

use crate::sender::term::terms;

/// State of a delivery.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum DeliveryState {
    /// Accepted or replayed, and not attempted yet.
    Ready,
    /// Waiting for the next attempt.
    RetryScheduled,
    /// Held by the dispatcher with the latest fencing token, until the lease ends.
    Leased,
    /// The receiver responded with 2xx. Final, unless an operator sends it again.
    Acked,
    /// No retry can succeed: the receiver refused the event, the endpoint is disabled or unknown,
    /// or the address rules forbid its URL. Kept for inspection and replay.
    PermanentFailure,
    /// Attempts or lifetime ran out, or the delivery was quarantined or unreadable. Kept for
    /// inspection and replay.
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

/// Step of a delivery: a column of the state table.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Step {
    /// A dispatcher leases the delivery. Any earlier lease has ended.
    Lease,
    /// The receiver responded with 2xx, possibly after the lease ended.
    Acknowledge,
    /// The attempt failed and will be retried.
    Retry,
    /// The delivery waits, and no attempt is counted.
    Hold,
    /// The delivery failed for a reason that no retry can change.
    Refuse,
    /// Attempts or lifetime ran out, or the delivery was quarantined or unreadable.
    Exhaust,
    /// An operator replays the failed delivery.
    Replay,
    /// An operator sends the final delivery again, also after an acknowledgement.
    Resend,
}

terms!(Step {
    Lease => "lease",
    Acknowledge => "acknowledge",
    Retry => "retry",
    Hold => "hold",
    Refuse => "refuse",
    Exhaust => "exhaust",
    Replay => "replay",
    Resend => "resend",
});

impl DeliveryState {
    /// State table: the state after `step`, or `None` if the step is not allowed.
    ///
    /// [`Step::Acknowledge`] needs no lease, because the receiver has the event.
    #[must_use]
    pub const fn after(self, step: Step) -> Option<Self> {
        match (self, step) {
            (Self::Ready | Self::RetryScheduled | Self::Leased, Step::Lease) => Some(Self::Leased),
            (Self::Ready | Self::RetryScheduled | Self::Leased, Step::Acknowledge) => Some(Self::Acked),
            (Self::Leased, Step::Retry | Step::Hold) => Some(Self::RetryScheduled),
            (Self::Leased, Step::Refuse) => Some(Self::PermanentFailure),
            (Self::Leased, Step::Exhaust) => Some(Self::DeadLetter),
            (Self::PermanentFailure | Self::DeadLetter, Step::Replay | Step::Resend)
            | (Self::Acked, Step::Resend) => Some(Self::Ready),
            (Self::Ready | Self::RetryScheduled, Step::Retry | Step::Hold | Step::Refuse | Step::Exhaust)
            | (Self::Ready | Self::RetryScheduled | Self::Leased, Step::Replay | Step::Resend)
            | (Self::Acked | Self::PermanentFailure | Self::DeadLetter, _) => None,
        }
    }

    /// Returns `true` if the delivery is not final.
    #[must_use]
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Ready | Self::RetryScheduled | Self::Leased)
    }

    /// Returns `true` if the delivery ended without a 2xx. Such a delivery can be replayed.
    #[must_use]
    pub const fn is_failed(self) -> bool {
        matches!(self, Self::PermanentFailure | Self::DeadLetter)
    }
}
