//! Customers.

use std::time::SystemTime;

use serde::Deserialize;

use super::{CustomerId, Fault, text_fault};

/// Whom a charge is for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Customer {
    /// Its identifier.
    pub id: CustomerId,
    /// The name shown to people.
    pub name: String,
    /// When it was created.
    pub created: SystemTime,
}

/// The body of `POST /v1/customers`.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct NewCustomer {
    /// The name shown to people.
    pub name: String,
}

impl NewCustomer {
    /// The customer this asks for.
    ///
    /// # Errors
    ///
    /// Every [`Fault`] of the body.
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
