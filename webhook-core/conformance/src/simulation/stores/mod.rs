//! Wrapped stores of a run: they take time, fail, lose results, and report to the monitor.
//!
//! A crash is before or after a call, because a call is one atomic step.

mod endpoints;
mod inbox;
mod outbox;

pub(super) use endpoints::SimulatedEndpoints;
pub(super) use inbox::SimulatedInbox;
pub(super) use outbox::SimulatedOutbox;
