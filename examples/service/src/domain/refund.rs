//! Refunds: asked for at once, booked later.

use std::time::SystemTime;

use serde::Deserialize;
use thiserror::Error;

use super::money::whole_or_none;
use super::{Amount, Charge, ChargeId, Fault, RefundId};

/// Money given back from a charge.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refund {
    /// Its identifier.
    pub id: RefundId,
    /// The charge it gives back from.
    pub charge: ChargeId,
    /// How much.
    pub amount: Amount,
    /// Where it stands.
    pub status: RefundStatus,
    /// When it was asked for.
    pub created: SystemTime,
}

/// Where a refund stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefundStatus {
    /// Asked for, and queued.
    Pending,
    /// Booked.
    Succeeded,
    /// Not booked: by then the charge had less left than was asked for.
    Failed,
}

impl RefundStatus {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
        }
    }

    /// Reads the word on the wire.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Pending, Self::Succeeded, Self::Failed]
            .into_iter()
            .find(|status| status.as_str() == word)
    }
}

/// The body of `POST /v1/charges/{id}/refunds`: without an amount, all that is left.
#[derive(Clone, Debug, Default, Deserialize)]
#[non_exhaustive]
pub struct NewRefund {
    /// How much, in the currency's smallest unit.
    #[serde(default, deserialize_with = "whole_or_none")]
    pub amount: Option<i64>,
}

/// Why a refund cannot be asked for.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefundRefused {
    /// The amount is no amount.
    #[error("the amount is not one")]
    Faulty(Fault),
    /// More than the charge has left.
    #[error("the charge has {left} left to refund")]
    ExceedsCharge {
        /// What the charge has left, in the currency's smallest unit.
        left: u32,
    },
}

impl NewRefund {
    /// The refund this asks for, pending.
    ///
    /// # Errors
    ///
    /// [`RefundRefused`] when the amount is none, or more than `charge` has left.
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
    /// Books a pending refund: the refund as it then stands, and the charge when it changed.
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
    fn two_pending_refunds_never_give_back_more_than_was_taken() {
        let one = refund(Some(400), &charge(500)).unwrap();
        let other = refund(Some(400), &charge(500)).unwrap();
        let (_, charge) = one.book(charge(500));
        let (other, unchanged) = other.book(charge.unwrap());
        assert_eq!((other.status, unchanged), (RefundStatus::Failed, None));
    }
}
