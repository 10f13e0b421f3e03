//! The stores of a run, wrapped: they take their time, fail, lose answers, and tell the monitor what they did.
//!
//! A crash is before a verb or after it: a verb is one atomic step, so there is no middle.

mod endpoints;
mod inbox;
mod outbox;

pub(super) use endpoints::SimulatedEndpoints;
pub(super) use inbox::SimulatedInbox;
pub(super) use outbox::SimulatedOutbox;
