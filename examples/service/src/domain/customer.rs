//! Customers.

use std::time::SystemTime;

use serde::{Deserialize, Deserializer};

use super::{CustomerId, Fault, checked, text_fault};

pub(super) const EMPTY_NAME: &str = "must not be empty";

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
    #[serde(deserialize_with = "name")]
    pub name: String,
}

fn name<'de, D: Deserializer<'de>>(given: D) -> Result<String, D::Error> {
    checked(given, |name: &String| name_fault(name))
}

fn name_fault(name: &str) -> Option<Fault> {
    let empty = name.trim().is_empty();
    let fault = empty.then_some(Fault::new("/name", EMPTY_NAME));
    fault.or_else(|| text_fault(Some(name), "/name"))
}

impl NewCustomer {
    /// Validates the body and builds the customer.
    ///
    /// # Errors
    ///
    /// Returns every [`Fault`] of the body.
    pub fn create(self, id: CustomerId, now: SystemTime) -> Result<Customer, Vec<Fault>> {
        match name_fault(&self.name) {
            Some(fault) => Err(vec![fault]),
            None => Ok(Customer {
                id,
                name: self.name,
                created: now,
            }),
        }
    }
}
