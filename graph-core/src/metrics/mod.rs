//! Measurements of operations, events and resolvers, for the metrics of the host.
//!
//! The host implements [`Metrics`], or passes a closure that receives each
//! [operation](OperationMetrics), to
//! [`EngineBuilder::with_metrics`](crate::EngineBuilder::with_metrics):
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicU64, Ordering};
//!
//! use graph_core::ErrorCode;
//! use graph_core::metrics::{Metrics, OperationMetrics, ResolverMetrics};
//!
//! /// Counters of a host, in place of those of a metrics library.
//! #[derive(Default)]
//! struct Counters {
//!     masked_errors: AtomicU64,
//!     slow_resolvers: AtomicU64,
//! }
//!
//! struct Recorder(Arc<Counters>);
//!
//! impl Metrics for Recorder {
//!     fn operation(&self, operation: &OperationMetrics<'_>) {
//!         if operation.error_codes.contains(&ErrorCode::InternalServerError) {
//!             self.0.masked_errors.fetch_add(1, Ordering::Relaxed);
//!         }
//!     }
//!
//!     // called with `EngineBuilder::with_resolver_metrics` only
//!     fn resolver(&self, resolver: &ResolverMetrics<'_>) {
//!         if resolver.duration.as_millis() > 100 {
//!             self.0.slow_resolvers.fetch_add(1, Ordering::Relaxed);
//!         }
//!     }
//! }
//! # fn is_metrics(_: &impl Metrics) {}
//! # is_metrics(&Recorder(Arc::default()));
//! # is_metrics(&|operation: &OperationMetrics<'_>| drop(operation.duration));
//! ```
//!
//! | request | calls of [`Metrics::operation`] |
//! |---|---|
//! | query or mutation, also with deferred fragments | one, when the last part is ready |
//! | batch | one for each operation; the duration excludes the other operations |
//! | subscription | one at the end, after one call of [`Metrics::event`] for each event |
//! | refused before it runs, also if it is not a valid GraphQL request | one |
//! | page of the explorer, messages of a protocol that start no operation | none |
//!
//! # Security
//!
//! The values contain no variables, arguments, document text or principal. Clients choose none of
//! the strings: names come from the schema and from trusted documents. The number of distinct
//! values is bounded, so a host can use them as labels.

use std::time::Duration;

use crate::error::ErrorCode;

/// Receives measurements.
///
/// Implemented for every `Fn(&OperationMetrics)`.
///
/// # Contract
///
/// - The methods must return quickly: the response is not sent before they have returned.
/// - A panic of a method has no effect on the response.
pub trait Metrics: Send + Sync {
    /// Records an operation that ended.
    fn operation(&self, operation: &OperationMetrics<'_>);

    /// Records the response to one event of a subscription. Does nothing by default.
    ///
    /// The duration starts when the source yields the event.
    fn event(&self, event: &OperationMetrics<'_>) {
        let _ = event;
    }

    /// Records a resolver that ended. Does nothing by default.
    ///
    /// Called only with [`with_resolver_metrics`].
    ///
    /// [`with_resolver_metrics`]: crate::EngineBuilder::with_resolver_metrics
    fn resolver(&self, resolver: &ResolverMetrics<'_>) {
        let _ = resolver;
    }
}

impl<F> Metrics for F
where
    F: Fn(&OperationMetrics<'_>) + Send + Sync,
{
    fn operation(&self, operation: &OperationMetrics<'_>) {
        self(operation);
    }
}

/// Measurements of one operation, or of one event of a subscription.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct OperationMetrics<'m> {
    /// `query`, `mutation` or `subscription`; `None` if the request was refused before its
    /// operation was known.
    pub operation_type: Option<&'static str>,
    /// Name of the trusted document's operation, or the document's id if it has no name; `None` for
    /// other documents.
    pub operation: Option<&'m str>,
    /// Result of the operation.
    pub outcome: Outcome,
    /// Distinct codes of the errors that the client receives, in order of their first occurrence.
    pub error_codes: &'m [ErrorCode],
    /// Time from the start of the operation to its result, by the clock of
    /// [`with_metrics`](crate::EngineBuilder::with_metrics).
    pub duration: Duration,
    /// Bytes of the JSON of all results, without the framing of streams and batches. 0 for a
    /// request that is not a valid GraphQL request.
    pub response_bytes: u64,
    /// [Cost](crate::limits#cost); `None` if the operation was refused before its cost was known.
    pub cost: Option<u64>,
}

/// Result of an operation.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// No error.
    Success,
    /// Data with errors.
    Partial,
    /// Errors, and `null` in place of the data; a subscription that a panic ended.
    Failure,
    /// Errors before anything was executed.
    Refused,
    /// The host dropped the operation before its result. The normal end of a subscription whose
    /// client unsubscribes or disconnects.
    Cancelled,
}

impl Outcome {
    /// Returns the name in lower case, for example for a label.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Partial => "partial",
            Self::Failure => "failure",
            Self::Refused => "refused",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Measurements of one call of a resolver.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ResolverMetrics<'m> {
    /// Name of the object type.
    pub parent_type: &'m str,
    /// Name of the field in the schema, not its alias.
    pub field: &'m str,
    /// Time until the resolver returned. Excludes the resolvers of the selected fields; includes
    /// the wait for a batch of a [loader](crate::loader), and for a slot under
    /// [`with_concurrency`](crate::EngineBuilder::with_concurrency).
    pub duration: Duration,
    /// Code of the resolver's error; `INTERNAL_SERVER_ERROR` after a panic, `TIMEOUT` if it was not
    /// ready before the deadline.
    pub error: Option<ErrorCode>,
}
