//! What this crate asks of its host: randomness for correlation ids, a place to log what clients must not
//! see and what they still use, a timer for deadlines, and the time.
//!
//! All have blanket implementations for closures. Storage has its own trait beside what calls it,
//! [`PersistedStore`](crate::persisted::PersistedStore).
//!
//! ```
//! use std::time::SystemTime;
//!
//! use graph_core::ports::{Clock, Entropy, Incident};
//!
//! let clock: &dyn Clock = &SystemTime::now; // any function that tells the time is a clock
//! assert!(clock.now() > SystemTime::UNIX_EPOCH);
//!
//! fn is_log(_: &impl graph_core::ports::IncidentLog) {}
//! fn is_entropy(_: &impl Entropy) {}
//!
//! is_log(&|incident: &Incident| drop(incident.detail.clone()));
//! is_entropy(&|buffer: &mut [u8]| buffer.fill(7));
//! ```

use std::pin::Pin;
use std::time::{Duration, SystemTime};

use crate::response::PathSegment;

/// Fills buffers with random bytes.
///
/// # What an implementation must guarantee
///
/// Every byte is unpredictable. There is no error: a host without randomness must not run.
pub trait Entropy: Send + Sync {
    /// Overwrites the whole `buffer`.
    fn fill(&self, buffer: &mut [u8]);
}

impl<F> Entropy for F
where
    F: Fn(&mut [u8]) + Send + Sync,
{
    fn fill(&self, buffer: &mut [u8]) {
        self(buffer);
    }
}

/// The randomness of the operating system.
#[cfg(feature = "os-entropy")]
#[derive(Clone, Copy, Debug, Default)]
pub struct OsEntropy;

#[cfg(feature = "os-entropy")]
impl Entropy for OsEntropy {
    #[expect(
        clippy::expect_used,
        reason = "a host whose operating system has no randomness must not run"
    )]
    fn fill(&self, buffer: &mut [u8]) {
        getrandom::fill(buffer).expect("the operating system has randomness");
    }
}

/// Tells the wall-clock time.
///
/// Need not be monotonic. Any `Fn() -> SystemTime` is a clock, so `SystemTime::now` is one.
pub trait Clock: Send + Sync {
    /// The current time.
    fn now(&self) -> SystemTime;
}

impl<F> Clock for F
where
    F: Fn() -> SystemTime + Send + Sync,
{
    fn now(&self) -> SystemTime {
        self()
    }
}

/// Tells when time has passed: `tokio::time::sleep` is one.
///
/// # What an implementation must guarantee
///
/// The future completes when `duration` has passed, and wakes its task then.
pub trait Timer: Send + Sync {
    /// Completes after `duration`.
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}

impl<F, T> Timer for F
where
    F: Fn(Duration) -> T + Send + Sync,
    T: Future<Output = ()> + Send + 'static,
{
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(self(duration))
    }
}

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
