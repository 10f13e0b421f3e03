//! Spans and metrics, on a schema whose resolvers move the clock.

mod metrics;
mod resolvers;
mod spans;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt as _};
use graph_core::engine::EngineBuilder;
use graph_core::http::HttpResponse;
use graph_core::loader::Batch;
use graph_core::metrics::{Metrics, OperationMetrics, ResolverMetrics};
use graph_core::{
    Engine, GraphError, GraphObject, RequestContext, graph_interface, graph_object, graph_subscription,
};
use host_ports::testing::{ManualClock, SeededEntropy};
use http::Request;
use juniper::RootNode;

pub(super) type Context = RequestContext<ManualClock>;
pub(super) type TestBuilder = EngineBuilder<Query, Mutation, Subscription>;
pub(super) type TestEngine = Engine<Query, Mutation, Subscription>;

fn tick(context: &Context, milliseconds: u64) {
    context.host().advance(Duration::from_millis(milliseconds));
}

/// Loads the names of users in 100 ms; user 13 fails its batch.
pub(super) struct Names;

impl Batch for Names {
    type Key = i32;
    type Value = String;

    async fn load(&self, keys: Vec<i32>) -> Result<HashMap<i32, String>, GraphError> {
        tracing::info_span!("SQL").in_scope(|| {});
        if keys.contains(&13) {
            return Err(GraphError::conflict("the batch failed"));
        }
        Ok(keys.into_iter().map(|id| (id, format!("user {id}"))).collect())
    }
}

/// Values without a resolver.
#[derive(GraphObject)]
#[graphql(context = Context)]
pub(super) struct Address {
    street: String,
    owner: User,
}

#[derive(Clone)]
pub(super) struct User {
    id: i32,
}

#[graph_object(context = Context, impl = NamedValue)]
impl User {
    fn id(&self, context: &Context) -> i32 {
        tick(context, 1);
        self.id
    }

    async fn name(&self, context: &Context) -> Result<Option<String>, GraphError> {
        tick(context, 2);
        context.load::<Names>(self.id).await
    }

    /// waits, so that other resolvers run while it is pending
    async fn friend(&self, context: &Context) -> Option<Self> {
        let span = tracing::info_span!("friend");
        tick(context, 4);
        tokio::task::yield_now().await;
        span.in_scope(|| tick(context, 4));
        Some(Self { id: self.id + 1 })
    }

    fn address(&self, context: &Context) -> Address {
        tick(context, 8);
        Address {
            street: "Main Street".to_owned(),
            owner: self.clone(),
        }
    }

    fn missing(&self) -> Result<Option<i32>, GraphError> {
        Err(GraphError::not_found("nothing here"))
    }

    async fn explodes(&self) -> Option<i32> {
        panic!("the user fell down");
    }

    async fn never(&self) -> Option<i32> {
        std::future::pending().await
    }
}

#[graph_interface(for = [User], context = Context)]
#[expect(dead_code, reason = "the attribute reads the signatures only")]
pub(super) trait Named {
    fn id(&self) -> i32;
}

pub(super) struct Query;

#[graph_object(context = Context)]
impl Query {
    fn user(context: &Context, #[graphql(default = 1)] id: i32) -> Result<Option<User>, GraphError> {
        tracing::info_span!("SQL").in_scope(|| tick(context, 16));
        match id {
            0 => Err(GraphError::not_found("no such user")),
            7 => panic!("user 7 fell down"),
            8 => Err(std::io::Error::other("the disk is full").into()),
            id => Ok(Some(User { id })),
        }
    }

    fn users(context: &Context, first: i32) -> Vec<User> {
        tick(context, 32);
        (1..=first).map(|id| User { id }).collect()
    }

    async fn later(context: &Context) -> User {
        tokio::task::yield_now().await;
        tick(context, 64);
        User { id: 1 }
    }

    fn named(context: &Context) -> NamedValue {
        tick(context, 16);
        User { id: 5 }.into()
    }

    fn broken() -> Result<i32, GraphError> {
        Err(GraphError::conflict("required and broken"))
    }
}

pub(super) struct Mutation;

#[graph_object(context = Context)]
impl Mutation {
    async fn add(context: &Context) -> User {
        tick(context, 10);
        User { id: 1 }
    }

    fn rename(context: &Context) -> User {
        tick(context, 20);
        User { id: 2 }
    }
}

type Users = BoxStream<'static, Result<User, GraphError>>;

pub(super) struct Subscription;

#[graph_subscription(context = Context)]
impl Subscription {
    /// waits for 50 ms before each event
    async fn joined(context: &Context, count: i32) -> Users {
        tick(context, 5);
        let clock = context.host().clone();
        let events = stream::iter(1..=count).map(move |id| {
            clock.advance(Duration::from_millis(50));
            match id {
                3 => Err(GraphError::conflict("the third event failed")),
                9 => panic!("the ninth event fell down"),
                id => Ok(User { id }),
            }
        });
        events.boxed()
    }

    async fn closed() -> Result<Users, GraphError> {
        Err(GraphError::forbidden("not open"))
    }
}

pub(super) fn builder() -> TestBuilder {
    Engine::builder(RootNode::new(Query, Mutation, Subscription)).with_entropy(SeededEntropy::new(1))
}

pub(super) fn clock() -> ManualClock {
    ManualClock::new(SystemTime::UNIX_EPOCH)
}

pub(super) fn context(clock: &ManualClock) -> Context {
    RequestContext::new(clock.clone()).with_loader(Names)
}

/// Complete body of the response.
pub(super) async fn body(engine: &TestEngine, request: Request<Bytes>, clock: &ManualClock) -> Vec<u8> {
    match engine.respond(request, context(clock)).await {
        HttpResponse::Full(response) => response.into_body().to_vec(),
        HttpResponse::Stream(response) => {
            let chunks: Vec<Bytes> = response.into_body().collect().await;
            chunks.concat()
        }
    }
}

/// Measurements in text form, one line each.
#[derive(Clone, Default)]
pub(super) struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    pub(super) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    fn push(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    fn measured(&self, kind: &str, measured: &OperationMetrics<'_>) {
        let codes: Vec<_> = measured.error_codes.iter().map(|code| code.as_str()).collect();
        self.push(format!(
            "{kind} {} {} {} [{}] {} ms, {} bytes, cost {}",
            measured.operation_type.unwrap_or("-"),
            measured.operation.unwrap_or("-"),
            measured.outcome.as_str(),
            codes.join(" "),
            measured.duration.as_millis(),
            measured.response_bytes,
            measured.cost.map_or("-".to_owned(), |cost| cost.to_string()),
        ));
    }
}

impl Metrics for Lines {
    fn operation(&self, operation: &OperationMetrics<'_>) {
        self.measured("operation", operation);
    }

    fn event(&self, event: &OperationMetrics<'_>) {
        self.measured("event", event);
    }

    fn resolver(&self, resolver: &ResolverMetrics<'_>) {
        self.push(format!(
            "{}.{} {} ms {}",
            resolver.parent_type,
            resolver.field,
            resolver.duration.as_millis(),
            resolver.error.map_or("-", |code| code.as_str()),
        ));
    }
}
