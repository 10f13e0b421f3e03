//! Size of an operation that does not run.

use super::Engine;
use super::root::{Root, SubscriptionRoot};
use crate::document::operation::{OperationTree, parsed, validated};
use crate::guard::RequestContext;
use crate::http::GraphRequest;
use crate::limits::{Estimate, outline};
use crate::response::GraphResponse;

impl<Q, M, S> Engine<Q, M, S>
where
    Q: Root,
    M: Root<Host = Q::Host>,
    S: SubscriptionRoot<Host = Q::Host>,
{
    /// Computes the size of an operation that does not run, for example while a user types it.
    ///
    /// The size may exceed the [limits](crate::limits);
    /// [`Limits::exceeded`](crate::limits::Limits::exceeded) lists those that would refuse the
    /// operation. Variables count as they are, without coercion.
    ///
    /// # Errors
    ///
    /// Returns the response to a document that is malformed, invalid or larger than the fixed
    /// limits, or that has no operation of the requested name. Names that the principal of
    /// `context` must not see are replaced, as in a response.
    ///
    /// # Security
    ///
    /// Lists of trusted documents, the switch for introspection and the limit of the values in the
    /// variables do not apply: offer this method to clients who may send any document, and limit
    /// the rate of their requests.
    ///
    /// # Performance
    ///
    /// The document is parsed and validated each time. It is not cached.
    pub fn estimate(
        &self,
        request: &GraphRequest,
        context: &RequestContext<Q::Host>,
    ) -> Result<Estimate, GraphResponse> {
        let inner = &self.inner;
        let text = request.query().unwrap_or_default();
        let measured = || {
            let ast = parsed(&text, inner.limits.of_parser())?;
            validated(&inner.schema, &ast)?;
            let tree = OperationTree::new(&ast, request.operation_name())?;
            let outline = outline(&inner.schema, &inner.costs, &tree);
            Ok(inner.limits.estimate(&outline, &inner.costs, request.variables()))
        };
        measured().map_err(|refused| inner.redacted(refused, context))
    }
}
