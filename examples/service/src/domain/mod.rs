//! Domain of the demo: charges, refunds and customers as values and rules, without I/O.
//!
//! A customer is charged. A charge can be refunded in parts, up to its amount. A refund is first
//! queued, then booked.

mod charge;
mod customer;
mod id;
mod money;
mod refund;

pub(crate) use charge::description;
pub use charge::{Charge, ChargeStatus, NewCharge};
pub use customer::{Customer, NewCustomer};
pub use id::{ChargeId, CustomerId, InvalidId, RefundId};
pub(crate) use money::whole;
pub use money::{Amount, Currency};
pub use refund::{NewRefund, Refund, RefundRefused, RefundStatus};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// A validation error of one member of a JSON body.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// The member, as a JSON pointer ([RFC 6901](https://www.rfc-editor.org/rfc/rfc6901)).
    pub pointer: &'static str,
    /// Description of the error.
    pub detail: &'static str,
}

impl Fault {
    /// The customer does not exist.
    pub const UNKNOWN_CUSTOMER: Self = Self::new("/customer", "no such customer");
    /// An event type of the webhook endpoint is invalid.
    pub const EVENT_TYPE: Self = Self::new(
        "/events",
        "must be event types, for example `charge.created`, or patterns, for example `charge.*`",
    );
    /// The state of the webhook endpoint is unknown.
    pub const ENDPOINT_STATE: Self = Self::new("/state", "must be `enabled`, `paused` or `disabled`");
    /// The rate of the webhook endpoint is out of range.
    pub const RATE: Self = Self::new("/rate", "must be an integer from 1 to 4294967295");
    /// A static header of the webhook endpoint is refused.
    pub const STATIC_HEADER: Self = Self::new(
        "/headers",
        "must be at most 32 headers, each with a name that is not reserved and visible text as its value",
    );
    /// The content mode of the webhook endpoint is unknown.
    pub const CONTENT_MODE: Self = Self::new(
        "/content",
        "must be `envelope`, `cloudevents_structured` or `cloudevents_binary`",
    );
    /// The classification of the webhook endpoint is unknown.
    pub const CLASSIFICATION: Self = Self::new("/classification", "must be `strict` or `patient`");

    /// Details of the faults that [`checked`] bodies report.
    pub(crate) const DETAILS: &'static [&'static str] = &[
        money::AMOUNT,
        money::CURRENCY,
        charge::CUSTOMER,
        customer::EMPTY_NAME,
        TEXT,
        Self::EVENT_TYPE.detail,
        Self::ENDPOINT_STATE.detail,
        Self::RATE.detail,
        Self::STATIC_HEADER.detail,
        Self::CONTENT_MODE.detail,
        Self::CLASSIFICATION.detail,
    ];

    const fn new(pointer: &'static str, detail: &'static str) -> Self {
        Self { pointer, detail }
    }
}

/// Deserializes a member and checks it. The reader of the body reports the fault together with
/// those of the other members.
fn checked<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    given: D,
    fault: impl FnOnce(&T) -> Option<Fault>,
) -> Result<T, D::Error> {
    let value = T::deserialize(given)?;
    match fault(&value) {
        Some(fault) => Err(D::Error::custom(fault.detail)),
        None => Ok(value),
    }
}

const TEXT: &str = "must have at most 500 characters and no control characters";

/// Checks free text: at most 500 characters, no control characters.
fn text_fault(text: Option<&str>, pointer: &'static str) -> Option<Fault> {
    let text = text?;
    let fits = text.chars().count() <= 500 && !text.chars().any(char::is_control);
    (!fits).then_some(Fault::new(pointer, TEXT))
}
