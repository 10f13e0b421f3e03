//! The engine: one long-lived value that answers every operation on one schema.
//!
//! A document is parsed, validated, judged by the [`limits`](crate::limits) and compiled to a plan once, and kept. An operation
//! then goes through three steps, and only the last one runs resolvers: find the document, coerce the variables, execute the plan.
//! What selects a field marked `#[graph(plain)]` is executed by juniper; `plain` is the seam to it.

mod batch;
mod begin;
mod builder;
mod events;
mod faults;
mod find;
mod mistakes;
mod plain;
mod prepare;
mod redact;
mod respond;
mod root;
mod run;
mod single;
mod trusted;

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::FutureExt as _;
use futures_util::stream::Stream;
use juniper::{GraphQLType, OperationType, RootNode, Value};

pub use self::builder::EngineBuilder;
pub use self::mistakes::{ConfigError, ConfigMistake};
use self::plain::Plain;
use self::prepare::Prepared;
pub use self::root::{Root, SubscriptionRoot};
use self::trusted::TrustedList;
use crate::compat::{self, Spreadable};
use crate::document::{Cache, Document, Executable, Facts, Index, Introspection, View, coerce};
use crate::error::ErrorCode;
use crate::executor::Guard;
use crate::guard::{GuardLog, GuardMode, RequestContext, Watch};
use crate::http::{GraphRequest, HttpPolicy};
use crate::limits::{CostModel, LimitLog, Limits};
use crate::loader::drive;
use crate::mask::Mask;
use crate::persisted::AutomaticPersistedQueries;
use crate::ports::{DeprecationLog, Entropy, IncidentLog, Timer};
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
    index: Index,
    introspection: Introspection,
    documents: Cache,
    trusted: Option<TrustedList>,
    automatic: Option<AutomaticPersistedQueries>,
    /// Whether introspection is served.
    introspective: bool,
    /// How many asynchronous resolvers of one operation run at once.
    concurrency: Option<usize>,
    deadline: Option<(Duration, Arc<dyn Timer>)>,
    limits: Limits,
    limit_log: Option<Arc<dyn LimitLog>>,
    deprecation_log: Option<Arc<dyn DeprecationLog>>,
    /// Whether a client may ask what its operation costs.
    cost_reports: bool,
    costs: CostModel,
    guards: GuardMode,
    guard_log: Option<Arc<dyn GuardLog>>,
    http: HttpPolicy,
    entropy: Arc<dyn Entropy>,
    log: Option<Arc<dyn IncidentLog>>,
}

