//! The business of the demo: a small payments desk, as values and rules without a database or a wire.
//!
//! A customer is charged; a charge can be refunded, in parts, up to its amount. A refund is queued first and booked later.

mod charge;
mod customer;
mod id;
mod money;
mod refund;

pub use charge::{Charge, ChargeStatus, NewCharge};
pub use customer::{Customer, NewCustomer};
pub use id::{ChargeId, CustomerId, InvalidId, RefundId};
pub use money::{Amount, Currency};
pub use refund::{NewRefund, Refund, RefundRefused, RefundStatus};

/// One fault of a well-formed body: the member, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// The member, as a JSON pointer ([RFC 6901](https://www.rfc-editor.org/rfc/rfc6901)).
    pub pointer: &'static str,
    /// What is wrong.
    pub detail: &'static str,
}

impl Fault {
    /// The customer of a charge is none of the desk's.
    pub const UNKNOWN_CUSTOMER: Self = Self::new("/customer", "no such customer");
    /// A webhook endpoint asks for events that are none.
    pub const EVENT_TYPE: Self = Self::new("/events", "dotted lower-case words, as `charge.created`");

    const fn new(pointer: &'static str, detail: &'static str) -> Self {
        Self { pointer, detail }
    }
}

/// Text that a person reads: at most 500 characters, none of them a control character.
fn text_fault(text: Option<&str>, pointer: &'static str) -> Option<Fault> {
    let text = text?;
    let fits = text.chars().count() <= 500 && !text.chars().any(char::is_control);
    (!fits).then_some(Fault::new(
        pointer,
        "at most 500 characters, without control characters",
    ))
}
