//! Payments schema with every kind of guard on fields and types.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::stream::{self, Stream, StreamExt as _};
use graph_core::engine::EngineBuilder;
use graph_core::guard::{GuardMode, Refused};
use graph_core::http::GraphRequest;
use graph_core::{
    Engine, GraphError, GraphObject, Principal, RequestContext, graph_interface, graph_object,
    graph_subscription, graph_union,
};
use juniper::RootNode;
use serde_json::{Value, json};

/// Number of calls of resolvers that are guarded or write.
#[derive(Default)]
pub(crate) struct Counts(AtomicUsize);

impl Counts {
    fn count(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn taken(&self) -> usize {
        self.0.swap(0, Ordering::SeqCst)
    }
}

pub(crate) type Context = RequestContext<Arc<Counts>>;

pub(crate) struct User {
    id: i32,
}

#[graph_object(impl = NodeValue, context = Context)]
impl User {
    fn id(&self) -> i32 {
        self.id
    }

    fn code(&self) -> Option<i32> {
        Some(self.id)
    }

    #[graph(scope = "read:email")]
    fn email(&self, context: &Context) -> Option<String> {
        context.host().count();
        Some(format!("{}@example.com", self.id))
    }

    /// Both are required.
    #[graph(scope = "read:email", role = "owner")]
    async fn phone(&self, context: &Context) -> Option<String> {
        context.host().count();
        Some("555".to_owned())
    }

    /// User 1 is ada, user 2 is bob.
    #[graph(guard = Self::is_own)]
    fn note(&self, context: &Context) -> Option<String> {
        context.host().count();
        Some(format!("note of {}", self.id))
    }

    #[graph(guard = Self::is_own)]
    async fn diary(&self, context: &Context) -> Result<Option<String>, GraphError> {
        context.host().count();
        Ok(Some(format!("diary of {}", self.id)))
    }

    #[graph(guard = Self::is_own)]
    fn pin(&self) -> i32 {
        1000 + self.id
    }

    #[graph(role = "owner")]
    fn keyring(&self, context: &Context, _kind: Option<KeyKind>) -> Option<Keyring> {
        context.host().count();
        Some(Keyring { size: self.id })
    }

    #[graphql(ignore)]
    fn is_own(&self, context: &Context) -> bool {
        let owner = if self.id == 1 { "ada" } else { "bob" };
        context
            .principal()
            .is_some_and(|principal| principal.subject() == owner)
    }
}

/// Reachable through `User.keyring` only.
#[derive(GraphObject)]
#[graphql(context = Context)]
pub(crate) struct Keyring {
    size: i32,
}

/// Argument of `User.keyring` only.
#[derive(Clone, Copy, juniper::GraphQLEnum)]
pub(crate) enum KeyKind {
    Master,
}

/// Guarded type.
pub(crate) struct Audit {
    id: i32,
}

#[graph_object(impl = NodeValue, context = Context)]
#[graph(role = "auditor")]
impl Audit {
    fn id(&self) -> i32 {
        self.id
    }

    fn code(&self) -> Option<i32> {
        Some(100 + self.id)
    }

    async fn words(&self, context: &Context) -> String {
        context.host().count();
        format!("audit {}", self.id)
    }
}

/// Guarded struct type.
#[derive(GraphObject)]
#[graphql(context = Context)]
#[graph(authenticated)]
pub(crate) struct Badge {
    number: i32,
}

/// Unguarded type with guarded fields only.
pub(crate) struct Vault;

#[graph_object(context = Context)]
impl Vault {
    #[graph(role = "owner")]
    fn gold(&self) -> Option<i32> {
        Some(1)
    }
}

pub(crate) struct Robot;

#[graph_object(impl = NodeValue, context = Context)]
impl Robot {
    fn id(&self) -> i32 {
        9
    }

    #[graph(scope = "read:robots")]
    fn code(&self, context: &Context) -> Option<i32> {
        context.host().count();
        Some(4711)
    }
}

#[graph_interface(for = [User, Audit, Robot], context = Context)]
pub(crate) trait Node {
    fn id(&self) -> i32;
    fn code(&self) -> Option<i32>;
}

#[graph_union(context = Context)]
pub(crate) enum Found {
    User(User),
    Audit(Audit),
}

/// Union of guarded types only.
#[graph_union(context = Context)]
pub(crate) enum Finding {
    Audit(Audit),
}

/// Type without guards whose fields lead to guarded types.
pub(crate) struct Legacy;

#[graph_object(context = Context)]
impl Legacy {
    fn year() -> i32 {
        1999
    }

    fn user() -> User {
        User { id: 1 }
    }

    fn audit(context: &Context) -> Option<Audit> {
        context.host().count();
        Some(Audit { id: 3 })
    }
}

pub(crate) struct Query;

#[graph_object(context = Context)]
impl Query {
    fn open() -> &'static str {
        "open"
    }

    fn user(id: Option<i32>) -> Option<User> {
        Some(User { id: id.unwrap_or(1) })
    }

