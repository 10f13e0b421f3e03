//! The engine: one long-lived value that answers every operation on one schema.
//!
//! An operation goes through five steps, and only the last one runs resolvers: parse and validate, find the operation, judge it
//! by the [`limits`](crate::limits), coerce the variables, execute. juniper does the first and the last two; `operation` is the
//! seam to it.

mod builder;
mod operation;
mod respond;
mod root;

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::future::FutureExt as _;
use futures_util::stream::{Stream, StreamExt as _};
use juniper::{GraphQLType, OperationType, RootNode, Value};

pub use self::builder::{ConfigError, ConfigMistake, EngineBuilder};
use self::operation::Operation;
pub use self::root::{Root, SubscriptionRoot};
use crate::compat::{Outline, OutlineField, Spreadable};
use crate::error::ErrorCode;
use crate::error::mask::Mask;
use crate::guard::RequestContext;
use crate::http::{GraphRequest, HttpPolicy};
use crate::limits::{CostModel, Limits};
use crate::ports::{Entropy, IncidentLog};
use crate::response::GraphResponse;
use crate::subscription::{Emitter, produced};

/// Answers operations on one schema; cloning it is cheap.
///
/// `Q`, `M` and `S` are the host's root types. Their juniper context is [`RequestContext<H>`](RequestContext).
pub struct Engine<Q, M, S>
where
    Q: GraphQLType,
    M: GraphQLType,
    S: GraphQLType,
{
    inner: Arc<Inner<Q, M, S>>,
}

struct Inner<Q, M, S>
where
    Q: GraphQLType,
    M: GraphQLType,
    S: GraphQLType,
{
    schema: RootNode<Q, M, Spreadable<S>>,
    introspection: bool,
    limits: Limits,
    costs: CostModel,
    http: HttpPolicy,
    entropy: Arc<dyn Entropy>,
    log: Option<Arc<dyn IncidentLog>>,
}

impl<Q: GraphQLType, M: GraphQLType, S: GraphQLType> Clone for Engine<Q, M, S> {
    fn clone(&self) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
        }
    }
}

impl<Q: GraphQLType, M: GraphQLType, S: GraphQLType> fmt::Debug for Engine<Q, M, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("introspection", &self.inner.introspection)
            .field("limits", &self.inner.limits)
            .finish_non_exhaustive()
    }
}

