//! The GraphQL engine: executes every operation on one schema.
//!
//! The engine parses each document once, validates it, checks it against the
//! [`limits`](crate::limits), compiles it to a plan, and caches the plan. An operation takes three
//! steps: find the document, coerce the variables, execute the plan. Resolvers run only in the last
//! step.

mod batch;
mod begin;
mod builder;
mod events;
mod failures;
mod find;
mod incremental;
mod measure;
mod mistakes;
mod multipart;
mod prepare;
mod redact;
mod respond;
mod root;
mod run;
mod single;
mod trusted;
mod type_rules;

use std::fmt;
use std::future::ready;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::FutureExt as _;
use futures_util::stream::{Stream, StreamExt as _};
use juniper::{GraphQLType, OperationType};

pub use self::builder::EngineBuilder;
pub use self::mistakes::{ConfigError, ConfigMistake};
use self::prepare::Prepared;
pub use self::root::{HostContext, Root, SubscriptionRoot};
use self::trusted::TrustedList;
use crate::document::{Cache, Chosen, Coerced, Document, Facts, Index, Introspection, View, coerce};
use crate::error::ErrorCode;
use crate::executor::Guard;
use crate::guard::{GuardLog, GuardMode, RequestContext, Watch};
use crate::http::{GraphRequest, HttpPolicy, Refusal, Rendering};
use crate::limits::{CostModel, LimitLog, Limits};
use crate::mask::Mask;
use crate::observe::{Observation, Observing};
use crate::persisted::AutomaticPersistedQueries;
use crate::ports::{DeprecationLog, Entropy, IncidentLog, Timer};
use crate::response::GraphResponse;
use crate::schema::Schema;
use crate::subscription::{Emitter, StreamItem, produced};

/// Executes operations on one schema. Cloning is cheap (one `Arc`).
///
/// `Q`, `M` and `S` are the host's root types. Their juniper context is
/// [`RequestContext<H>`](RequestContext).
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
    roots: Roots<Q, M, S>,
    schema: Schema,
    index: Index,
    introspection: Introspection,
    documents: Cache,
    trusted: Option<TrustedList>,
    automatic: Option<AutomaticPersistedQueries>,
    /// `true` if introspection is enabled.
    introspective: bool,
    /// `true` if errors of juniper pass to the client.
    passes_field_errors: bool,
    /// Maximum number of asynchronous resolvers of one operation that run at once.
    concurrency: Option<usize>,
    deadline: Option<(Duration, Arc<dyn Timer>)>,
    limits: Limits,
    limit_log: Option<Arc<dyn LimitLog>>,
    deprecation_log: Option<Arc<dyn DeprecationLog>>,
    /// `true` if a client may request the cost of its operation.
    cost_reports: bool,
    costs: CostModel,
    guards: GuardMode,
    guard_log: Option<Arc<dyn GuardLog>>,
    http: HttpPolicy,
    entropy: Arc<dyn Entropy>,
    log: Option<Arc<dyn IncidentLog>>,
    observing: Observing,
}

/// Root values of the host.
struct Roots<Q, M, S> {
    query: Q,
    mutation: M,
    subscription: S,
}

