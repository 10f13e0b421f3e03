//! What an operation that starts leaves behind: its text in a store, its deprecated fields in a log, and a span.

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
    /// Takes note of an operation, now that nothing speaks against running it.
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

/// Runs `work` in a span that has the type of the operation and its name, cut where it is long: no text, no variable, nobody.
///
/// No asynchronous function, which would have room for `work` twice.
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
