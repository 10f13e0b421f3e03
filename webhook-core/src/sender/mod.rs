//! Sender: stores events and delivers them to every subscribed endpoint, at least once.
//!
//! 1. An event is stored with one [`Delivery`] per endpoint ([`fan_out`], [`Outbox::enqueue`])
//!    before the producer gets its result.
//! 2. A [`Dispatcher`] leases due deliveries, signs and sends them, and settles the outcomes. If a
//!    dispatcher crashes, an attempt may be repeated, but no event is lost.
//! 3. Failed deliveries are kept for inspection and [`replay`](Outbox::replay). An endpoint that
//!    was registered later gets [earlier events](Outbox::replay_missing) on request.
//!
//! | subject | types |
//! |---|---|
//! | registered endpoints | [`Endpoint`], [`Destination`], [`EndpointUpdate`], [`EndpointStore`] |
//! | tenants | [`Owner`], [`Audience`] |
//! | content of the messages | [`ContentMode`], [`StaticHeaders`] |
//! | stored events and deliveries | [`StoredEvent`], [`TraceParent`], [`Delivery`], [`Outbox`] |
//! | retry schedule | [`Schedule`] |
//! | classification of responses | [`Classification`], [`DeliveryPolicy`] |
//! | circuit breaker, concurrency limit | [`EndpointHealth`], [`HealthEvent`] |
//! | bulkheads | [`Places`], [`Standing`], [`Bulkheads`] |
//! | owners of leases, heartbeats | [`InstanceId`], [`Liveness`] |
//! | error of the local clock | [`SkewEstimator`], [`ClockSkew`] |
//! | delivery, metrics | [`Dispatcher`], [`DeliveryMetrics`] |
//! | events for operators | [`OperationalEvent`] |
//!
//! All decisions are pure functions and usable without the dispatcher.

mod attempt;
mod audience;
mod bulkhead;
mod content;
mod delivery;
mod destination;
mod dispatch;
mod endpoint;
mod health;
mod instance;
mod metrics;
mod operational;
mod outbox;
mod policy;
mod schedule;
mod skew;
mod term;
mod trace;

pub use attempt::{Attempt, AttemptClass, AttemptOutcome, AttemptResult, Classification, KEPT_ANSWER};
pub use audience::{Audience, InvalidTenantId, Owner, TenantId};
pub use bulkhead::{Bulkheads, Places, Standing};
pub use content::ContentMode;
pub use delivery::{
    Delivery, DeliveryId, DeliveryState, Disposition, FailureReason, Lease, Receipt, Settled, Settlement,
    Step,
};
pub use destination::{Destination, InvalidDestination};
pub use dispatch::{Dispatcher, Handled, Report};
pub use endpoint::{
    Endpoint, EndpointId, EndpointQuery, EndpointState, EndpointStore, EndpointUpdate, EventFilter,
    EventPattern, Inserted, InvalidEndpointId, InvalidEventPattern, InvalidStaticHeader, Rotated, Rotation,
    SecretsAtRest, StaticHeaders,
};
pub use health::{EndpointHealth, HealthEvent, Lane, Signal};
pub use instance::{BEAT, Departure, Heartbeat, InstanceId, Liveness, SILENCE};
pub use metrics::{DeliveryEvent, DeliveryMetrics};
pub use operational::OperationalEvent;
pub use outbox::{
    DeliveryFilter, Enqueue, Enqueued, EventPlace, LeaseRequest, Leased, Leases, Missing, MissingRequest,
    Outbox, Page, Period, PurgeRequest, ReplayRequest, Replayed, Retention, SetAside, StoredEvent, Turn,
    TurnRequest, fan_out,
};
pub use policy::{DeliveryDecision, DeliveryPolicy};
pub use schedule::{InvalidSchedule, Schedule};
pub use skew::{ClockSkew, SkewEstimator};
pub use term::UnknownTerm;
pub use trace::{InvalidTraceParent, TraceParent};
