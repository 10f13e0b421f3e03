//! Customers: creation and lists.

use http_conventions::idempotency::{Receipt, Settlement};

use super::{Desk, DeskError, Placed, Window};
use crate::domain::{Customer, CustomerId, NewCustomer};

impl Desk {
    /// Creates a customer.
    ///
    /// # Errors
    ///
    /// - [`DeskError::Faulty`] with every fault of the body
    /// - [`DeskError::Store`] if the database fails
    pub async fn create_customer(&self, body: NewCustomer) -> Result<Customer, DeskError> {
        let customer = self.new_customer(body)?;
        self.insert_customer(customer.clone(), None).await?;
        Ok(customer)
    }

    /// Validates the body and builds a customer for [`insert_customer`](Self::insert_customer).
    ///
    /// # Errors
    ///
    /// [`DeskError::Faulty`] with every fault of the body.
    pub fn new_customer(&self, body: NewCustomer) -> Result<Customer, DeskError> {
        let id = CustomerId::from_random(crate::random());
        body.create(id, self.clock.now()).map_err(DeskError::Faulty)
    }

    /// Stores a new customer and completes the idempotency key `key`, in one transaction. Returns
    /// the receipt of the key.
    ///
    /// # Errors
    ///
    /// As [`insert_charge`](Self::insert_charge), without `Faulty`.
    pub async fn insert_customer(
        &self,
        customer: Customer,
        key: Option<Settlement>,
    ) -> Result<Option<Receipt>, DeskError> {
        self.store.insert_customer(customer, key).await
    }

    /// Reads a customer.
    ///
    /// # Errors
    ///
    /// - [`DeskError::NotFound`] if there is no such customer
    /// - [`DeskError::Store`] if the database fails
    pub async fn customer(&self, id: CustomerId) -> Result<Customer, DeskError> {
        self.store.customer(id).await?.ok_or(DeskError::NotFound)
    }

    /// Reads the customers in `window`.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Store`] if the database fails.
    pub async fn customers(&self, window: Window) -> Result<Vec<Placed<Customer>>, DeskError> {
        self.store.customers(window).await
    }
}
