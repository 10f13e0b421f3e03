//! Charges.

use std::time::SystemTime;

use serde::{Deserialize, Deserializer};

use super::{Amount, ChargeId, Currency, CustomerId, Fault, checked, money, text_fault};

pub(super) const CUSTOMER: &str = "must be the id of a customer";

/// A charge: money taken from a customer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Charge {
    /// Identifier of the charge.
    pub id: ChargeId,
    /// Charged customer, if any.
    pub customer: Option<CustomerId>,
    /// Charged amount.
    pub amount: Amount,
    /// Currency of the amount.
    pub currency: Currency,
    /// Free text, at most 500 characters without control characters.
    pub description: Option<String>,
    /// Refunded amount in the currency's smallest unit.
    pub amount_refunded: u32,
    /// Number of the current version, from 1. The entity tag and the order of events are derived
    /// from it.
    pub version: u32,
    /// Creation time.
    pub created: SystemTime,
}

/// Status of a charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChargeStatus {
    /// Nothing was refunded.
    Succeeded,
    /// A part of the amount was refunded.
    PartiallyRefunded,
    /// The whole amount was refunded.
    Refunded,
}

impl ChargeStatus {
    /// Every status, in the order in which a charge passes through them.
    pub const ALL: [Self; 3] = [Self::Succeeded, Self::PartiallyRefunded, Self::Refunded];

    /// Value in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::PartiallyRefunded => "partially_refunded",
            Self::Refunded => "refunded",
        }
    }

    /// Parses the value in JSON; `None` if it is unknown.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }
}

impl Charge {
    /// Status of the charge.
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

    /// Amount that can still be refunded, in the currency's smallest unit.
    #[must_use]
    pub const fn refundable(&self) -> u32 {
        self.amount.units().saturating_sub(self.amount_refunded)
    }

    /// Changes the description and increments the version.
    ///
    /// # Errors
    ///
    /// Returns a [`Fault`] if the description has more than 500 characters or a control character.
    pub fn with_description(mut self, description: Option<String>) -> Result<Self, Vec<Fault>> {
        if let Some(fault) = text_fault(description.as_deref(), "/description") {
            return Err(vec![fault]);
        }
        self.description = description;
        self.version += 1;
        Ok(self)
    }
}

/// Body of `POST /v1/charges` and `PUT /v1/charges/{id}`. A `PUT` may change only the description.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct NewCharge {
    /// Amount in the currency's smallest unit, 1 to 99,999,999.
    #[serde(deserialize_with = "money::amount")]
    pub amount: i64,
    /// Currency code: three lower-case letters.
    #[serde(deserialize_with = "money::currency")]
    pub currency: String,
    /// Identifier of the charged customer.
    #[serde(default, deserialize_with = "customer")]
    pub customer: Option<String>,
    /// Free text, at most 500 characters without control characters.
    #[serde(default, deserialize_with = "description")]
    pub description: Option<String>,
}

fn customer<'de, D: Deserializer<'de>>(given: D) -> Result<Option<String>, D::Error> {
    checked(given, |id: &Option<String>| customer_fault(id.as_deref()))
}

fn customer_fault(id: Option<&str>) -> Option<Fault> {
    let parsed = id?.parse::<CustomerId>();
    parsed.err().map(|_| Fault::new("/customer", CUSTOMER))
}

/// Deserializes a description.
pub(crate) fn description<'de, D: Deserializer<'de>>(given: D) -> Result<Option<String>, D::Error> {
    checked(given, |text: &Option<String>| {
        text_fault(text.as_deref(), "/description")
    })
}

impl NewCharge {
    /// Body that replaces `charge` by itself.
    #[must_use]
    pub fn of(charge: &Charge) -> Self {
        Self {
            amount: charge.amount.units().into(),
            currency: charge.currency.as_str().to_owned(),
            customer: charge.customer.as_ref().map(|id| id.as_str().to_owned()),
            description: charge.description.clone(),
        }
    }

    /// Validates the body and builds the charge, without checking that the customer exists. The
    /// desk checks that when it stores the charge.
    ///
    /// # Errors
    ///
    /// Returns every [`Fault`] of the body.
    pub fn create(self, id: ChargeId, now: SystemTime) -> Result<Charge, Vec<Fault>> {
        let mut faults = Vec::new();
        let amount = Amount::parse(self.amount, "/amount")
            .map_err(|fault| faults.push(fault))
            .ok();
        let currency = self.currency.parse().map_err(|fault| faults.push(fault)).ok();
        faults.extend(customer_fault(self.customer.as_deref()));
        let customer = self.customer.and_then(|id| id.parse().ok());
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

    /// Applies a `PUT` of this body to `charge`.
    ///
    /// # Errors
    ///
    /// Returns every [`Fault`] of the body. A changed member other than the description is a fault.
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
            charge.with_description(asked.description)
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
    fn body_reports_every_fault_at_once() {
        let body = NewCharge {
            amount: 0,
            currency: "EUR".to_owned(),
            customer: Some("unknown".to_owned()),
            description: Some("\u{7}".to_owned()),
        };
        let faults = body
            .create(ChargeId::from_random([1; 16]), SystemTime::UNIX_EPOCH)
            .unwrap_err();
        let pointers: Vec<_> = faults.iter().map(|fault| fault.pointer).collect();
        assert_eq!(pointers, ["/amount", "/currency", "/customer", "/description"]);
    }

    #[test]
    fn put_changes_only_the_description() {
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