impl<Q, M, S> Engine<Q, M, S>
where
    Q: Root,
    M: Root<Host = Q::Host>,
    S: SubscriptionRoot<Host = Q::Host>,
{
    /// Runs a query or a mutation.
    ///
    /// A subscription is refused with `BAD_REQUEST`: it is for [`subscribe`](Self::subscribe).
    pub async fn execute(&self, request: &GraphRequest, context: &RequestContext<Q::Host>) -> GraphResponse {
        let attempted = self.attempt(request, context, Access::ReadWrite).await;
        attempted
            .unwrap_or_else(|WouldWrite| GraphResponse::refused(ErrorCode::BadRequest, WouldWrite::MESSAGE))
    }

    /// Runs a query or, with [`Access::ReadWrite`], a mutation; panics of resolvers end here.
    async fn attempt(
        &self,
        request: &GraphRequest,
        context: &RequestContext<Q::Host>,
        access: Access,
    ) -> Result<GraphResponse, WouldWrite> {
        let whole = async {
            match self.prepare(request) {
                Ok(operation) if access.refuses(operation.kind()) => Err(WouldWrite),
                Ok(operation) => Ok(self.run(&operation, request, context).await),
                Err(refused) => Ok(refused),
            }
        };
        let contained = AssertUnwindSafe(whole).catch_unwind().await;
        contained.unwrap_or_else(|payload| Ok(self.panicked(payload.as_ref(), context)))
    }

    /// Runs any operation: a subscription gives a response for every event, everything else exactly one.
    ///
    /// Dropping the stream ends the subscription.
    pub fn subscribe(
        &self,
        request: GraphRequest,
        context: RequestContext<Q::Host>,
    ) -> impl Stream<Item = GraphResponse> + Send + use<Q, M, S> + 'static {
        let engine = self.clone();
        produced(move |emitter| async move {
            let produced = AssertUnwindSafe(engine.produce(&request, &context, &emitter))
                .catch_unwind()
                .await;
            if let Err(payload) = produced {
                emitter.emit(engine.panicked(payload.as_ref(), &context)).await;
            }
        })
    }

    async fn produce(
        &self,
        request: &GraphRequest,
        context: &RequestContext<Q::Host>,
        emitter: &Emitter<GraphResponse>,
    ) {
        let operation = match self.prepare(request) {
            Ok(operation) => operation,
            Err(refused) => return emitter.emit(refused).await,
        };
        if operation.kind() != OperationType::Subscription {
            return emitter.emit(self.run(&operation, request, context).await).await;
        }
        match operation
            .open(request.variables(), context, &mut self.mask(context))
            .await
        {
            Ok((key, mut events)) => {
                while let Some(event) = events.next().await {
                    let mut mask = self.mask(context);
                    emitter.emit(operation::event(&key, event, &mut mask)).await;
                }
            }
            Err(refused) => emitter.emit(refused).await,
        }
    }

    /// Parses, validates and judges; no resolver runs.
    fn prepare<'r>(
        &'r self,
        request: &'r GraphRequest,
    ) -> Result<Operation<'r, Q, M, Spreadable<S>>, GraphResponse> {
        let operation = Operation::new(&self.inner.schema, request)?;
        operation.judge(request, |outline| self.judge(outline))?;
        Ok(operation)
    }

    fn judge(&self, outline: &Outline<'_>) -> Result<(), GraphResponse> {
        if let (false, Some(field)) = (self.inner.introspection, introspection(&outline.fields)) {
            let message = format!("introspection is switched off, `{field}` is not served");
            return Err(GraphResponse::refused(ErrorCode::IntrospectionDisabled, message));
        }
        // a query root can be a field of other types; juniper validates it there and cannot resolve it
        let mut roots = outline.fields.iter();
        if let Some(field) = roots.find_map(|root| introspection(&root.children)) {
            let message = format!("`{field}` is served at the root of a query only");
            return Err(GraphResponse::refused(
                ErrorCode::GraphqlValidationFailed,
                message,
            ));
        }
        if outline.kind == OperationType::Subscription && outline.fields.len() != 1 {
            let message = "a subscription selects exactly one field at its root";
            return Err(GraphResponse::refused(
                ErrorCode::GraphqlValidationFailed,
                message,
            ));
        }
        match self.inner.limits.exceeded(outline, &self.inner.costs) {
            errors if errors.is_empty() => Ok(()),
            errors => Err(GraphResponse::request_errors(errors)),
        }
    }

    async fn run(
        &self,
        operation: &Operation<'_, Q, M, Spreadable<S>>,
        request: &GraphRequest,
        context: &RequestContext<Q::Host>,
    ) -> GraphResponse {
        if operation.kind() == OperationType::Subscription {
            let message = "a subscription is served as `text/event-stream` only";
            return GraphResponse::refused(ErrorCode::BadRequest, message);
        }
        operation
            .execute(request.variables(), context, &mut self.mask(context))
            .await
    }

    fn panicked(
        &self,
        payload: &(dyn std::any::Any + Send),
        context: &RequestContext<Q::Host>,
    ) -> GraphResponse {
        GraphResponse::executed(Value::Null, vec![self.mask(context).panic(payload)])
    }

    fn mask<'m>(&'m self, context: &'m RequestContext<Q::Host>) -> Mask<'m> {
        Mask::new(
            &*self.inner.entropy,
            self.inner.log.as_deref(),
            context.correlation_id(),
        )
    }
}

/// The first `__schema` or `__type` of `fields`, at any depth.
fn introspection<'o>(fields: &'o [OutlineField<'_>]) -> Option<&'o str> {
    fields.iter().find_map(|field| match field.name {
        "__schema" | "__type" => Some(field.name),
        _ => introspection(&field.children),
    })
}

/// What an operation may do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Access {
    ReadOnly,
    ReadWrite,
}

impl Access {
    fn refuses(self, kind: OperationType) -> bool {
        self == Self::ReadOnly && kind == OperationType::Mutation
    }
}

/// A mutation was asked for where only reading is allowed.
struct WouldWrite;

impl WouldWrite {
    const MESSAGE: &str = "a mutation is served by POST only";
}
