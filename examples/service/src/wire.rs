//! The resources as JSON: what the REST endpoints answer and the events carry.

use std::time::SystemTime;

use serde::Serialize;

use crate::domain::{Charge, Customer, Refund};

/// Unix seconds: how every time stands on this wire.
pub(crate) fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

/// A charge.
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
    /// The charge as it stands on the wire.
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

/// A refund.
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
    /// The refund as it stands on the wire.
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

/// A customer.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct CustomerBody<'a> {
    id: &'a str,
    name: &'a str,
    created: u64,
}

impl<'a> CustomerBody<'a> {
    /// The customer as it stands on the wire.
    #[must_use]
    pub fn of(customer: &'a Customer) -> Self {
        Self {
            id: customer.id.as_str(),
            name: &customer.name,
            created: seconds(customer.created),
        }
    }
}
