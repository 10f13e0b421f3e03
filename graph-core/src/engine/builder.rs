//! Building an engine, with every mistake reported at once.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use juniper::{GraphQLType, RootNode};

use super::mistakes::{ConfigError, ConfigMistake};
use super::root::{Root, SubscriptionRoot};
use super::trusted::TrustedList;
use super::{Engine, Inner};
use crate::compat;
use crate::document::{Cache, Index, Introspection};
use crate::executor::Registry;
use crate::guard::{GuardLog, GuardMode, RequestContext};
use crate::http::{HttpPolicy, StatusProfile};
use crate::limits::{CostModel, FieldCost, LimitLog, Limits, Outline};
use crate::persisted::{AutomaticPersistedQueries, TrustedDocuments};
use crate::ports::{DeprecationLog, Entropy, IncidentLog, Timer};

/// Options of an [`Engine`]; see [`Engine::builder`].
pub struct EngineBuilder<Q, M, S>
where
    Q: GraphQLType,
    M: GraphQLType,
    S: GraphQLType,
{
    schema: RootNode<Q, M, S>,
    introspection: bool,
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
    automatic: Option<AutomaticPersistedQueries>,
    trusted: Option<TrustedDocuments>,
    guards: GuardMode,
    guard_log: Option<Arc<dyn GuardLog>>,
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
    /// Starts an engine on the host's `schema`.
    ///
    /// Introspection is on unless `schema` has it switched off.
    #[must_use]
    pub fn builder(schema: RootNode<Q, M, S>) -> EngineBuilder<Q, M, S> {
        let (schema, introspection) = compat::take_introspection(schema);
        EngineBuilder {
            schema,
            introspection,
            limits: Limits::default(),
            costs: CostModel::default(),
            http: HttpPolicy {
                body_limit: 1 << 20,
                explorer: true,
                batch: None,
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
            automatic: None,
            trusted: None,
            guards: GuardMode::Filter,
            guard_log: None,
        }
    }
}

impl<Q, M, S> EngineBuilder<Q, M, S>
where
    Q: Root,
    M: Root<Host = Q::Host>,
    S: SubscriptionRoot<Host = Q::Host>,
{
    /// Judges operations by `limits`.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Says what becomes of what guards refuse; by default they [filter](GuardMode::Filter).
    #[must_use]
    pub fn with_guards(mut self, mode: GuardMode) -> Self {
        self.guards = mode;
        self
    }

    /// Tells `log` of everything that a guard refuses, or would refuse in a dry run.
    #[must_use]
    pub fn with_guard_log(mut self, log: impl GuardLog + 'static) -> Self {
        self.guard_log = Some(Arc::new(log));
        self
    }

    /// Prices the field `coordinate`, written `Type.field`.
    ///
    /// A price holds also when the field is selected through an interface of `Type`, and the price of an interface's field
    /// for the types of the interface that have none of their own.
    #[must_use]
    pub fn with_field_cost(mut self, coordinate: impl Into<String>, cost: FieldCost) -> Self {
        self.costs.set(coordinate.into(), cost);
        self
    }

    /// Reports every masked failure to `log`.
    #[must_use]
    pub fn with_incident_log(mut self, log: impl IncidentLog + 'static) -> Self {
        self.log = Some(Arc::new(log));
        self
    }

    /// Draws correlation ids from `entropy`; by default from the operating system.
    #[must_use]
    pub fn with_entropy(mut self, entropy: impl Entropy + 'static) -> Self {
        self.entropy = Some(Arc::new(entropy));
        self
    }

    /// Refuses bodies above `bytes`; by default one mebibyte.
    ///
    /// The host must bound what it reads itself too: the engine gets a body that is already in memory.
    #[must_use]
    pub fn with_body_limit(mut self, bytes: usize) -> Self {
        self.http.body_limit = bytes;
        self
    }

    /// Answers `__schema` and `__type` with `INTROSPECTION_DISABLED`; `__typename` stays.
    #[must_use]
    pub fn without_introspection(mut self) -> Self {
        self.introspection = false;
        self
    }

    /// Serves no page for people.
    #[must_use]
    pub fn without_explorer(mut self) -> Self {
        self.http.explorer = false;
        self
    }

    /// Runs at most `resolvers` asynchronous resolvers of one operation at once; by default all that are asked for.
    ///
    /// A resolver waits for its turn, and batches of [`loader`](crate::loader)s are no larger than that. Operations that juniper
    /// executes are not limited.
    #[must_use]
    pub fn with_concurrency(mut self, resolvers: usize) -> Self {
        self.concurrency = Some(resolvers);
        self
    }

    /// Answers a query or a mutation after `duration` without the fields that are not ready then: each is null, or bubbles, with
    /// `TIMEOUT`. What a resolver does without waiting is not interrupted.
    #[must_use]
    pub fn with_deadline(mut self, duration: Duration, timer: impl Timer + 'static) -> Self {
        self.deadline = Some((duration, Arc::new(timer)));
        self
    }

    /// Keeps compiled documents in about `bytes` of memory; by default 16 mebibytes.
    #[must_use]
    pub fn with_plan_cache(mut self, bytes: usize) -> Self {
        self.plan_cache = bytes;
        self
    }

    /// Serves lists of operations too, as many as [`Limits::with_batch`] says; without this such a body is a bad request.
    #[must_use]
    pub fn with_batches(mut self) -> Self {
        self.batches = true;
        self
    }

    /// Says in statuses what an edition of GraphQL over HTTP has them say.
    #[must_use]
    pub fn with_status_profile(mut self, profile: StatusProfile) -> Self {
        self.http.profile = profile;
        self
    }

    /// Tells `log` what every operation asks for that is judged with its variables or may run, and what a batch asks for that
    /// exceeds a limit.
    #[must_use]
    pub fn with_limit_log(mut self, log: impl LimitLog + 'static) -> Self {
        self.limit_log = Some(Arc::new(log));
        self
    }

    /// Tells `log` of the deprecated fields and arguments in what starts, and which trusted document has them.
    #[must_use]
    pub fn with_deprecation_log(mut self, log: impl DeprecationLog + 'static) -> Self {
        self.deprecation_log = Some(Arc::new(log));
        self
    }

    /// Tells a client that asks by the header `GraphQL-Cost: report` what its operation costs, in `extensions.cost`.
    #[must_use]
    pub fn with_cost_reports(mut self) -> Self {
        self.cost_reports = true;
        self
    }

    /// Serves operations by the hash of their text, and keeps the texts that clients register; see [`persisted`](crate::persisted).
    ///
    /// Where [trusted documents](Self::with_trusted_documents) are enforced nothing can be registered.
    #[must_use]
    pub fn with_automatic_persisted_queries(mut self, automatic: AutomaticPersistedQueries) -> Self {
        self.automatic = Some(automatic);
        self
    }

    /// Serves the documents of `trusted` by their ids and, unless its mode says otherwise, no others.
    ///
    /// They are parsed, validated and priced by [`build`](Self::build), and stay in memory beside the plan cache.
    #[must_use]
    pub fn with_trusted_documents(mut self, trusted: TrustedDocuments) -> Self {
        self.trusted = Some(trusted);
        self
    }

    /// What is wrong with the settings themselves.
    fn mistakes(&self) -> Vec<ConfigMistake> {
        let mut mistakes: Vec<_> = self
            .costs
            .coordinates()
            .filter(|coordinate| !compat::has_field(&self.schema, coordinate))
            .map(|coordinate| ConfigMistake::UnknownField(coordinate.to_owned()))
            .collect();
        let limits = [
            ("depth", self.limits.depth()),
            ("root fields", self.limits.root_fields()),
            ("tokens", self.limits.tokens()),
            ("batch", self.limits.batch()),
            ("body", self.http.body_limit),
            ("concurrency", self.concurrency.unwrap_or(1)),
        ];
        let zeroes = limits.into_iter().filter(|(_, limit)| *limit == 0);
        mistakes.extend(zeroes.map(|(name, _)| ConfigMistake::NothingAllowed(name)));
        mistakes
    }

    /// The engine.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] with every mistake: a price for a field that the schema does not have, a limit that lets nothing
    /// through, and no entropy without the feature `os`. When there are none of these, with every trusted document
    /// that does not fit the schema or the limits, or its hash.
    pub fn build(self) -> Result<Engine<Q, M, S>, ConfigError> {
        let mut mistakes = self.mistakes();
        let mut registry = Registry::default();
        registry.object::<RequestContext<Q::Host>, Q>();
        registry.object::<RequestContext<Q::Host>, M>();
        registry.source::<RequestContext<Q::Host>, S>();
        let index = Index::new(&registry);
        mistakes.extend(
            index
                .missing(&self.schema.schema)
                .into_iter()
                .map(ConfigMistake::NoResolver),
        );
        let clashes = registry.clashes().iter();
        mistakes.extend(clashes.map(|name| ConfigMistake::TwoTypes((*name).to_owned())));
        let entropy = self.entropy.or_else(default_entropy);
        if entropy.is_none() {
            mistakes.push(ConfigMistake::NoEntropy);
        }
        let costs = self.costs.with_implementers(compat::implementers(&self.schema));
        let (schema, answer) = compat::introspected(self.schema);
        match entropy {
            Some(entropy) if mistakes.is_empty() => {
                let inner = Inner {
                    costs,
                    schema: compat::spreadable(schema).limit_tokens(self.limits.tokens()),
                    index,
                    introspection: Introspection::new(answer),
                    documents: Cache::new(self.plan_cache),
                    introspective: self.introspection,
                    concurrency: self.concurrency,
                    deadline: self.deadline,
                    limits: self.limits,
                    http: HttpPolicy {
                        batch: self.batches.then_some(self.limits.batch()),
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
                    trusted: None,
                };
                inner.trusting(self.trusted)
            }
            _ => Err(ConfigError { mistakes }),
        }
    }
}

impl<Q: GraphQLType, M: GraphQLType, S: GraphQLType> Inner<Q, M, S> {
    /// The engine, with the documents that were known before it.
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
