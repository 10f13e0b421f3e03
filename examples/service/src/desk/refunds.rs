//! Refunds: queued by a request, booked by [`Desk::book_refunds`].

use http_conventions::idempotency::{Receipt, Settlement};

use super::{Desk, DeskError, Placed, Window};
use crate::domain::{ChargeId, Currency, NewRefund, Refund, RefundId, RefundRefused, RefundStatus};

/// Maximum number of refunds processed by one transaction.
const BATCH: u32 = 64;

/// Filter of the refunds of all charges. All conditions must hold; the default has none.
#[derive(Clone, Debug, Default)]
pub struct RefundFilter {
    /// Status of the refund.
    pub status: Option<RefundStatus>,
    /// Refunded charge.
    pub charge: Option<ChargeId>,
    /// The refund itself.
    pub id: Option<RefundId>,
}

/// A refund with the facts of its charge that a list shows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefundSeen {
    /// The refund.
    pub refund: Refund,
    /// Currency of the charge.
    pub currency: Currency,
    /// Description of the charge.
    pub description: Option<String>,
}

impl RefundSeen {
    pub(super) const fn new(refund: Refund, currency: Currency, description: Option<String>) -> Self {
        Self {
            refund,
            currency,
            description,
        }
    }
}

impl Desk {
    /// Queues a refund of a charge.
    ///
    /// # Errors
    ///
    /// - [`DeskError::NotFound`] if there is no such charge
    /// - [`DeskError::ExceedsCharge`] if the amount is more than can still be refunded
    /// - [`DeskError::Faulty`] if the amount is not in 1 to 99,999,999
    /// - [`DeskError::Store`] if the database fails
    pub async fn request_refund(&self, charge: ChargeId, body: NewRefund) -> Result<Refund, DeskError> {
        let refund = self.new_refund(charge, body).await?;
        self.insert_refund(refund.clone(), None).await?;
        Ok(refund)
    }

    /// Validates the body against the charge, and builds a refund for
    /// [`insert_refund`](Self::insert_refund). The amount is checked again when the refund is
    /// booked.
    ///
    /// # Errors
    ///
    /// As [`request_refund`](Self::request_refund).
    pub async fn new_refund(&self, charge: ChargeId, body: NewRefund) -> Result<Refund, DeskError> {
        let id = RefundId::from_random(crate::random());
        Ok(body.create(&self.charge(charge).await?, id, self.clock.now())?)
    }

    /// Queues a new refund and completes the idempotency key `key`, in one transaction. Returns the
    /// receipt of the key.
    ///
    /// # Errors
    ///
    /// As [`insert_charge`](Self::insert_charge), without `Faulty`.
    pub async fn insert_refund(
        &self,
        refund: Refund,
        key: Option<Settlement>,
    ) -> Result<Option<Receipt>, DeskError> {
        let receipt = self.store.insert_refund(refund, self.trace, key).await?;
        self.refund_notify.notify_one();
        Ok(receipt)
    }

    /// Reads a refund of a charge.
    ///
    /// # Errors
    ///
    /// - [`DeskError::NotFound`] if the charge has no such refund
    /// - [`DeskError::Store`] if the database fails
    pub async fn refund(&self, charge: ChargeId, id: RefundId) -> Result<Refund, DeskError> {
        self.store.refund(charge, id).await?.ok_or(DeskError::NotFound)
    }

    /// Reads the refunds of a charge in `window`.
    ///
    /// # Errors
    ///
    /// - [`DeskError::NotFound`] if there is no such charge
    /// - [`DeskError::Store`] if the database fails
    pub async fn refunds(&self, charge: ChargeId, window: Window) -> Result<Vec<Placed<Refund>>, DeskError> {
        let found = self.store.refunds(charge.clone(), window).await?;
        if found.is_empty() {
            self.charge(charge).await?;
        }
        Ok(found)
    }

    /// Reads the refunds of all charges in `window` that match `filter`.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Store`] if the database fails.
    pub async fn all_refunds(
        &self,
        filter: RefundFilter,
        window: Window,
    ) -> Result<Vec<Placed<RefundSeen>>, DeskError> {
        self.store.all_refunds(filter, window).await
    }

    /// Processes up to 64 queued refunds in one transaction, oldest first. A refund becomes
    /// `succeeded`, with an event `charge.refunded`, or `failed` if it exceeds the amount that can
    /// still be refunded. Returns the number of processed refunds.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Store`] if the database fails; all these refunds stay queued.
    pub async fn book_refunds(&self) -> Result<usize, DeskError> {
        let write = self.store.book_refunds(BATCH, self.clock.now());
        let booked = self.updates.track_doubt(write).await?;
        for charge in &booked.changed {
            self.publish(charge);
        }
        Ok(booked.refunds)
    }
}

impl From<RefundRefused> for DeskError {
    fn from(refused: RefundRefused) -> Self {
        match refused {
            RefundRefused::Faulty(fault) => Self::Faulty(vec![fault]),
            RefundRefused::ExceedsCharge { left } => Self::ExceedsCharge { left },
        }
    }
}
