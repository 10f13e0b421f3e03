//! Builder of an [`Engine`]; reports every configuration mistake at once.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use juniper::{GraphQLType, RootNode};

use super::mistakes::{ConfigError, ConfigMistake};
use super::root::{Root, SubscriptionRoot};
use super::trusted::TrustedList;
use super::type_rules::{invalid_types, unvalidated};
use super::{Engine, Inner, Roots};
use crate::document::{Cache, Index, Introspection};
use crate::executor::Registry;
use crate::guard::{GuardLog, GuardMode, RequestContext};
use crate::http::{HttpPolicy, StatusProfile};
use crate::limits::{CostModel, FieldCost, LimitLog, Limits, Outline};
use crate::metrics::Metrics;
use crate::observe::{Observing, Recorder};
use crate::persisted::{AutomaticPersistedQueries, TrustedDocuments};
use crate::ports::{Clock, DeprecationLog, Entropy, IncidentLog, Timer};
use crate::schema::Schema;

/// Builder of an [`Engine`], started by [`Engine::builder`].
pub struct EngineBuilder<Q, M, S>
where
    Q: GraphQLType,
    M: GraphQLType,
    S: GraphQLType,
{
    schema: RootNode<Q, M, S>,
    introspection: bool,
    passes_field_errors: bool,
    limits: Limits,
    costs: CostModel,
    http: HttpPolicy,
    entropy: Option<Arc<dyn Entropy>>,
    log: Option<Arc<dyn IncidentLog>>,
    concurrency: Option<usize>,
    deadline: Option<(Duration, Arc<dyn Timer>)>,
    plan_cache: usize,
    batches: bool,
    limit_log: Option<Arc<dyn LimitLog>>,
    deprecation_log: Option<Arc<dyn DeprecationLog>>,
    cost_reports: bool,
    incremental: bool,
    automatic: Option<AutomaticPersistedQueries>,
    trusted: Option<TrustedDocuments>,
    guards: GuardMode,
    guard_log: Option<Arc<dyn GuardLog>>,
    observing: Observing,
}

impl<Q: GraphQLType, M: GraphQLType, S: GraphQLType> fmt::Debug for EngineBuilder<Q, M, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineBuilder")
            .field("introspection", &self.introspection)
            .field("limits", &self.limits)
            .field("costs", &self.costs)
            .field("http", &self.http)
            .finish_non_exhaustive()
    }
}

impl<Q, M, S> Engine<Q, M, S>
where
    Q: Root,
    M: Root<Host = Q::Host>,
    S: SubscriptionRoot<Host = Q::Host>,
{
    /// Starts a builder for an engine on the host's `schema`.
    ///
    /// Introspection is on, unless it is disabled in `schema`.
    #[must_use]
    pub fn builder(schema: RootNode<Q, M, S>) -> EngineBuilder<Q, M, S> {
        let introspection = !schema.introspection_disabled;
        EngineBuilder {
            schema,
            introspection,
            passes_field_errors: false,
            limits: Limits::default(),
            costs: CostModel::default(),
            http: HttpPolicy {
                values: Limits::default().values(),
                body_limit: 1 << 20,
                explorer: true,
                batch: None,
                incremental: false,
                profile: StatusProfile::Audited,
            },
            entropy: None,
            log: None,
            concurrency: None,
            deadline: None,
            plan_cache: 16 << 20,
            batches: false,
            limit_log: None,
            deprecation_log: None,
            cost_reports: false,
            incremental: false,
            automatic: None,
            trusted: None,
            guards: GuardMode::Filter,
            guard_log: None,
            observing: Observing::default(),
        }
    }
}

