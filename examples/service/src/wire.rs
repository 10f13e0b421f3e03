//! JSON representations of the resources, for REST responses and webhook events.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::domain::{Charge, Customer, Refund, description};

/// Unix seconds, the format of every time in the JSON.
pub(crate) fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

/// JSON of a charge.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct ChargeBody<'a> {
    id: &'a str,
    customer: Option<&'a str>,
    amount: u32,
    currency: &'a str,
    description: Option<&'a str>,
    amount_refunded: u32,
    status: &'static str,
    version: u32,
    created: u64,
}

impl<'a> ChargeBody<'a> {
    /// Builds the JSON of a charge.
    #[must_use]
    pub fn of(charge: &'a Charge) -> Self {
        Self {
            id: charge.id.as_str(),
            customer: charge.customer.as_ref().map(|customer| customer.as_str()),
            amount: charge.amount.units(),
            currency: charge.currency.as_str(),
            description: charge.description.as_deref(),
            amount_refunded: charge.amount_refunded,
            status: charge.status().as_str(),
            version: charge.version,
            created: seconds(charge.created),
        }
    }
}

/// JSON of a charge to which patches apply. Clients can write the description alone.
#[derive(Deserialize, Serialize)]
pub(crate) struct PatchedCharge {
    #[serde(default, deserialize_with = "description")]
    pub(crate) description: Option<String>,
    #[serde(flatten)]
    fixed: Map<String, Value>,
}

impl PatchedCharge {
    pub(crate) fn of(charge: &Charge) -> Self {
        let mut fixed = match serde_json::to_value(ChargeBody::of(charge)) {
            Ok(Value::Object(members)) => members,
            _ => Map::new(),
        };
        fixed.remove("description");
        Self {
            description: charge.description.clone(),
            fixed,
        }
    }
}

/// JSON of a refund.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct RefundBody<'a> {
    id: &'a str,
    charge: &'a str,
    amount: u32,
    status: &'static str,
    created: u64,
}

impl<'a> RefundBody<'a> {
    /// Builds the JSON of a refund.
    #[must_use]
    pub fn of(refund: &'a Refund) -> Self {
        Self {
            id: refund.id.as_str(),
            charge: refund.charge.as_str(),
            amount: refund.amount.units(),
            status: refund.status.as_str(),
            created: seconds(refund.created),
        }
    }
}

/// JSON of a customer.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct CustomerBody<'a> {
    id: &'a str,
    name: &'a str,
    created: u64,
}

impl<'a> CustomerBody<'a> {
    /// Builds the JSON of a customer.
    #[must_use]
    pub fn of(customer: &'a Customer) -> Self {
        Self {
            id: customer.id.as_str(),
            name: &customer.name,
            created: seconds(customer.created),
        }
    }
}
