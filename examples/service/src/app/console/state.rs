//! States of deliveries and charges as words and colours.

use webhook_core::sender::{DeliveryState, EndpointState};

use crate::domain::{ChargeStatus, RefundStatus};

/// A word with the class of its pill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pill {
    pub(super) class: &'static str,
    pub(super) word: &'static str,
}

impl Pill {
    const fn new(class: &'static str, word: &'static str) -> Self {
        Self { class, word }
    }

    pub(super) const REPLAYED: Self = Self::new("wait", "Replayed");
    pub(super) const ANSWERED: Self = Self::new("good", "Acknowledged");
    pub(super) const NOT_ACKNOWLEDGED: Self = Self::new("bad", "Refused");
    pub(super) const NO_ANSWER: Self = Self::new("bad", "No answer");
    pub(super) const ACTIVE: Self = Self::new("good", "Active");
    pub(super) const REVOKED: Self = Self::new("bad", "Revoked");
    pub(super) const EXPIRED: Self = Self::new("off", "Ended");

    pub(super) const fn of_delivery(state: DeliveryState) -> Self {
        match state {
            DeliveryState::Ready => Self::new("wait", "Waiting"),
            DeliveryState::Leased => Self::new("wait", "Being sent"),
            DeliveryState::RetryScheduled => Self::new("warn", "Retry scheduled"),
            DeliveryState::Acked => Self::new("good", "Acknowledged"),
            DeliveryState::PermanentFailure => Self::new("bad", "Failed for good"),
            DeliveryState::DeadLetter => Self::new("bad", "Dead letter"),
        }
    }

    pub(super) const fn of_charge(status: ChargeStatus) -> Self {
        match status {
            ChargeStatus::Succeeded => Self::new("good", "Succeeded"),
            ChargeStatus::PartiallyRefunded => Self::new("warn", "Partly refunded"),
            ChargeStatus::Refunded => Self::new("off", "Refunded"),
        }
    }

    pub(super) const fn of_refund(status: RefundStatus) -> Self {
        match status {
            RefundStatus::Pending => Self::new("wait", "Queued"),
            RefundStatus::Succeeded => Self::new("good", "Booked"),
            RefundStatus::Failed => Self::new("bad", "Refused"),
        }
    }

    /// State of an endpoint, with the health of its lane.
    pub(super) const fn of_endpoint(state: EndpointState, failing: bool) -> Self {
        match (state, failing) {
            (EndpointState::Enabled, true) => Self::new("warn", "Failing"),
            (EndpointState::Enabled, false) => Self::new("good", "Enabled"),
            (EndpointState::Paused, _) => Self::new("wait", "Paused"),
            (EndpointState::Disabled, _) => Self::new("bad", "Disabled"),
        }
    }
}
