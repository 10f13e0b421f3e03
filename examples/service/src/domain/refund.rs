//! Refunds: queued by a request, booked later in the background.

use std::time::SystemTime;

use serde::Deserialize;
use thiserror::Error;

use super::{Amount, Charge, ChargeId, Fault, RefundId, money};

/// A refund: money of a charge that is returned to the customer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refund {
    /// Identifier of the refund.
    pub id: RefundId,
    /// The refunded charge.
    pub charge: ChargeId,
    /// Refunded amount.
    pub amount: Amount,
    /// Status of the refund.
    pub status: RefundStatus,
    /// Time of the request.
    pub created: SystemTime,
}

/// Status of a refund.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefundStatus {
    /// Queued, not yet booked.
    Pending,
    /// Booked.
    Succeeded,
    /// Not booked: the refund exceeded the amount that could still be refunded.
    Failed,
}

impl RefundStatus {
    /// Every status.
    pub const ALL: [Self; 3] = [Self::Pending, Self::Succeeded, Self::Failed];

    /// Value in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
        }
    }

    /// Parses the value in JSON; `None` if it is unknown.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }
}

/// Body of `POST /v1/charges/{id}/refunds`. Without an amount, everything that is not yet refunded
/// is refunded.
#[derive(Clone, Debug, Default, Deserialize)]
#[non_exhaustive]
pub struct NewRefund {
    /// Amount in the currency's smallest unit.
    #[serde(default, deserialize_with = "money::amount_or_none")]
    pub amount: Option<i64>,
}

/// Reason why a refund is refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefundRefused {
    /// The amount is not in 1 to 99,999,999.
    #[error("the amount is invalid")]
    Faulty(Fault),
    /// The amount is more than can still be refunded.
    #[error("the refund exceeds the charge: {left} left to refund")]
    ExceedsCharge {
        /// Amount that can still be refunded, in the currency's smallest unit.
        left: u32,
    },
}

impl NewRefund {
    /// Validates the body and builds a pending refund.
    ///
    /// # Errors
    ///
    /// Returns [`RefundRefused`] if the amount is invalid or exceeds [`Charge::refundable`].
    pub fn create(&self, charge: &Charge, id: RefundId, now: SystemTime) -> Result<Refund, RefundRefused> {
        let left = charge.refundable();
        let units = self.amount.unwrap_or(i64::from(left.max(1)));
        let amount = Amount::parse(units, "/amount").map_err(RefundRefused::Faulty)?;
        if amount.units() > left {
            return Err(RefundRefused::ExceedsCharge { left });
        }
        Ok(Refund {
            id,
            charge: charge.id.clone(),
            amount,
            status: RefundStatus::Pending,
            created: now,
        })
    }
}

impl Refund {
    /// Books a pending refund of `charge`. Returns the refund with its new status, and the changed
    /// charge. If the refund exceeds [`Charge::refundable`], its status is `Failed` and the charge
    /// is `None`.
    #[must_use]
    pub fn book(mut self, mut charge: Charge) -> (Self, Option<Charge>) {
        if self.amount.units() > charge.refundable() {
            self.status = RefundStatus::Failed;
            return (self, None);
        }
        charge.amount_refunded += self.amount.units();
        charge.version += 1;
        self.status = RefundStatus::Succeeded;
        (self, Some(charge))
    }
}

#[cfg(test)]
mod tests {
    use super::super::ChargeStatus;
    use super::super::charge::tests::charge;
    use super::*;

    fn refund(amount: Option<i64>, charge: &Charge) -> Result<Refund, RefundRefused> {
        NewRefund { amount }.create(charge, RefundId::from_random([2; 16]), SystemTime::UNIX_EPOCH)
    }

    #[test]
    fn a_charge_is_refunded_in_parts_up_to_its_amount() {
        let (first, charge) = refund(Some(200), &charge(500)).unwrap().book(charge(500));
        let charge = charge.unwrap();
        assert_eq!(
            (first.status, charge.status()),
            (RefundStatus::Succeeded, ChargeStatus::PartiallyRefunded)
        );
        assert_eq!(
            refund(Some(301), &charge),
            Err(RefundRefused::ExceedsCharge { left: 300 })
        );
        let (rest, charge) = refund(None, &charge).unwrap().book(charge);
        let charge = charge.unwrap();
        assert_eq!(
            (rest.amount.units(), charge.status()),
            (300, ChargeStatus::Refunded)
        );
        assert_eq!(
            refund(None, &charge),
            Err(RefundRefused::ExceedsCharge { left: 0 })
        );
    }

    #[test]
    fn two_pending_refunds_do_not_exceed_the_charge() {
        let one = refund(Some(400), &charge(500)).unwrap();
        let other = refund(Some(400), &charge(500)).unwrap();
        let (_, charge) = one.book(charge(500));
        let (other, unchanged) = other.book(charge.unwrap());
        assert_eq!((other.status, unchanged), (RefundStatus::Failed, None));
    }
}
