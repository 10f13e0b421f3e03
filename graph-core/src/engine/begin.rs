//! Start of an operation: registration of its text and deprecation log.

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
