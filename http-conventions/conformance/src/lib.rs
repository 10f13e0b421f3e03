#![doc = include_str!("../README.md")]
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a conformance case fails by panicking, in the host's own tests"
)]

/// Cases for keys that are completed in a transaction of the host: rollbacks, fenced holders, and
/// requests that are dropped at each poll.
///
/// The macro [`completes_in_transaction!`](crate::completes_in_transaction!) makes a test of each.
pub mod completes_in_transaction;
/// Cases for [`IdempotencyStore`](http_conventions::idempotency::IdempotencyStore).
///
/// The macro [`idempotency_store!`](crate::idempotency_store!) makes a test of each.
pub mod idempotency_store;
/// Cases for keyed POSTs through [`Idempotency`](http_conventions::idempotency::Idempotency): 32 at
/// once, and requests that are dropped at each poll.
///
/// The macro [`keyed_requests!`](crate::keyed_requests!) makes a test of each.
pub mod keyed_requests;
/// Cases for [`RateLimitStore`](http_conventions::limits::RateLimitStore).
///
/// The macro [`rate_limit_store!`](crate::rate_limit_store!) makes a test of each.
pub mod rate_limit_store;

#[doc(hidden)]
pub use host_ports_conformance::__store;
