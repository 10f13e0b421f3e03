//! Execution of asynchronous resolvers: order, merging, failures, deadlines and limits.

mod late;
mod loads;
mod order;

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use graph_core::engine::EngineBuilder;
use graph_core::http::GraphRequest;
use graph_core::limits::Limits;
use graph_core::loader::Batch;
use graph_core::{Engine, GraphError, RequestContext, graph_object, graph_subscription};
use juniper::RootNode;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::watch;

/// Events in order.
#[derive(Default)]
struct Log {
    lines: Mutex<Vec<String>>,
    running: AtomicUsize,
    most: AtomicUsize,
    dropped: AtomicUsize,
    /// While `true`, tasks of their own do not ask.
    held: watch::Sender<bool>,
}

type Context = RequestContext<Arc<Log>>;

impl Log {
    fn note(&self, line: impl Into<String>) {
        self.lines.lock().unwrap().push(line.into());
    }

    fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }
}

/// Counts as running until it is dropped.
struct Running<'l>(&'l Log);

impl<'l> Running<'l> {
    fn new(log: &'l Log) -> Self {
        let running = log.running.fetch_add(1, Ordering::SeqCst) + 1;
        log.most.fetch_max(running, Ordering::SeqCst);
        Self(log)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
        self.0.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

async fn yields(times: i32) {
    for _ in 0..times {
        tokio::task::yield_now().await;
    }
}

struct Node {
    id: i32,
}

#[graph_object(context = Context)]
impl Node {
    fn id(&self) -> i32 {
        self.id
    }

    async fn slow(&self, context: &Context) -> i32 {
        let _running = Running::new(context.host());
        yields(3).await;
        self.id
    }

    /// Nullable; fails for odd ids.
    async fn odd(&self) -> Result<Option<i32>, GraphError> {
        yields(self.id % 3).await;
        if self.id % 2 == 1 {
            return Err(GraphError::conflict("odd"));
        }
        Ok(Some(self.id))
    }

    /// Non-null; fails for odd ids.
    async fn even(&self) -> Result<i32, GraphError> {
        yields(self.id % 3).await;
        if self.id % 2 == 1 {
            return Err(GraphError::conflict("odd"));
        }
        Ok(self.id)
    }

    fn child(&self) -> Option<Self> {
        Some(Self { id: self.id + 1 })
    }

    async fn children(&self, count: i32) -> Vec<Option<Self>> {
        yields(1).await;
        (0..count)
            .map(|more| {
                Some(Self {
                    id: self.id * 10 + more,
                })
            })
            .collect()
    }

    fn grid(&self) -> Vec<Vec<Option<Self>>> {
        let node = |id| Some(Self { id });
        vec![vec![node(2), None], vec![node(1), node(4)]]
    }

    /// Never completes.
    async fn never(&self, context: &Context) -> Result<Option<i32>, GraphError> {
        let _running = Running::new(context.host());
        std::future::pending().await
    }

    async fn certainly_never(&self, context: &Context) -> i32 {
        let _running = Running::new(context.host());
        std::future::pending().await
    }

    async fn name(&self, context: &Context) -> Result<Option<String>, GraphError> {
        context.load::<Names>(self.id).await
    }

    /// Requests the key from another task.
    async fn spawned_name(&self, context: &Context) -> Result<Option<String>, GraphError> {
        let (context, id) = (context.clone(), self.id);
        let asked = tokio::spawn(async move {
            let is_free = context
                .host()
                .held
                .subscribe()
                .wait_for(|held| !held)
                .await
                .is_ok();
            assert!(is_free, "the log outlives the request");
            yields(3).await;
            context.load::<Names>(id).await
        });
        asked.await?
    }
}

struct Names;

impl Batch for Names {
    type Key = i32;
    type Value = String;

    async fn load(&self, keys: Vec<i32>) -> Result<HashMap<i32, String>, GraphError> {
        yields(2).await;
        BATCHES.with(|batches| batches.lock().unwrap().push(keys.clone()));
        if keys.contains(&1300) {
            return Err(GraphError::not_found("that one"));
        }
        Ok(keys
            .into_iter()
            .filter(|id| *id != 99)
            .map(|id| (id, format!("name {id}")))
            .collect())
    }
}

thread_local! {
    /// Batches of the test on this thread.
    static BATCHES: Mutex<Vec<Vec<i32>>> = const { Mutex::new(Vec::new()) };
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn node(id: i32) -> Option<Node> {
        Some(Node { id })
    }

    fn nodes(count: i32) -> Vec<Option<Node>> {
        (0..count).map(|id| Some(Node { id })).collect()
    }

    async fn wait(context: &Context, times: i32) -> i32 {
        context.host().note(format!("start {times}"));
        yields(times).await;
        context.host().note(format!("end {times}"));
        times
    }
}

struct Mutation;

#[graph_object(context = Context)]
impl Mutation {
    async fn step(context: &Context, name: String, times: i32) -> Node {
        context.host().note(format!("start {name}"));
        yields(times).await;
        context.host().note(format!("end {name}"));
        Node { id: times }
    }

    fn quick(context: &Context, name: String) -> Option<i32> {
        context.host().note(name);
        None
    }

    async fn stuck() -> Option<i32> {
        std::future::pending().await
    }
}

struct Subscription;

#[graph_subscription(context = Context)]
impl Subscription {
    async fn ticks(context: &Context) -> BoxStream<'static, Node> {
        context.host().note("opened");
        stream::iter([Node { id: 1 }, Node { id: 2 }]).boxed()
    }
}

type Machine = Engine<Query, Mutation, Subscription>;

fn builder() -> EngineBuilder<Query, Mutation, Subscription> {
    let limits = Limits::default().with_cost(1_000_000).with_aliases(1_000);
    Engine::builder(RootNode::new(Query, Mutation, Subscription)).with_limits(limits)
}

async fn ask(engine: &Machine, query: &str, log: &Arc<Log>) -> Value {
    let context = RequestContext::new(Arc::clone(log)).with_loader(Names);
    json!(engine.execute(&GraphRequest::new(query), &context).await)
}

async fn answer(query: &str) -> Value {
    ask(&builder().build().unwrap(), query, &Arc::default()).await
}

fn batches() -> Vec<Vec<i32>> {
    BATCHES.with(|batches| std::mem::take(&mut *batches.lock().unwrap()))
}
