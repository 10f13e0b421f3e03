//! The sending side: events go to every endpoint that wants them, at least once.
//!
//! An event is stored with one [`Delivery`] per endpoint ([`fan_out`], [`Outbox::enqueue`]) before the producer is answered. A
//! [`Dispatcher`] leases what is due, signs it, sends it, and settles what came of it; a crash at any point costs a repetition,
//! never an event. What failed for good is kept for inspection and [`replay`](Outbox::replay), and an endpoint that came later
//! gets [what it missed](Outbox::replay_missing).
//!
//! | module's subject | types |
//! |---|---|
//! | who gets events | [`Endpoint`], [`Destination`], [`EndpointStore`] |
//! | what waits | [`StoredEvent`], [`Delivery`], [`Outbox`] |
//! | when | [`Schedule`] |
//! | what an answer means | [`classify`], [`DeliveryPolicy`] |
//! | how an endpoint does | [`EndpointHealth`], [`HealthEvent`] |
//! | doing it | [`Dispatcher`] |
//!
//! The decisions are pure and usable without the dispatcher.

mod attempt;
mod delivery;
mod destination;
mod dispatch;
mod endpoint;
mod health;
mod outbox;
mod policy;
mod schedule;
mod term;

pub use attempt::{Attempt, AttemptClass, AttemptOutcome, AttemptResult, KEPT_ANSWER, classify};
pub use delivery::{
    Delivery, DeliveryId, DeliveryState, Disposition, FailureReason, Lease, Receipt, Settled, Settlement,
    Step,
};
pub use destination::{Destination, InvalidDestination};
pub use dispatch::{Dispatcher, Handled, Report};
pub use endpoint::{
    Endpoint, EndpointId, EndpointState, EndpointStore, EventFilter, Inserted, InvalidEndpointId, Rotated,
    Rotation, SignersAtRest,
};
pub use health::{EndpointHealth, HealthEvent, Lane, Signal};
pub use outbox::{
    DeliveryFilter, Enqueue, Enqueued, EventPlace, LeaseRequest, Leased, Leases, Missing, MissingRequest,
    Outbox, Page, Period, PurgeRequest, ReplayRequest, Retention, SetAside, StoredEvent, fan_out,
};
pub use policy::{DeliveryDecision, DeliveryPolicy};
pub use schedule::{InvalidSchedule, Schedule};
pub use term::UnknownTerm;
