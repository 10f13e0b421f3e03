//! Start of an operation: registration of its text, deprecation log, and tracing span.

use super::Engine;
use super::root::{Root, SubscriptionRoot};
use crate::document::Document;
use crate::guard::RequestContext;
use crate::http::GraphRequest;
use crate::ports::DeprecatedUse;

impl<Q, M, S> Engine<Q, M, S>
where
    Q: Root,
    M: Root<Host = Q::Host>,
    S: SubscriptionRoot<Host = Q::Host>,
{
    /// Records an operation that passed all checks and is about to run.
    pub(super) async fn begin(
        &self,
        request: &GraphRequest,
        document: &Document,
        context: &RequestContext<Q::Host>,
    ) {
        if let Some(log) = &self.inner.deprecation_log {
            for coordinate in &document.deprecated {
                log.record(&DeprecatedUse {
                    coordinate,
                    operation: document.listed_as.as_deref(),
                });
            }
        }
        self.register(request, document, context).await;
    }
}

/// Runs `work` in a span with the operation's type and truncated name, without text, variables or
/// principal.
///
/// Not an `async fn`, which would store `work` twice.
#[cfg(feature = "tracing")]
pub(super) fn traced<F: Future>(document: &Document, work: F) -> tracing::instrument::Instrumented<F> {
    use juniper::OperationType;
    use tracing::Instrument as _;

    let kind = match document.kind {
        OperationType::Query => "query",
        OperationType::Mutation => "mutation",
        OperationType::Subscription => "subscription",
    };
    let span = tracing::info_span!(
        "graphql",
        graphql.operation.r#type = kind,
        graphql.operation.name = document.name.as_deref(),
    );
    work.instrument(span)
}

#[cfg(not(feature = "tracing"))]
pub(super) fn traced<F: Future>(_: &Document, work: F) -> F {
    work
}
