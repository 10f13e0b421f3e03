//! The ports of the host: time, timers, randomness, the error of every store, and logs of what clients do not see.
//!
//! All but the logs are those of [`host_ports`], which the whole suite shares. The logs have blanket implementations for closures.
//! [`PersistedStore`](crate::persisted::PersistedStore) stands beside the logic that calls it.
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

/// Receives every failure that was masked in a response, and those of stores that an operation does without.
///
/// Any `Fn(&Incident)` is a log.
///
/// # What an implementation must guarantee
///
/// It returns quickly: it is called while the response is written.
pub trait IncidentLog: Send + Sync {
    /// Takes note of `incident`.
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

/// A failure whose cause the client does not see.
///
/// The client sees `INTERNAL_SERVER_ERROR` and the correlation id, which is the way from a bug report to this record.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Incident {
    /// What the client was told as `extensions.correlationId`.
    pub correlation_id: String,
    /// The cause, with its sources; for the log only.
    pub detail: String,
    /// What happened.
    pub kind: IncidentKind,
    /// The field that failed, empty after a panic.
    pub path: Vec<PathSegment>,
}

/// What kind of failure an [`Incident`] is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum IncidentKind {
    /// A resolver returned an error that was not made for clients.
    Error,
    /// A resolver panicked; the whole operation was lost.
    Panic,
    /// A store of this crate failed. The operation went on without it, so no client was told of the correlation id.
    Store,
}

/// Receives the deprecated fields and arguments that operations name, each time one of them starts. Any `Fn(&DeprecatedUse)` is
/// one.
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
/// # What an implementation must guarantee
///
/// It returns quickly: it is called before the operation runs.
pub trait DeprecationLog: Send + Sync {
    /// Takes note of `used`.
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

/// A deprecated field or argument in an operation that starts.
///
/// No client chooses a word of it, so there are only so many: both may label a metric.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub struct DeprecatedUse<'d> {
    /// `Type.field` or `Type.field(argument:)`, as the schema has it.
    pub coordinate: &'d str,
    /// The operation, if it is of a trusted document: its name, or the document's id when it has none.
    pub operation: Option<&'d str>,
}
