//! Customers.

use std::time::SystemTime;

use serde::Deserialize;

use super::{CustomerId, Fault, text_fault};

/// A customer, who can be charged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Customer {
    /// Its identifier.
    pub id: CustomerId,
    /// Display name.
    pub name: String,
    /// Creation time.
    pub created: SystemTime,
}

/// Body of `POST /v1/customers`.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct NewCustomer {
    /// Display name.
    pub name: String,
}

impl NewCustomer {
    /// Validates the body and builds the customer.
    ///
    /// # Errors
    ///
    /// Returns every [`Fault`] of the body.
    pub fn create(self, id: CustomerId, now: SystemTime) -> Result<Customer, Vec<Fault>> {
        let mut faults = Vec::from_iter(text_fault(Some(&self.name), "/name"));
        if self.name.trim().is_empty() {
            faults.push(Fault::new("/name", "must not be empty"));
        }
        if faults.is_empty() {
            Ok(Customer {
                id,
                name: self.name,
                created: now,
            })
        } else {
            Err(faults)
        }
    }
}