    #[graph(scope = "read:users")]
    fn users(context: &Context) -> Option<Vec<User>> {
        context.host().count();
        Some(vec![User { id: 1 }, User { id: 2 }])
    }

    fn team() -> Vec<User> {
        vec![User { id: 1 }, User { id: 2 }]
    }

    fn audits(context: &Context) -> Option<Vec<Audit>> {
        context.host().count();
        Some(vec![Audit { id: 1 }])
    }

    fn vault() -> Option<Vault> {
        Some(Vault)
    }

    async fn badge(context: &Context) -> Option<Badge> {
        context.host().count();
        Some(Badge { number: 7 })
    }

    fn found() -> Vec<Option<Found>> {
        vec![
            Some(Found::User(User { id: 1 })),
            Some(Found::Audit(Audit { id: 1 })),
        ]
    }

    fn finding() -> Option<Finding> {
        Some(Finding::Audit(Audit { id: 1 }))
    }

    fn nodes() -> Vec<Option<NodeValue>> {
        vec![
            Some(User { id: 1 }.into()),
            Some(Audit { id: 1 }.into()),
            Some(Robot.into()),
        ]
    }

    fn legacy() -> Legacy {
        Legacy
    }
}

pub(crate) struct Mutation;

#[graph_object(context = Context)]
impl Mutation {
    async fn write(context: &Context) -> i32 {
        context.host().count();
        1
    }

    #[graph(scope = "write:refunds")]
    async fn refund(context: &Context) -> Option<i32> {
        context.host().count();
        Some(2)
    }

    fn legacy(context: &Context) -> Legacy {
        context.host().count();
        Legacy
    }

    fn audit(context: &Context) -> Option<Audit> {
        context.host().count();
        Some(Audit { id: 5 })
    }
}

type Users = Pin<Box<dyn Stream<Item = Option<User>> + Send>>;
type Legacies = Pin<Box<dyn Stream<Item = Legacy> + Send>>;

pub(crate) struct Subscription;

#[graph_subscription(context = Context)]
#[graph(authenticated)]
impl Subscription {
    async fn joined(context: &Context) -> Users {
        context.host().count();
        stream::iter((1..=2).map(|id| Some(User { id }))).boxed()
    }

    #[graph(scope = "read:users", guard = Self::is_even)]
    async fn left(&self, context: &Context) -> Users {
        context.host().count();
        stream::iter((1..=2).map(|id| Some(User { id }))).boxed()
    }

    #[graph(scope = "read:users")]
    async fn legacies(context: &Context) -> Legacies {
        context.host().count();
        stream::iter([Legacy]).boxed()
    }

    #[graphql(ignore)]
    fn is_even(&self, context: &Context) -> bool {
        let subject = context.principal().map_or("", Principal::subject);
        subject.len().is_multiple_of(2)
    }
}

pub(crate) type DeskBuilder = EngineBuilder<Query, Mutation, Subscription>;
pub(crate) type DeskEngine = Engine<Query, Mutation, Subscription>;

pub(crate) fn builder() -> DeskBuilder {
    Engine::builder(RootNode::new(Query, Mutation, Subscription))
}

/// Engine with its call counts and refusals.
pub(crate) struct Desk {
    pub(crate) engine: DeskEngine,
    pub(crate) counts: Arc<Counts>,
    told: Arc<Mutex<Vec<String>>>,
}

impl Desk {
    pub(crate) fn new(mode: GuardMode) -> Self {
        Self::with(builder().with_guards(mode))
    }

    pub(crate) fn with(builder: DeskBuilder) -> Self {
        let told = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&told);
        let note = move |refused: &Refused<'_>| {
            let who = refused.principal.map_or("anonymous", Principal::subject);
            let line = format!("{} {} {who}", refused.coordinate, refused.code);
            log.lock().unwrap().push(line);
        };
        Self {
            engine: builder.with_guard_log(note).build().unwrap(),
            counts: Arc::default(),
            told,
        }
    }

    pub(crate) fn anonymous(&self) -> Context {
        RequestContext::new(Arc::clone(&self.counts))
    }

    pub(crate) fn who(&self, subject: &str, scopes: &[&str], roles: &[&str]) -> Context {
        let principal =
            Principal::new(subject).with_scopes(scopes.iter().map(|scope| scope.parse().unwrap()).collect());
        self.anonymous()
            .with_principal(principal.with_roles(roles.iter().copied()))
    }

    pub(crate) fn all(&self) -> Context {
        let scopes = ["read:email", "read:users", "read:robots", "write:refunds"];
        self.who("ada", &scopes, &["owner", "auditor"])
    }

    pub(crate) async fn ask(&self, query: &str, context: &Context) -> Value {
        json!(self.engine.execute(&GraphRequest::new(query), context).await)
    }

    pub(crate) async fn events(&self, query: &str, context: Context) -> Vec<Value> {
        let events = self.engine.subscribe(GraphRequest::new(query), context);
        events.map(|event| json!(event)).collect().await
    }

    /// Refusals logged since the last call.
    pub(crate) fn told(&self) -> Vec<String> {
        std::mem::take(&mut *self.told.lock().unwrap())
    }
}
