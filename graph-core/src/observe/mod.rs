//! Spans and measurements of operations and resolvers.
//!
//! - `operation`: span and measurements of one operation · `resolver`: those of its resolvers

mod operation;
mod resolver;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use juniper::OperationType;

pub(crate) use self::operation::Observation;
pub(crate) use self::resolver::{Observed, Observer, observe};
use crate::metrics::Metrics;
use crate::ports::Clock;

/// Observation that the host opted in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Observing {
    pub(crate) metrics: Option<Recorder>,
    /// `true` if resolvers are measured.
    pub(crate) resolver_metrics: bool,
    /// `true` if errors of juniper pass to the client.
    pub(crate) passes_field_errors: bool,
    #[cfg(feature = "tracing")]
    pub(crate) resolver_spans: bool,
    /// `true` if spans contain the text of the document.
    #[cfg(feature = "tracing")]
    pub(crate) document_text: bool,
}

impl Observing {
    /// Returns `true` if resolvers have spans.
    pub(crate) fn has_resolver_spans(&self) -> bool {
        #[cfg(feature = "tracing")]
        return self.resolver_spans;
        #[cfg(not(feature = "tracing"))]
        false
    }

    /// Returns `true` if plans mark the fields with a resolver.
    pub(crate) fn has_resolvers(&self) -> bool {
        self.resolver_metrics || self.has_resolver_spans()
    }
}

/// Metrics and clock of the host.
#[derive(Clone)]
pub(crate) struct Recorder {
    pub(crate) metrics: Arc<dyn Metrics>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Recorder {
    fn now(&self) -> Duration {
        self.clock.monotonic()
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recorder")
    }
}

/// Value of `graphql.operation.type`.
fn type_name(kind: OperationType) -> &'static str {
    match kind {
        OperationType::Query => "query",
        OperationType::Mutation => "mutation",
        OperationType::Subscription => "subscription",
    }
}
