//! How the executor goes about resolvers that wait: order, merging, failure, time and number.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

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

use crate::fixture::codes;

/// What happened, in its order.
#[derive(Default)]
struct Log {
    lines: Mutex<Vec<String>>,
    running: AtomicUsize,
    most: AtomicUsize,
    dropped: AtomicUsize,
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

/// Counts itself as running until it is dropped.
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

    /// Nullable, and fails where the id is odd.
    async fn odd(&self) -> Result<Option<i32>, GraphError> {
        yields(self.id % 3).await;
        if self.id % 2 == 1 {
            return Err(GraphError::conflict("odd"));
        }
        Ok(Some(self.id))
    }

    /// Never null, and fails where the id is odd.
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

    /// Waits for ever.
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

    /// Asks from a task of its own.
    async fn spawned_name(&self, context: &Context) -> Result<Option<String>, GraphError> {
        let (context, id) = (context.clone(), self.id);
        let asked = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(5)).await;
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
    /// The batches of the test on this thread.
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

/// G8: fields that wait do so at once, and stand in the order of the document whichever is ready first.
#[tokio::test]
async fn fields_wait_at_once_and_stand_in_their_order() {
    let log = Arc::default();
    let query = "{ a: wait(times: 5) b: wait(times: 0) c: wait(times: 2) }";
    let answer = ask(&builder().build().unwrap(), query, &log).await;
    assert_eq!(answer.to_string(), r#"{"data":{"a":5,"b":0,"c":2}}"#);
    let expected = ["start 5", "start 0", "end 0", "start 2", "end 2", "end 5"];
    assert_eq!(log.lines(), expected);
}

/// G8: fragments do not make fields wait for one another.
#[tokio::test]
async fn fragments_do_not_make_fields_wait() {
    let log = Arc::default();
    let query = "{ ...A ... { b: wait(times: 1) } } fragment A on Query { a: wait(times: 9) }";
    ask(&builder().build().unwrap(), query, &log).await;
    assert_eq!(log.lines(), ["start 9", "start 1", "end 1", "end 9"]);
}

/// G8: one response key runs its resolver once, and what is selected below it anywhere is merged in the order of the document.
#[tokio::test]
async fn a_response_key_runs_once_and_is_merged() {
    let log = Arc::default();
    let query = "mutation { step(name: \"a\", times: 1) { id } ...F step(name: \"a\", times: 1) { x: slow } }
        fragment F on Mutation { step(name: \"a\", times: 1) { child { id } ... on Node { child { y: id } } } }";
    let answer = ask(&builder().build().unwrap(), query, &log).await;
    assert_eq!(
        answer.to_string(),
        r#"{"data":{"step":{"id":1,"child":{"id":2,"y":2},"x":1}}}"#
    );
    assert_eq!(log.lines(), ["start a", "end a"]);
}

/// G8: the fields of a mutation run one after another, each with everything below it.
#[tokio::test]
async fn mutations_run_in_series() {
    let log = Arc::default();
    let query = "mutation { a: step(name: \"a\", times: 9) { slow } q: quick(name: \"q\") b: step(name: \"b\", times: 0) { id } }";
    let answer = ask(&builder().build().unwrap(), query, &log).await;
    assert_eq!(
        answer.to_string(),
        r#"{"data":{"a":{"slow":9},"q":null,"b":{"id":0}}}"#
    );
    assert_eq!(log.lines(), ["start a", "end a", "q", "start b", "end b"]);
}

/// G4, G5: a failure of a field that waits has its indices, nulls what it must and nothing beside it.
#[tokio::test]
async fn failures_bubble_to_the_next_nullable_value() {
    let failing = answer("{ nodes(count: 4) { id odd even child { id } } }").await;
    let node = |id: i32| json!({ "id": id, "odd": id, "even": id, "child": { "id": id + 1 } });
    assert_eq!(failing["data"]["nodes"], json!([node(0), null, node(2), null]));
    let mut paths: Vec<_> = failing["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["path"].to_string())
        .collect();
    paths.dedup();
    // the order is that of the document, whatever failed first
    assert_eq!(
        paths,
        [
            r#"["nodes",1,"odd"]"#,
            r#"["nodes",3,"odd"]"#,
            r#"["nodes",1,"even"]"#,
            r#"["nodes",3,"even"]"#
        ]
    );

    let grid = answer("{ node(id: 0) { grid { even } id } }").await;
    assert_eq!(
        grid["data"]["node"],
        json!({ "grid": [[{ "even": 2 }, null], [null, { "even": 4 }]], "id": 0 })
    );
    assert_eq!(grid["errors"][0]["path"], json!(["node", "grid", 1, 0, "even"]));

    let deep = answer("{ node(id: 0) { children(count: 12) { children(count: 3) { x: even } } } }").await;
    assert_eq!(
        deep["data"]["node"]["children"][11]["children"],
        json!([{ "x": 110 }, null, { "x": 112 }])
    );
    let last = deep["errors"].as_array().unwrap().last().unwrap();
    assert_eq!(last["path"], json!(["node", "children", 11, "children", 1, "x"]));
}

/// G5: what waits beside a failure that nulls both is not waited for.
#[tokio::test]
async fn what_became_null_is_cancelled() {
    for (count, selected) in [(1, "even never"), (20, "even never certainlyNever")] {
        let log = Arc::default();
        let query = format!(
            "{{ node(id: 1) {{ child {{ id }} children(count: {count}) {{ child {{ {selected} }} }} }} }}"
        );
        let asked = async {
            let engine = builder().build().unwrap();
            ask(&engine, &query.replace("children(count: 1)", "c: child"), &log).await
        };
        let asked = tokio::time::timeout(Duration::from_millis(200), asked).await;
        if count == 1 {
            // id 3: odd, and its `never` is dropped with it
            let answer = asked.unwrap();
            assert_eq!(
                answer["data"]["node"],
                json!({ "child": { "id": 2 }, "c": { "child": null } })
            );
            assert_eq!(log.running.load(Ordering::SeqCst), 0);
        } else {
            // even ids wait for ever
            assert!(asked.is_err());
            assert_eq!(log.running.load(Ordering::SeqCst), 0);
        }
    }
}

/// G8: many fields that wait fill their places, also when other threads wake them.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_fields_are_woken_from_anywhere() {
    let query = "{ nodes(count: 300) { id slow children(count: 3) { slow child { slow } } spawnedName } }";
    let answer = answer(query).await;
    assert!(answer.get("errors").is_none(), "{}", answer["errors"]);
    for id in 0..300 {
        let child = |id: i32| json!({ "slow": id, "child": { "slow": id + 1 } });
        let children: Vec<_> = (0..3).map(|more| child(id * 10 + more)).collect();
        let name = if id == 99 {
            Value::Null
        } else {
            json!(format!("name {id}"))
        };
        let expected = json!({ "id": id, "slow": id, "children": children, "spawnedName": name });
        let at = usize::try_from(id).unwrap();
        assert_eq!(answer["data"]["nodes"][at], expected);
    }
}

/// Time passes as often as the operation comes to rest.
async fn rests(_: Duration) {
    yields(60).await;
}

/// G5: a deadline answers with what is ready; what is not is null, or bubbles, with `TIMEOUT`, and is dropped.
#[tokio::test]
async fn a_deadline_answers_with_what_is_ready() {
    let engine = builder()
        .with_deadline(Duration::from_secs(2), rests)
        .build()
        .unwrap();
    let log: Arc<Log> = Arc::default();
    let query =
        "{ a: node(id: 0) { id slow never } b: node(id: 2) { certainlyNever id } c: node(id: 4) { slow }
        many: nodes(count: 10) { slow child { never } } }";
    let answer = ask(&engine, query, &log).await;
    let entry = |id: i32| json!({ "slow": id, "child": { "never": null } });
    let many: Vec<_> = (0..10).map(entry).collect();
    assert_eq!(
        answer["data"],
        json!({ "a": { "id": 0, "slow": 0, "never": null }, "b": null, "c": { "slow": 4 }, "many": many })
    );
    let codes = codes(&answer);
    assert_eq!(codes.len(), 12);
    assert!(codes.iter().all(|code| *code == "TIMEOUT"), "{codes:?}");
    assert_eq!(answer["errors"][0]["path"], json!(["a", "never"]));
    assert_eq!(answer["errors"][11]["path"], json!(["many", 9, "child", "never"]));
    assert_eq!(log.running.load(Ordering::SeqCst), 0);
}

/// G5, G8: a mutation that is late starts nothing more.
#[tokio::test]
async fn a_late_mutation_starts_nothing_more() {
    let engine = builder()
        .with_deadline(Duration::from_secs(2), rests)
        .build()
        .unwrap();
    let log: Arc<Log> = Arc::default();
    let query =
        "mutation { a: step(name: \"a\", times: 1) { id } stuck b: step(name: \"b\", times: 1) { id } }";
    let answer = ask(&engine, query, &log).await;
    assert_eq!(log.lines(), ["start a", "end a"]);
    assert_eq!(codes(&answer), ["TIMEOUT", "TIMEOUT"]);
    assert_eq!(answer["data"], Value::Null);
}

/// G8: with a limit no more resolvers run at once, on all levels together, and all of them run in the end.
#[tokio::test]
async fn a_limit_bounds_how_many_resolvers_run() {
    let query = "{ nodes(count: 30) { slow children(count: 2) { slow } } }";
    for limit in [1, 3, 1_000] {
        let log: Arc<Log> = Arc::default();
        let engine = builder().with_concurrency(limit).build().unwrap();
        let answer = ask(&engine, query, &log).await;
        assert!(answer.get("errors").is_none());
        assert_eq!(log.dropped.load(Ordering::SeqCst), 30 + 60);
        let most = log.most.load(Ordering::SeqCst);
        assert!(
            if limit < 90 { most == limit } else { most > 3 },
            "{most} of {limit}"
        );
    }
}

/// G8: resolvers that ask for keys are one batch, each key in it once; a level further down is one more.
#[tokio::test]
async fn keys_are_loaded_in_one_batch() {
    batches();
    let answer = answer("{ nodes(count: 12) { name again: name children(count: 2) { name } } }").await;
    assert!(answer.get("errors").is_none(), "{}", answer["errors"]);
    assert_eq!(answer["data"]["nodes"][3]["name"], "name 3");
    assert_eq!(answer["data"]["nodes"][11]["children"][1]["name"], "name 111");
    let batches = batches();
    // the children were there when everything else had come to rest
    assert_eq!(batches.len(), 1, "{batches:?}");
    assert_eq!(batches[0].len(), 12 + 24 - 4);
}

/// G8: a failure of a batch is the answer to all of its keys, and a key without a value is null.
#[tokio::test]
async fn a_batch_fails_as_a_whole() {
    let failed = answer("{ a: node(id: 1300) { name } b: node(id: 5) { name } }").await;
    assert_eq!(codes(&failed), ["NOT_FOUND", "NOT_FOUND"]);
    assert_eq!(
        failed["data"],
        json!({ "a": { "name": null }, "b": { "name": null } })
    );
    let absent = answer("{ node(id: 99) { name } }").await;
    assert_eq!(absent, json!({ "data": { "node": { "name": null } } }));
}

/// G8: a key that a task of its own asks for, while nothing else goes on, is loaded.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_asked_for_from_another_task_is_loaded() {
    let asked = answer("{ a: node(id: 1) { spawnedName } b: node(id: 2) { spawnedName name } }");
    let answer = tokio::time::timeout(Duration::from_secs(5), asked).await.unwrap();
    assert_eq!(
        answer["data"],
        json!({ "a": { "spawnedName": "name 1" }, "b": { "spawnedName": "name 2", "name": "name 2" } })
    );
}

/// G10: an event has its own errors and its own loads.
#[tokio::test]
async fn an_event_runs_through_the_plan() {
    batches();
    let context = RequestContext::new(Arc::default()).with_loader(Names);
    let request = GraphRequest::new(
        "subscription { ...F } fragment F on Subscription { t: ticks { id odd name child { name } } }",
    );
    let events = builder().build().unwrap().subscribe(request, context);
    let events: Vec<_> = events.map(|event| json!(event)).collect().await;
    assert_eq!(events.len(), 2);
    assert_eq!(
        events[0]["data"],
        json!({ "t": { "id": 1, "odd": null, "name": "name 1", "child": { "name": "name 2" } } })
    );
    assert_eq!(events[0]["errors"][0]["path"], json!(["t", "odd"]));
    assert!(events[1].get("errors").is_none());
    // 2 is asked for again
    assert_eq!(batches(), [vec![1, 2], vec![2, 3]]);
}