impl<Q: GraphQLType, M: GraphQLType, S: GraphQLType> Inner<Q, M, S> {
    /// What documents are compiled by; the whole schema can be seen.
    fn facts(&self) -> Facts<'_> {
        self.facts_of(self.introspection.whole())
    }

    /// The same where `view` can be seen.
    fn facts_of<'f>(&'f self, view: &'f View) -> Facts<'f> {
        Facts {
            schema: &self.schema.schema,
            index: &self.index,
            introspection: &self.introspection,
            view,
        }
    }

    /// What the principal of `context` may see of the schema.
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
    /// The schema in the [language of type systems](https://spec.graphql.org/September2025/#sec-Type-System), everything in the
    /// order of its name, as graphql-js prints a sorted schema: fit for a file under version control, and for clients' builds.
    ///
    /// # Security
    ///
    /// It is the whole schema, what policies hide from some too.
    #[must_use]
    pub fn sdl(&self) -> String {
        compat::sdl(&self.inner.schema.schema)
    }

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
            match self.prepare(request, context).await {
                Ok(found) if access.refuses(found.document.kind) => Err(WouldWrite),
                Ok(found) => Ok(self.run(&found, request, context).await),
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
            match engine.prepared(&request, &context).await {
                Ok(found) => engine.produce(&found, &request, &context, &emitter).await,
                Err(refused) => emitter.emit(refused).await,
            }
        })
    }

    /// As [`subscribe`](Self::subscribe), of what was prepared before.
    fn stream(
        &self,
        prepared: Result<Prepared, GraphResponse>,
        request: GraphRequest,
        context: RequestContext<Q::Host>,
    ) -> impl Stream<Item = GraphResponse> + Send + use<Q, M, S> + 'static {
        let engine = self.clone();
        produced(move |emitter| async move {
            match prepared {
                Ok(found) => engine.produce(&found, &request, &context, &emitter).await,
                Err(refused) => emitter.emit(refused).await,
            }
        })
    }

    /// Emits what becomes of an operation; a panic ends here.
    async fn produce(
        &self,
        found: &Prepared,
        request: &GraphRequest,
        context: &RequestContext<Q::Host>,
        emitter: &Emitter<GraphResponse>,
    ) {
        let only = async {
            if found.document.kind != OperationType::Subscription {
                return Some(self.run(found, request, context).await);
            }
            self.begin(request, &found.document, context).await;
            let followed = self.follow(&found.document, request, context, emitter);
            begin::traced(&found.document, followed).await.err()
        };
        let only = AssertUnwindSafe(only).catch_unwind().await;
        if let Some(only) = only.unwrap_or_else(|payload| Some(self.panicked(payload.as_ref(), context))) {
            emitter.emit(only).await;
        }
    }

    async fn run(
        &self,
        found: &Prepared,
        request: &GraphRequest,
        context: &RequestContext<Q::Host>,
    ) -> GraphResponse {
        self.begin(request, &found.document, context).await;
        let answer = self.run_document(&found.document, request, context);
        let answer = begin::traced(&found.document, answer).await;
        answer.with_cost(found.report.clone())
    }

    async fn run_document(
        &self,
        document: &Document,
        request: &GraphRequest,
        context: &RequestContext<Q::Host>,
    ) -> GraphResponse {
        if document.kind == OperationType::Subscription {
            let message = "a subscription is served as `text/event-stream` only";
            return GraphResponse::refused(ErrorCode::BadRequest, message);
        }
        let seen = document.introspects().then(|| self.inner.seen(context));
        let facts = match &seen {
            Some(view) if view.is_nothing() => return nothing_to_see(context),
            Some(view) => self.inner.facts_of(view),
            None => self.inner.facts(),
        };
        let variables = match coerce(facts.schema, &document.variables, request.variables()) {
            Ok(variables) => variables,
            Err(refused) => return self.inner.redacted(refused, context),
        };
        let watch = self.watch(request);
        match document.executable(&facts, &variables).as_deref() {
            Ok(Executable::Plan(plan)) => self.planned(plan, &variables, context, watch).await,
            Ok(Executable::Plain(foreign)) => {
                match Plain::new(&self.inner.schema, (document, foreign), context, watch) {
                    // as in `respond`: what few operations need has no room in the future of all
                    Ok(plain) => Box::pin(self.run_plain(&plain, request, context)).await,
                    Err(refused) => refused,
                }
            }
            Err(refused) => refused.clone(),
        }
    }

    /// Runs an operation by juniper's executor. It has no partial answer when it is late.
    async fn run_plain(
        &self,
        plain: &Plain<'_, Q, M, Spreadable<S>>,
        request: &GraphRequest,
        context: &RequestContext<Q::Host>,
    ) -> GraphResponse {
        let answer = plain.execute(request.variables(), context, self.mask(context));
        let driven = drive(answer, context.loaders(), self.deadline(&|| {})).await;
        driven.unwrap_or_else(Self::late)
    }

    /// A panic ends here. No asynchronous function, which would have room for `answer` twice.
    fn contained(
        &self,
        answer: impl Future<Output = GraphResponse>,
        context: &RequestContext<Q::Host>,
    ) -> impl Future<Output = GraphResponse> {
        let contained = AssertUnwindSafe(answer).catch_unwind();
        contained.map(move |caught| caught.unwrap_or_else(|payload| self.panicked(payload.as_ref(), context)))
    }

    fn panicked(
        &self,
        payload: &(dyn std::any::Any + Send),
        context: &RequestContext<Q::Host>,
    ) -> GraphResponse {
        GraphResponse::executed(&Value::Null, vec![self.mask(context).panic(payload)])
    }

    /// How the guards of `request` are asked.
    fn watch(&self, request: &GraphRequest) -> Watch {
        let log = self.inner.guard_log.clone();
        Watch {
            mode: self.inner.guards,
            // only the log asks for it
            operation_name: request.operation_name().filter(|_| log.is_some()).map(Into::into),
            log,
            by_juniper: false,
        }
    }

    fn mask<'m>(&'m self, context: &'m RequestContext<Q::Host>) -> Mask<'m> {
        Mask::new(
            &*self.inner.entropy,
            self.inner.log.as_deref(),
            context.correlation_id(),
        )
    }
}

/// The answer to who asks for a schema of which there is nothing to be seen.
fn nothing_to_see<H>(context: &RequestContext<H>) -> GraphResponse {
    match context.require_principal() {
        Ok(_) => GraphResponse::refused(ErrorCode::Forbidden, "nothing of the schema is for the principal"),
        Err(unknown) => GraphResponse::refused(unknown.code(), unknown.message()),
    }
}

/// The answer to a subscription whose field is skipped.
fn skipped() -> GraphResponse {
    GraphResponse::refused(
        ErrorCode::GraphqlValidationFailed,
        "the field of the subscription is skipped",
    )
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

#[cfg(test)]
mod tests;
