//! Domain of the demo: charges, refunds and customers as values and rules, without I/O.
//!
//! A customer is charged. A charge can be refunded in parts, up to its amount. A refund is first
//! queued, then booked.

mod charge;
mod customer;
mod id;
mod money;
mod refund;

pub use charge::{Charge, ChargeStatus, NewCharge};
pub use customer::{Customer, NewCustomer};
pub use id::{ChargeId, CustomerId, InvalidId, RefundId};
pub(crate) use money::whole_or_none;
pub use money::{Amount, Currency};
pub use refund::{NewRefund, Refund, RefundRefused, RefundStatus};

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

    const fn new(pointer: &'static str, detail: &'static str) -> Self {
        Self { pointer, detail }
    }
}

/// Checks free text: at most 500 characters, no control characters.
fn text_fault(text: Option<&str>, pointer: &'static str) -> Option<Fault> {
    let text = text?;
    let fits = text.chars().count() <= 500 && !text.chars().any(char::is_control);
    (!fits).then_some(Fault::new(
        pointer,
        "must have at most 500 characters and no control characters",
    ))
}