impl<Q: GraphQLType, M: GraphQLType, S: GraphQLType> Inner<Q, M, S> {
    /// Schema data for compiling documents, with the whole schema visible.
    fn facts(&self) -> Facts<'_> {
        self.facts_of(self.introspection.whole())
    }

    /// Schema data for compiling documents, limited to `view`.
    fn facts_of<'f>(&'f self, view: &'f View) -> Facts<'f> {
        Facts {
            schema: &self.schema,
            limits: self.limits.of_parser(),
            costs: &self.costs,
            index: &self.index,
            introspection: &self.introspection,
            view,
            observed: self.observing.has_resolvers(),
        }
    }

    /// Starts the observation of an operation.
    fn observe(&self) -> Observation {
        Observation::new(&self.observing)
    }

    /// Part of the schema that is visible to the principal of `context`.
    fn seen<H>(&self, context: &RequestContext<H>) -> Arc<View> {
        let refuses = |guard: Guard| self.guards != GuardMode::DryRun && guard.refusal(context).is_some();
        self.introspection.view(&self.index, refuses)
    }
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
            .field("introspection", &self.inner.introspective)
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
    /// Returns the schema in the [schema definition language][sdl], sorted by name, in the format
    /// of graphql-js.
    ///
    /// The text changes only with the schema, so it can be kept in version control.
    ///
    /// # Security
    ///
    /// The output contains the whole schema, including fields and types that guards hide from some
    /// principals.
    ///
    /// [sdl]: https://spec.graphql.org/September2025/#sec-Type-System
    #[must_use]
    pub fn sdl(&self) -> String {
        self.inner.schema.sdl()
    }

    /// Executes a query or a mutation and returns its response.
    ///
    /// A subscription is refused with `BAD_REQUEST`: use [`subscribe`](Self::subscribe). A panic of
    /// a resolver nulls its field with `INTERNAL_SERVER_ERROR`.
    pub async fn execute(&self, request: &GraphRequest, context: &RequestContext<Q::Host>) -> GraphResponse {
        let attempted = self.attempt(request, context, Access::ReadWrite).await;
        attempted.unwrap_or_else(|WouldWrite| {
            GraphResponse::request_error(ErrorCode::BadRequest, WouldWrite::MESSAGE)
        })
    }

    /// Executes a query or, with [`Access::ReadWrite`], a mutation; catches panics of resolvers.
    async fn attempt(
        &self,
        request: &GraphRequest,
        context: &RequestContext<Q::Host>,
        access: Access,
    ) -> Result<GraphResponse, WouldWrite> {
        let mut observation = self.inner.observe();
        let span = observation.span();
        let whole = async {
            match self.prepare(request, context, &mut observation).await {
                Ok(found) if access.refuses(found.document.kind) => Err(WouldWrite),
                Ok(found) => Ok(self.run(&found, request, context).await),
                Err(refused) => Ok(refused),
            }
        };
        let contained = AssertUnwindSafe(span.instrument(whole)).catch_unwind().await;
        let attempted = contained.unwrap_or_else(|payload| Ok(self.panicked(payload.as_ref(), context)));
        match &attempted {
            Ok(response) => observation.finish(response),
            Err(WouldWrite) => observation.refuse(ErrorCode::BadRequest),
        }
        attempted
    }

    /// Executes any operation as a stream of responses.
    ///
    /// - A subscription yields one response per event.
    /// - A query, a mutation or a refused operation yields exactly one response.
    /// - Dropping the stream ends the operation.
    pub fn subscribe(
        &self,
        request: GraphRequest,
        context: RequestContext<Q::Host>,
    ) -> impl Stream<Item = GraphResponse> + Send + use<Q, M, S> + 'static {
        let engine = self.clone();
        let items = produced(move |emitter| async move {
            match engine.prepared(&request, &context).await {
                Ok(found) => engine.produce(found, &request, &context, &emitter).await,
                Err(refused) => emitter.emit(StreamItem::Failure(refused)).await,
            }
        });
        items.filter_map(|item| ready(item.into_response()))
    }

    /// Like [`subscribe`](Self::subscribe), for a prepared operation.
    fn stream(
        &self,
        prepared: Result<Prepared, GraphResponse>,
        request: GraphRequest,
        context: RequestContext<Q::Host>,
    ) -> impl Stream<Item = GraphResponse> + Send + use<Q, M, S> + 'static {
        let items = self.items(prepared, request, context);
        items.filter_map(|item| ready(item.into_response()))
    }

    /// Items of a prepared operation.
    fn items(
        &self,
        prepared: Result<Prepared, GraphResponse>,
        request: GraphRequest,
        context: RequestContext<Q::Host>,
    ) -> impl Stream<Item = StreamItem> + Send + Unpin + use<Q, M, S> + 'static {
        let engine = self.clone();
        produced(move |emitter| async move {
            match prepared {
                Ok(found) => engine.produce(found, &request, &context, &emitter).await,
                Err(refused) => emitter.emit(StreamItem::Failure(refused)).await,
            }
        })
    }

    /// Emits the items of an operation; catches panics of resolvers.
    async fn produce(
        &self,
        mut found: Prepared,
        request: &GraphRequest,
        context: &RequestContext<Q::Host>,
        emitter: &Emitter<StreamItem>,
    ) {
        let mut observation = std::mem::take(&mut found.observation);
        let span = observation.span();
        let last = async {
            if found.document.kind != OperationType::Subscription {
                let response = self.run(&found, request, context).await;
                return Some(StreamItem::Response(response));
            }
            self.begin(request, &found.document, context).await;
            let followed = self.follow(&found.document, request, context, (emitter, &mut observation));
            followed.await.err().map(StreamItem::Failure)
        };
        let last = AssertUnwindSafe(span.instrument(last)).catch_unwind().await;
        let last = last.unwrap_or_else(|payload| {
            let panicked = self.panicked(payload.as_ref(), context);
            Some(StreamItem::Failure(panicked))
        });
        match last {
            Some(last) => {
                if let Some(response) = last.response() {
                    observation.finish(response);
                }
                emitter.emit(last).await;
            }
            None => observation.complete(),
        }
    }

    async fn run(
        &self,
        found: &Prepared,
        request: &GraphRequest,
        context: &RequestContext<Q::Host>,
    ) -> GraphResponse {
        self.begin(request, &found.document, context).await;
        let answer = self.run_document(&found.document, request, context).await;
        answer.with_cost(found.report.clone())
    }

    async fn run_document(
        &self,
        document: &Document,
        request: &GraphRequest,
        context: &RequestContext<Q::Host>,
    ) -> GraphResponse {
        if document.kind == OperationType::Subscription {
            let message = "a subscription requires `Accept: text/event-stream` \
                           or `Accept: multipart/mixed;subscriptionSpec=1.0`";
            return GraphResponse::request_error(ErrorCode::BadRequest, message);
        }
        let seen = document.introspects().then(|| self.inner.seen(context));
        let chosen = self.choose(document, seen.as_deref(), (request, false), context);
        match chosen {
            Ok((plan, variables)) => {
                self.planned(&plan, &variables, context, self.watch(request))
                    .await
            }
            Err(refused) => refused,
        }
    }

    /// Coerces the variables and selects the plan; `seen` is the visible part of the schema, if the
    /// operation introspects it.
    fn choose<'d>(
        &self,
        document: &'d Document,
        seen: Option<&View>,
        (request, defers): (&'d GraphRequest, bool),
        context: &RequestContext<Q::Host>,
    ) -> Result<(Chosen<'d>, Coerced<'d>), GraphResponse> {
        let facts = match seen {
            Some(view) if view.is_nothing() => return Err(nothing_to_see(context)),
            Some(view) => self.inner.facts_of(view),
            None => self.inner.facts(),
        };
        let variables = coerce(facts.schema, &document.variables, request.variables());
        let variables = variables.map_err(|refused| self.inner.redacted(refused, context))?;
        Ok((document.plan(&facts, &variables, defers)?, variables))
    }

    /// Executes a prepared operation and ends its observation; catches panics.
    async fn run_prepared(
        &self,
        mut found: Prepared,
        request: &GraphRequest,
        context: &RequestContext<Q::Host>,
    ) -> GraphResponse {
        let mut observation = std::mem::take(&mut found.observation);
        observation.resume();
        let answer = observation.span().instrument(self.run(&found, request, context));
        let answer = AssertUnwindSafe(answer).catch_unwind().await;
        let answer = answer.unwrap_or_else(|payload| self.panicked(payload.as_ref(), context));
        observation.finish(&answer);
        answer
    }

    fn panicked(
        &self,
        payload: &(dyn std::any::Any + Send),
        context: &RequestContext<Q::Host>,
    ) -> GraphResponse {
        GraphResponse::null(vec![self.mask(context).panic(payload)])
    }

    /// Guard settings of `request`.
    fn watch(&self, request: &GraphRequest) -> Watch {
        let log = self.inner.guard_log.clone();
        Watch {
            mode: self.inner.guards,
            // only the log reads the name
            operation_name: request.operation_name().filter(|_| log.is_some()).map(Into::into),
            log,
        }
    }

    fn mask<'m>(&'m self, context: &'m RequestContext<Q::Host>) -> Mask<'m> {
        Mask::new(
            &*self.inner.entropy,
            self.inner.log.as_deref(),
            context.correlation_id(),
        )
        .passing_field_errors(self.inner.passes_field_errors)
    }
}

/// Response when introspection finds no visible type.
fn nothing_to_see<H>(context: &RequestContext<H>) -> GraphResponse {
    match context.require_principal() {
        Ok(_) => GraphResponse::request_error(
            ErrorCode::Forbidden,
            "the principal may not see any part of the schema",
        ),
        Err(unknown) => GraphResponse::request_error(unknown.code(), unknown.message()),
    }
}

/// Response to a subscription whose only field is skipped.
fn skipped() -> GraphResponse {
    GraphResponse::request_error(
        ErrorCode::GraphqlValidationFailed,
        "the only field of the subscription is skipped",
    )
}

/// Operations that a request may execute.
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

/// A mutation arrived where only queries are allowed.
struct WouldWrite;

impl WouldWrite {
    const MESSAGE: &str = "a mutation requires POST";

    fn refusal(rendering: Rendering) -> Refusal {
        Refusal::method("POST", Self::MESSAGE).rendered(rendering)
    }
}

#[cfg(test)]
mod tests;
