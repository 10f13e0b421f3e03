//! Charges: creation, replacement and lists.

use http_conventions::idempotency::{Receipt, Settlement};

use super::events::{EventKind, event};
use super::{Desk, DeskError, Placed, Window};
use crate::domain::{Charge, ChargeId, ChargeStatus, CustomerId, NewCharge};

/// Filter of a list of charges; a charge must match every given value.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ChargeFilter {
    /// Status of the charge.
    pub status: Option<ChargeStatus>,
    /// Charged customer.
    pub customer: Option<CustomerId>,
}

impl Desk {
    /// Creates a charge, and enqueues the event `charge.created` in the same transaction.
    ///
    /// # Errors
    ///
    /// - [`DeskError::Faulty`] with every fault of the body, or if the customer is unknown
    /// - [`DeskError::Store`] if the database fails
    pub async fn create_charge(&self, body: NewCharge) -> Result<Charge, DeskError> {
        let charge = self.new_charge(body)?;
        self.insert_charge(charge.clone(), None).await?;
        Ok(charge)
    }

    /// Validates the body and builds a charge for [`insert_charge`](Self::insert_charge).
    ///
    /// # Errors
    ///
    /// [`DeskError::Faulty`] with every fault of the body.
    pub fn new_charge(&self, body: NewCharge) -> Result<Charge, DeskError> {
        let id = ChargeId::from_random(crate::random());
        body.create(id, self.clock.now()).map_err(DeskError::Faulty)
    }

    /// Stores a new charge, enqueues the event `charge.created` and completes the idempotency key
    /// `key`, in one transaction. Returns the receipt of the key.
    ///
    /// # Errors
    ///
    /// Nothing is written, unless the outcome of the commit is unknown.
    ///
    /// - [`DeskError::Faulty`] if the customer is unknown
    /// - [`DeskError::TakenOver`] if another request has taken over the key
    /// - [`DeskError::Store`] if the database fails
    pub async fn insert_charge(
        &self,
        charge: Charge,
        key: Option<Settlement>,
    ) -> Result<Option<Receipt>, DeskError> {
        let event = event(EventKind::ChargeCreated, &charge, self.clock.now()).in_trace(self.trace);
        let write = self.store.insert_charge(charge.clone(), event, key);
        let receipt = self.updates.track_doubt(write).await?;
        self.publish(&charge);
        Ok(receipt)
    }

    /// Reads a charge.
    ///
    /// # Errors
    ///
    /// - [`DeskError::NotFound`] if there is no such charge
    /// - [`DeskError::Store`] if the database fails
    pub async fn charge(&self, id: ChargeId) -> Result<Charge, DeskError> {
        self.store.charge(id).await?.ok_or(DeskError::NotFound)
    }

    /// Reads the charges in `window` that match `filter`.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Store`] if the database fails.
    pub async fn charges(
        &self,
        filter: ChargeFilter,
        window: Window,
    ) -> Result<Vec<Placed<Charge>>, DeskError> {
        self.store.charges(filter, window).await
    }

    /// Applies `body` to the charge `read`, if the stored charge still has the same version.
    ///
    /// # Errors
    ///
    /// - [`DeskError::Faulty`] with every fault of the body
    /// - [`DeskError::Changed`] if the stored charge has another version
    /// - [`DeskError::Store`] if the database fails
    pub async fn replace_charge(&self, read: Charge, body: NewCharge) -> Result<Charge, DeskError> {
        let replaced = body.replace(read).map_err(DeskError::Faulty)?;
        let write = self.store.update_charge(replaced.clone());
        if !self.updates.track_doubt(write).await? {
            return Err(DeskError::Changed);
        }
        self.publish(&replaced);
        Ok(replaced)
    }
}