impl<Q, M, S> EngineBuilder<Q, M, S>
where
    Q: Root,
    M: Root<Host = Q::Host>,
    S: SubscriptionRoot<Host = Q::Host>,
{
    /// Sets the limits of operations. Default: [`Limits::default`].
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the effect of a refusal by a guard. Default: [`GuardMode::Filter`].
    #[must_use]
    pub fn with_guards(mut self, mode: GuardMode) -> Self {
        self.guards = mode;
        self
    }

    /// Reports every refusal by a guard to `log`, in every [`GuardMode`]. Default: no log.
    #[must_use]
    pub fn with_guard_log(mut self, log: impl GuardLog + 'static) -> Self {
        self.guard_log = Some(Arc::new(log));
        self
    }

    /// Sets the cost of the field `coordinate`, written `Type.field`.
    ///
    /// - The cost also applies when the field is selected through an interface of `Type`.
    /// - The cost of an interface's field applies to each implementing type that has no cost of its
    ///   own.
    #[must_use]
    pub fn with_field_cost(mut self, coordinate: impl Into<String>, cost: FieldCost) -> Self {
        self.costs.set(coordinate.into(), cost);
        self
    }

    /// Reports the cause of every masked error to `log`. Default: no log.
    #[must_use]
    pub fn with_incident_log(mut self, log: impl IncidentLog + 'static) -> Self {
        self.log = Some(Arc::new(log));
        self
    }

    /// Sends message and extensions of juniper's `FieldError` to the client, as juniper does.
    /// Default: off, and the error is masked.
    ///
    /// For a schema that moves from juniper and whose clients read these messages.
    ///
    /// - `extensions.code` is kept, also a code outside of [`ErrorCode`](crate::ErrorCode).
    /// - An error without a code gets `INTERNAL_SERVER_ERROR`.
    /// - Extensions that are not an object are dropped.
    /// - The incident log does not receive the error.
    /// - Masked [`GraphError`](crate::GraphError)s and panics stay masked.
    ///
    /// # Security
    ///
    /// `?` converts every type with `Display` into a `FieldError`: the errors of a database or of a
    /// file system with their texts. Clients read all of them. Return
    /// [`GraphError`](crate::GraphError) from new resolvers.
    ///
    /// ```
    /// use graph_core::http::GraphRequest;
    /// use graph_core::{Engine, RequestContext, graph_object};
    /// use juniper::{EmptyMutation, EmptySubscription, RootNode};
    /// use juniper::{FieldError, FieldResult, graphql_value};
    ///
    /// struct Query;
    ///
    /// #[graph_object(context = RequestContext<()>)]
    /// impl Query {
    ///     fn stock() -> FieldResult<Option<i32>> {
    ///         Err(FieldError::new("sold out", graphql_value!({ "code": "SOLD_OUT" })))
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), graph_core::engine::ConfigError> {
    /// let schema = RootNode::new(Query, EmptyMutation::new(), EmptySubscription::new());
    /// let engine = Engine::builder(schema).danger_pass_field_errors().build()?;
    /// let request = GraphRequest::new("{ stock }");
    /// let response = engine.execute(&request, &RequestContext::new(())).await;
    /// assert_eq!(response.errors()[0].message(), "sold out");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn danger_pass_field_errors(mut self) -> Self {
        self.passes_field_errors = true;
        self.observing.passes_field_errors = true;
        self
    }

    /// Sets the source of random correlation ids. Default: the operating system (feature `os`).
    #[must_use]
    pub fn with_entropy(mut self, entropy: impl Entropy + 'static) -> Self {
        self.entropy = Some(Arc::new(entropy));
        self
    }

    /// Sets the maximum size of a request body in bytes. Default: 1 MiB; larger bodies get 413.
    ///
    /// The host must also limit the body while reading it, because the engine receives a body that
    /// is already in memory.
    #[must_use]
    pub fn with_body_limit(mut self, bytes: usize) -> Self {
        self.http.body_limit = bytes;
        self
    }

    /// Disables introspection: an operation with `__schema` or `__type` is refused with
    /// `INTROSPECTION_DISABLED`. `__typename` still works.
    ///
    /// A context with [`with_introspection`](RequestContext::with_introspection) overrides this.
    #[must_use]
    pub fn without_introspection(mut self) -> Self {
        self.introspection = false;
        self
    }

    /// Disables the explorer page for browsers. Default: enabled.
    #[must_use]
    pub fn without_explorer(mut self) -> Self {
        self.http.explorer = false;
        self
    }

    /// Limits the number of asynchronous resolvers of one operation that run at once. Default: no
    /// limit.
    ///
    /// Further resolvers wait until a running resolver ends. If each resolver loads one key, a
    /// batch of a [`loader`](crate::loader) has at most `resolvers` keys.
    #[must_use]
    pub fn with_concurrency(mut self, resolvers: usize) -> Self {
        self.concurrency = Some(resolvers);
        self
    }

    /// Sets the deadline of queries and mutations. Default: none.
    ///
    /// - After `duration` the engine responds with the fields that are ready. Each other field
    ///   fails with `TIMEOUT`.
    /// - The engine does not interrupt a resolver that blocks without awaiting.
    #[must_use]
    pub fn with_deadline(mut self, duration: Duration, timer: impl Timer + 'static) -> Self {
        self.deadline = Some((duration, Arc::new(timer)));
        self
    }

    /// Sets the approximate maximum memory for compiled documents, in bytes. Default: 16 MiB.
    #[must_use]
    pub fn with_plan_cache(mut self, bytes: usize) -> Self {
        self.plan_cache = bytes;
        self
    }

    /// Serves batches: JSON arrays of up to [`Limits::with_batch`] operations (default: 10).
    ///
    /// By default a batch gets 400.
    #[must_use]
    pub fn with_batches(mut self) -> Self {
        self.batches = true;
        self
    }

    /// Sets the HTTP status codes of responses. Default: [`StatusProfile::Audited`].
    #[must_use]
    pub fn with_status_profile(mut self, profile: StatusProfile) -> Self {
        self.http.profile = profile;
        self
    }

    /// Reports the measured size of every valid operation to `log`, and of every batch whose
    /// operations together exceed a limit. Default: no log.
    ///
    /// Exception: in [`LimitMode::Enforce`](crate::limits::LimitMode::Enforce) an operation that
    /// exceeds a limit regardless of its variables is refused without a report.
    #[must_use]
    pub fn with_limit_log(mut self, log: impl LimitLog + 'static) -> Self {
        self.limit_log = Some(Arc::new(log));
        self
    }

    /// Reports the deprecated fields and arguments of each operation to `log` when the operation
    /// starts. Default: no log.
    #[must_use]
    pub fn with_deprecation_log(mut self, log: impl DeprecationLog + 'static) -> Self {
        self.deprecation_log = Some(Arc::new(log));
        self
    }

    /// Reports the measurements of each operation, and of each event of a subscription, to
    /// `metrics`, with durations by the monotonic time of `clock`. Default: none.
    ///
    /// See [`metrics`](crate::metrics).
    #[must_use]
    pub fn with_metrics(mut self, metrics: impl Metrics + 'static, clock: impl Clock + 'static) -> Self {
        self.observing.metrics = Some(Recorder {
            metrics: Arc::new(metrics),
            clock: Arc::new(clock),
        });
        self.observing.resolver_metrics = false;
        self
    }

    /// Like [`with_metrics`](Self::with_metrics), and also calls [`Metrics::resolver`] for each
    /// resolver.
    ///
    /// The fields of a struct with `#[derive(GraphObject)]` have no resolver.
    ///
    /// # Performance
    ///
    /// Each resolver adds two readings of the clock and one call of the method.
    #[must_use]
    pub fn with_resolver_metrics(
        mut self,
        metrics: impl Metrics + 'static,
        clock: impl Clock + 'static,
    ) -> Self {
        self = self.with_metrics(metrics, clock);
        self.observing.resolver_metrics = true;
        self
    }

    /// Opens a span for each resolver and for each batch of a [loader](crate::loader). Default: a
    /// span for each operation only.
    ///
    /// | span | `otel.name` | fields |
    /// |---|---|---|
    /// | `GraphQL Resolver` | `Type.field` | `graphql.field.name`, `graphql.field.parent_type`, `graphql.field.schema_coordinate`, `graphql.field.path` |
    /// | `GraphQL DataLoader Batch` | | `graphql.dataloader.name`, `graphql.dataloader.batch.size` |
    ///
    /// - The names are those of the [GraphQL working group for
    ///   OpenTelemetry](https://github.com/graphql/otel-wg).
    /// - Both spans are children of the operation's span, and around the spans that the resolver or
    ///   the batch opens. A failed resolver has `otel.status_code` and `error.type`.
    /// - A resolver's span ends when the resolver returns, before the selected fields.
    /// - The fields of a struct with `#[derive(GraphObject)]` have no resolver and no span.
    ///
    /// # Security
    ///
    /// A path contains the aliases of the client, up to 256 bytes, and no arguments.
    ///
    /// # Performance
    ///
    /// A list of 1,000 objects with two resolvers each has 2,000 spans. Sample the traces.
    #[cfg(feature = "tracing")]
    #[must_use]
    pub fn with_resolver_spans(mut self) -> Self {
        self.observing.resolver_spans = true;
        self
    }

    /// Adds the text of the document to the span of each operation, as `graphql.document`. Default:
    /// off.
    ///
    /// # Security
    ///
    /// The text contains the literals that clients write into their documents, which may be
    /// passwords or personal data. Variables are never in a span.
    #[cfg(feature = "tracing")]
    #[must_use]
    pub fn with_documents_in_spans(mut self) -> Self {
        self.observing.document_text = true;
        self
    }

    /// Sends the cost of a query or mutation in `extensions.cost` to clients that request it with
    /// the header `GraphQL-Cost: report`. Default: off.
    #[must_use]
    pub fn with_cost_reports(mut self) -> Self {
        self.cost_reports = true;
        self
    }

    /// Adds the directive `@defer` to the schema, and sends deferred fragments later to clients
    /// that accept it. Default: off, and a document with `@defer` is invalid.
    ///
    /// See [`http::incremental`](crate::http::incremental) for the formats.
    #[must_use]
    pub fn with_incremental_delivery(mut self) -> Self {
        self.incremental = true;
        self
    }

    /// Enables [automatic persisted queries](crate::persisted).
    ///
    /// If [trusted documents](Self::with_trusted_documents) are enforced, the engine registers no
    /// documents of clients.
    #[must_use]
    pub fn with_automatic_persisted_queries(mut self, automatic: AutomaticPersistedQueries) -> Self {
        self.automatic = Some(automatic);
        self
    }

    /// Serves the documents of `trusted` by their ids and, by default, no other documents.
    ///
    /// [`build`](Self::build) parses and validates the documents and computes their cost. They stay
    /// in memory in addition to the plan cache.
    #[must_use]
    pub fn with_trusted_documents(mut self, trusted: TrustedDocuments) -> Self {
        self.trusted = Some(trusted);
        self
    }

    /// Mistakes that are visible in the settings, without the compiled schema.
    fn mistakes(&self, schema: &Schema) -> Vec<ConfigMistake> {
        let mut mistakes: Vec<_> = self
            .costs
            .coordinates()
            .filter(|coordinate| schema.coordinate(coordinate).is_none())
            .map(|coordinate| ConfigMistake::UnknownField(coordinate.to_owned()))
            .collect();
        let unknown = self.costs.unknown_arguments(schema).into_iter();
        mistakes.extend(unknown.map(ConfigMistake::UnknownArgument));
        let limits = [
            ("depth", self.limits.depth()),
            ("root fields", self.limits.root_fields()),
            ("tokens", self.limits.tokens()),
            ("values", self.limits.values()),
            ("response bytes", self.limits.response_bytes()),
            ("batch", self.limits.batch()),
            ("body", self.http.body_limit),
            ("concurrency", self.concurrency.unwrap_or(1)),
        ];
        let zeroes = limits.into_iter().filter(|(_, limit)| *limit == 0);
        mistakes.extend(zeroes.map(|(name, _)| ConfigMistake::NothingAllowed(name)));
        mistakes
    }

    /// Builds the engine.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] with every mistake of these kinds:
    ///
    /// - a cost for a field that the schema does not have, or by an argument that the field does
    ///   not have;
    /// - a limit of 0 (depth, root fields, tokens, values, response bytes, batch, body or
    ///   concurrency);
    /// - a field without a resolver, or two types with one name;
    /// - a type that does not implement its interfaces, or a union with a member that is not an
    ///   object type;
    /// - no entropy, if the feature `os` is off.
    ///
    /// If there are none of these, the error contains every trusted document that:
    ///
    /// - is invalid for the schema or exceeds the limits;
    /// - does not match its hash;
    /// - has the id of another document.
    pub fn build(self) -> Result<Engine<Q, M, S>, ConfigError> {
        Engine::<Q, M, S>::name_anchors();
        let mut schema = Schema::new(&self.schema.schema);
        if self.incremental {
            schema = schema.with_defer();
        }
        let mut mistakes = self.mistakes(&schema);
        let mut registry = Registry::default();
        registry.object::<RequestContext<Q::Host>, Q>();
        registry.object::<RequestContext<Q::Host>, M>();
        registry.source::<RequestContext<Q::Host>, S>();
        let index = Index::new(&registry);
        mistakes.extend(index.missing(&schema).into_iter().map(ConfigMistake::NoResolver));
        let clashes = registry.clashes().iter();
        mistakes.extend(clashes.map(|name| ConfigMistake::TwoTypes((*name).to_owned())));
        mistakes.extend(invalid_types(&registry, &schema));
        mistakes.extend(unvalidated(&registry));
        let entropy = self.entropy.or_else(default_entropy);
        if entropy.is_none() {
            mistakes.push(ConfigMistake::NoEntropy);
        }
        let costs = self.costs.with_implementers(schema.implementers());
        match entropy {
            Some(entropy) if mistakes.is_empty() => {
                let inner = Inner {
                    costs,
                    roots: Roots {
                        query: self.schema.query_type,
                        mutation: self.schema.mutation_type,
                        subscription: self.schema.subscription_type,
                    },
                    index,
                    introspection: Introspection::new(schema.introspected()),
                    schema,
                    documents: Cache::new(self.plan_cache),
                    introspective: self.introspection,
                    passes_field_errors: self.passes_field_errors,
                    concurrency: self.concurrency,
                    deadline: self.deadline,
                    limits: self.limits,
                    http: HttpPolicy {
                        values: self.limits.values(),
                        batch: self.batches.then_some(self.limits.batch()),
                        incremental: self.incremental,
                        ..self.http
                    },
                    entropy,
                    log: self.log,
                    limit_log: self.limit_log,
                    deprecation_log: self.deprecation_log,
                    cost_reports: self.cost_reports,
                    automatic: self.automatic,
                    guards: self.guards,
                    guard_log: self.guard_log,
                    observing: self.observing,
                    trusted: None,
                };
                inner.trusting(self.trusted)
            }
            _ => Err(ConfigError { mistakes }),
        }
    }
}

impl<Q: GraphQLType, M: GraphQLType, S: GraphQLType> Inner<Q, M, S> {
    /// Builds the engine and compiles its trusted documents.
    fn trusting(mut self, trusted: Option<TrustedDocuments>) -> Result<Engine<Q, M, S>, ConfigError> {
        if let Some(trusted) = trusted {
            let judge = |outline: &Outline| self.judge(outline);
            let list = TrustedList::new(trusted, &self.facts(), &judge);
            self.trusted = Some(list.map_err(|mistakes| ConfigError { mistakes })?);
        }
        Ok(Engine {
            inner: Arc::new(self),
        })
    }
}

#[cfg(feature = "os")]
#[expect(clippy::unnecessary_wraps, reason = "without the feature there is none")]
fn default_entropy() -> Option<Arc<dyn Entropy>> {
    Some(Arc::new(crate::ports::OsEntropy))
}

#[cfg(not(feature = "os"))]
fn default_entropy() -> Option<Arc<dyn Entropy>> {
    None
}
