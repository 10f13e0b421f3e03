//! Ports of the host: clock, timer, randomness, store errors, and logs.
//!
//! This module defines the logs and re-exports the other ports from [`host_ports`]. The store port
//! is [`PersistedStore`](crate::persisted::PersistedStore). Each log trait is implemented for
//! closures, for example:
//!
//! ```
//! use graph_core::ports::{Incident, IncidentLog};
//!
//! fn is_log(_: &impl IncidentLog) {}
//! is_log(&|incident: &Incident| drop(incident.detail.clone()));
//! ```

use crate::response::PathSegment;

pub use host_ports::{
    Clock, Entropy, EntropyFn, Sleep, StoreError, StoreErrorKind, Timer, TimerFn, entropy_fn, timer_fn,
};
#[cfg(feature = "os")]
pub use host_ports::{OsEntropy, SystemClock};

/// Receives the cause of every error that is hidden from the client, and of every store failure
/// that does not stop the operation.
///
/// Implemented for every `Fn(&Incident)`.
///
/// # Contract
///
/// The method must return quickly: the response is not sent before the method has returned.
pub trait IncidentLog: Send + Sync {
    /// Records an incident.
    fn record(&self, incident: &Incident);
}

impl<F> IncidentLog for F
where
    F: Fn(&Incident) + Send + Sync,
{
    fn record(&self, incident: &Incident) {
        self(incident);
    }
}

/// Failure whose cause is hidden from the client.
///
/// For a failed field or a panic, the client receives `INTERNAL_SERVER_ERROR` and the correlation
/// id. A user can quote the id in a bug report.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Incident {
    /// Correlation id, sent to the client as `extensions.correlationId` except for
    /// [`IncidentKind::Store`].
    pub correlation_id: String,
    /// Cause of the failure and its sources. Do not send it to clients.
    pub detail: String,
    /// Kind of the failure.
    pub kind: IncidentKind,
    /// Path of the failed field; empty after a panic and for a store failure.
    pub path: Vec<PathSegment>,
}

/// Kind of failure of an [`Incident`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum IncidentKind {
    /// A resolver returned a masked [`GraphError`](crate::GraphError), or an error of another type.
    Error,
    /// A resolver panicked, and the whole operation failed.
    Panic,
    /// A store failed, and the operation continued without it. The client did not receive the
    /// correlation id.
    Store,
}

/// Receives the deprecated fields and arguments that each started operation uses.
///
/// Implemented for every `Fn(&DeprecatedUse)`. This log counts the uses for each trusted document:
///
/// ```
/// use std::collections::HashMap;
/// use std::sync::{Arc, Mutex};
///
/// use graph_core::ports::{DeprecatedUse, DeprecationLog};
///
/// let uses: Arc<Mutex<HashMap<(String, Option<String>), u64>>> = Arc::default();
/// let counted = Arc::clone(&uses);
/// let log = move |used: &DeprecatedUse<'_>| {
///     let by = used.operation.map(str::to_owned);
///     let mut uses = counted.lock().unwrap();
///     *uses.entry((used.coordinate.to_owned(), by)).or_default() += 1;
/// };
/// # fn is_log(_: &impl DeprecationLog) {}
/// # is_log(&log);
/// ```
///
/// # Contract
///
/// The method must return quickly: the operation does not run before the method has returned.
pub trait DeprecationLog: Send + Sync {
    /// Records one use.
    fn record(&self, used: &DeprecatedUse<'_>);
}

impl<F> DeprecationLog for F
where
    F: Fn(&DeprecatedUse<'_>) + Send + Sync,
{
    fn record(&self, used: &DeprecatedUse<'_>) {
        self(used);
    }
}

/// Use of a deprecated field or argument by an operation.
///
/// Both values come from the schema and the trusted documents, not from the client. The number of
/// distinct values is bounded, so a host can use them as labels of a metric.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub struct DeprecatedUse<'d> {
    /// Schema coordinate: `Type.field` or `Type.field(argument:)`.
    pub coordinate: &'d str,
    /// Name of the trusted document's operation, or the document's id if it has no name; `None` for
    /// other documents.
    pub operation: Option<&'d str>,
}
