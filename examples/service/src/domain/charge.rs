//! Charges.

use std::time::SystemTime;

use serde::Deserialize;

use super::money::whole;
use super::{Amount, ChargeId, Currency, CustomerId, Fault, text_fault};

/// Money taken from a customer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Charge {
    /// Its identifier.
    pub id: ChargeId,
    /// Who is charged.
    pub customer: Option<CustomerId>,
    /// How much.
    pub amount: Amount,
    /// In which currency.
    pub currency: Currency,
    /// What for, in a person's words.
    pub description: Option<String>,
    /// How much of it was given back, in the currency's smallest unit.
    pub amount_refunded: u32,
    /// Counts the changes, from 1; the entity tag and the order of events follow it.
    pub version: u32,
    /// When it was created.
    pub created: SystemTime,
}

/// Where a charge stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChargeStatus {
    /// The money was taken.
    Succeeded,
    /// A part was given back.
    PartiallyRefunded,
    /// All of it was given back.
    Refunded,
}

impl ChargeStatus {
    /// Every status, in the order a charge goes through them.
    pub const ALL: [Self; 3] = [Self::Succeeded, Self::PartiallyRefunded, Self::Refunded];

    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::PartiallyRefunded => "partially_refunded",
            Self::Refunded => "refunded",
        }
    }

    /// Reads the word on the wire.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }
}

impl Charge {
    /// Where the charge stands.
    #[must_use]
    pub const fn status(&self) -> ChargeStatus {
        if self.amount_refunded == 0 {
            ChargeStatus::Succeeded
        } else if self.amount_refunded < self.amount.units() {
            ChargeStatus::PartiallyRefunded
        } else {
            ChargeStatus::Refunded
        }
    }

    /// What can still be given back, in the currency's smallest unit.
    #[must_use]
    pub const fn refundable(&self) -> u32 {
        self.amount.units().saturating_sub(self.amount_refunded)
    }

    /// The charge with another description, one version on.
    ///
    /// # Errors
    ///
    /// Every [`Fault`] of the new description.
    pub fn described(mut self, description: Option<String>) -> Result<Self, Vec<Fault>> {
        if let Some(fault) = text_fault(description.as_deref(), "/description") {
            return Err(vec![fault]);
        }
        self.description = description;
        self.version += 1;
        Ok(self)
    }
}

/// The body of `POST /v1/charges`; in `PUT` only the description may differ from the charge.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct NewCharge {
    /// How much, in the currency's smallest unit.
    #[serde(deserialize_with = "whole")]
    pub amount: i64,
    /// In which currency.
    pub currency: String,
    /// Who is charged.
    #[serde(default)]
    pub customer: Option<String>,
    /// What for.
    #[serde(default)]
    pub description: Option<String>,
}

impl NewCharge {
    /// The charge this asks for. Whether the customer exists is for the desk to say.
    ///
    /// # Errors
    ///
    /// Every [`Fault`] of the body.
    pub fn create(self, id: ChargeId, now: SystemTime) -> Result<Charge, Vec<Fault>> {
        let mut faults = Vec::new();
        let amount = Amount::parse(self.amount, "/amount")
            .map_err(|fault| faults.push(fault))
            .ok();
        let currency = self.currency.parse().map_err(|fault| faults.push(fault)).ok();
        let customer = match self.customer.map(|id| id.parse::<CustomerId>()).transpose() {
            Ok(customer) => customer,
            Err(_) => {
                faults.push(Fault::new("/customer", "the id of a customer"));
                None
            }
        };
        faults.extend(text_fault(self.description.as_deref(), "/description"));
        match (amount, currency) {
            (Some(amount), Some(currency)) if faults.is_empty() => Ok(Charge {
                id,
                customer,
                amount,
                currency,
                description: self.description,
                amount_refunded: 0,
                version: 1,
                created: now,
            }),
            _ => Err(faults),
        }
    }

    /// The charge that a `PUT` of this body makes of `charge`.
    ///
    /// # Errors
    ///
    /// Every [`Fault`] of the body, among them each member that a charge never changes.
    pub fn replace(self, charge: Charge) -> Result<Charge, Vec<Fault>> {
        let asked = self.create(charge.id.clone(), charge.created)?;
        let fixed = [
            (
                asked.amount != charge.amount,
                Fault::new("/amount", "cannot change"),
            ),
            (
                asked.currency != charge.currency,
                Fault::new("/currency", "cannot change"),
            ),
            (
                asked.customer != charge.customer,
                Fault::new("/customer", "cannot change"),
            ),
        ];
        let faults: Vec<Fault> = fixed
            .into_iter()
            .filter_map(|(differs, fault)| differs.then_some(fault))
            .collect();
        if faults.is_empty() {
            charge.described(asked.description)
        } else {
            Err(faults)
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn charge(amount: i64) -> Charge {
        let body = NewCharge {
            amount,
            currency: "eur".to_owned(),
            customer: None,
            description: None,
        };
        body.create(ChargeId::from_random([1; 16]), SystemTime::UNIX_EPOCH)
            .unwrap()
    }

    #[test]
    fn every_fault_of_a_body_is_told_at_once() {
        let body = NewCharge {
            amount: 0,
            currency: "EUR".to_owned(),
            customer: Some("nobody".to_owned()),
            description: Some("\u{7}".to_owned()),
        };
        let faults = body
            .create(ChargeId::from_random([1; 16]), SystemTime::UNIX_EPOCH)
            .unwrap_err();
        let pointers: Vec<_> = faults.iter().map(|fault| fault.pointer).collect();
        assert_eq!(pointers, ["/amount", "/currency", "/customer", "/description"]);
    }

    #[test]
    fn a_put_changes_the_description_and_nothing_else() {
        let body = |amount, description: &str| NewCharge {
            amount,
            currency: "eur".to_owned(),
            customer: None,
            description: Some(description.to_owned()),
        };
        let replaced = body(500, "new").replace(charge(500)).unwrap();
        assert_eq!(
            (replaced.description.as_deref(), replaced.version),
            (Some("new"), 2)
        );
        assert_eq!(
            body(501, "new").replace(charge(500)).unwrap_err(),
            [Fault::new("/amount", "cannot change")]
        );
    }
}
