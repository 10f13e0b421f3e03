//! Deferred fragments as `multipart/mixed`.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _};
use graph_core::engine::EngineBuilder;
use graph_core::http::{EventStream, GraphRequest, HttpResponse};
use graph_core::limits::Limits;
use graph_core::loader::Batch;
use graph_core::ports::timer_fn;
use graph_core::{Engine, GraphError, RequestContext, graph_object, graph_subscription, graph_union};
use host_ports::testing::SeededEntropy;
use http::{Request, Response};
use juniper::RootNode;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::fixture::{accepting, codes, get, json as envelope, post};
use crate::reassembled::{Reassembled, list, payloads};

const APOLLO: &str =
    "multipart/mixed;deferSpec=20220824,application/graphql-response+json,application/json;q=0.9";
const GRAPHQL_JS: &str =
    "multipart/mixed;incrementalSpec=v0.2,application/graphql-response+json,application/json;q=0.9";

/// Counts calls and holds back `held`.
#[derive(Default)]
struct Host {
    calls: Mutex<BTreeMap<String, usize>>,
    batches: Mutex<Vec<Vec<i32>>>,
    released: watch::Sender<bool>,
    running: Arc<()>,
}

impl Host {
    fn called(&self, field: impl Into<String>) {
        *self.calls.lock().unwrap().entry(field.into()).or_default() += 1;
    }

    fn calls(&self) -> BTreeMap<String, usize> {
        std::mem::take(&mut *self.calls.lock().unwrap())
    }
}

type Context = RequestContext<Arc<Host>>;

struct Titles(Arc<Host>);

impl Batch for Titles {
    type Key = i32;
    type Value = String;

    async fn load(&self, keys: Vec<i32>) -> Result<HashMap<i32, String>, GraphError> {
        self.0.batches.lock().unwrap().push(keys.clone());
        tokio::task::yield_now().await;
        Ok(keys
            .into_iter()
            .map(|key| (key, format!("title {key}")))
            .collect())
    }
}

struct Node {
    id: i32,
}

#[graph_object(context = Context)]
impl Node {
    fn id(&self, context: &Context) -> i32 {
        context.host().called(format!("id {}", self.id));
        self.id
    }

    /// asynchronous
    async fn name(&self, context: &Context) -> String {
        context.host().called(format!("name {}", self.id));
        tokio::task::yield_now().await;
        format!("name {}", self.id)
    }

    async fn title(&self, context: &Context) -> Result<Option<String>, GraphError> {
        context.load::<Titles>(self.id).await
    }

    fn inner(&self, context: &Context) -> Self {
        context.host().called(format!("inner {}", self.id));
        Self { id: self.id + 1 }
    }

    async fn child(&self, context: &Context) -> Option<Self> {
        context.host().called(format!("child {}", self.id));
        tokio::task::yield_now().await;
        (self.id % 7 != 6).then_some(Self { id: self.id + 2 })
    }

    fn children(&self, context: &Context) -> Vec<Self> {
        context.host().called(format!("children {}", self.id));
        (0..self.id % 3).map(|at| Self { id: self.id * 2 + at }).collect()
    }

    async fn many(&self, count: i32) -> Vec<Option<Self>> {
        (0..count)
            .map(|id| (id % 5 != 4).then_some(Self { id }))
            .collect()
    }

    fn any(&self) -> Vec<Any> {
        vec![
            Any::Node(Self { id: self.id + 3 }),
            Any::Leaf(Leaf { id: self.id + 4 }),
        ]
    }

    fn broken(&self) -> Result<i32, GraphError> {
        Err(GraphError::conflict("broken"))
    }

    async fn late_broken(&self) -> Result<i32, GraphError> {
        tokio::task::yield_now().await;
        Err(GraphError::conflict("late and broken"))
    }

    fn risky(&self) -> Result<Option<i32>, GraphError> {
        Err(GraphError::not_found("no such thing"))
    }

    fn secret(&self, context: &Context) -> Result<Option<i32>, GraphError> {
        context.require_role("owner")?;
        Ok(Some(self.id))
    }

    #[graph(role = "owner")]
    fn guarded(&self) -> Option<i32> {
        Some(self.id)
    }

    async fn held(&self, context: &Context) -> Option<i32> {
        let _running = Arc::clone(&context.host().running);
        let mut released = context.host().released.subscribe();
        released.wait_for(|released| *released).await.unwrap();
        Some(self.id)
    }

    async fn explodes(&self) -> Option<i32> {
        tokio::task::yield_now().await;
        panic!("boom")
    }
}

struct Leaf {
    id: i32,
}

#[graph_object(context = Context)]
impl Leaf {
    fn id(&self) -> i32 {
        self.id
    }

    fn node(&self) -> Node {
        Node { id: self.id }
    }
}

#[graph_union(context = Context)]
enum Any {
    Node(Node),
    Leaf(Leaf),
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    async fn node(context: &Context, #[graphql(default = 1)] id: i32) -> Option<Node> {
        context.host().called(format!("node {id}"));
        tokio::task::yield_now().await;
        Some(Node { id })
    }

    fn now(context: &Context, #[graphql(default = 1)] id: i32) -> Node {
        context.host().called(format!("now {id}"));
        Node { id }
    }
}

struct Mutation;

#[graph_object(context = Context)]
impl Mutation {
    async fn write(context: &Context, id: i32) -> Node {
        context.host().called(format!("write {id}"));
        Node { id }
    }
}

struct Subscription;

#[graph_subscription(context = Context)]
impl Subscription {
    async fn nodes() -> futures_util::stream::BoxStream<'static, Node> {
        futures_util::stream::iter([Node { id: 1 }]).boxed()
    }
}

type TestEngine = Engine<Query, Mutation, Subscription>;

fn plain() -> EngineBuilder<Query, Mutation, Subscription> {
    Engine::builder(RootNode::new(Query, Mutation, Subscription)).with_entropy(SeededEntropy::new(1))
}

fn engine() -> TestEngine {
    plain().with_incremental_delivery().build().unwrap()
}

fn context(host: &Arc<Host>) -> Context {
    RequestContext::new(Arc::clone(host)).with_loader(Titles(Arc::clone(host)))
}

async fn open(engine: &TestEngine, request: Request<Bytes>, host: &Arc<Host>) -> Response<EventStream> {
    match engine.respond(request, context(host)).await {
        HttpResponse::Stream(response) => response,
        HttpResponse::Full(response) => panic!("{response:?}"),
    }
}

async fn body(response: Response<EventStream>) -> String {
    let chunks: Vec<Bytes> = response.into_body().collect().await;
    String::from_utf8(chunks.concat()).unwrap()
}

/// Bodies of the parts.
async fn parts(engine: &TestEngine, query: &str, accept: &'static str, host: &Arc<Host>) -> Vec<String> {
    parts_with(engine, query, Value::Null, accept, host).await
}

async fn parts_with(
    engine: &TestEngine,
    query: &str,
    variables: Value,
    accept: &'static str,
    host: &Arc<Host>,
) -> Vec<String> {
    let response = engine
        .respond(accepting(post(query, variables), accept), context(host))
        .await;
    payloads(response).await
}

async fn whole(engine: &TestEngine, query: &str, host: &Arc<Host>) -> Value {
    let response = engine.respond(post(query, Value::Null), context(host)).await;
    match response {
        HttpResponse::Full(response) => envelope(&response),
        HttpResponse::Stream(response) => panic!("{response:?}"),
    }
}

/// G24: without the setting of the builder, `@defer` is unknown and the parameters of `Accept` have
/// no effect.
#[tokio::test]
async fn defer_is_unknown_by_default() {
    let (engine, host) = (plain().build().unwrap(), Arc::<Host>::default());
    let query = "{ now { id ... @defer { name } } }";
    for accept in [APOLLO, GRAPHQL_JS, "application/json"] {
        let answer = parts(&engine, query, accept, &host).await;
        let answer: Value = serde_json::from_str(&answer[0]).unwrap();
        assert_eq!(answer["errors"][0]["message"], "Unknown directive \"@defer\".");
    }
    let directives = "{ __schema { directives { name } } }";
    let names = whole(&engine, directives, &host).await.to_string();
    assert!(!names.contains("defer"), "{names}");
    assert!(host.calls().is_empty());
    let HttpResponse::Full(refused) = engine
        .respond(
            accepting(
                post("{ now { id } }", Value::Null),
                "multipart/mixed;deferSpec=20220824",
            ),
            context(&host),
        )
        .await
    else {
        panic!("a stream")
    };
    assert_eq!(refused.status(), 406);
}

/// G24: introspection and the SDL have the directive, so that tools accept documents with it. The
/// SDL is that of graphql-js.
#[tokio::test]
async fn introspection_and_sdl_have_the_directive() {
    let (engine, host) = (engine(), Arc::<Host>::default());
    let query = "{ __schema { directives { name locations isRepeatable
        args { name defaultValue type { kind name ofType { name } } } } } }";
    let answer = whole(&engine, query, &host).await;
    let directives = answer["data"]["__schema"]["directives"].as_array().unwrap();
    let defer = directives.iter().find(|directive| directive["name"] == "defer");
    let expected = json!({
        "name": "defer",
        "locations": ["FRAGMENT_SPREAD", "INLINE_FRAGMENT"],
        "isRepeatable": false,
        "args": [
            { "name": "if", "defaultValue": "true",
              "type": { "kind": "NON_NULL", "name": null, "ofType": { "name": "Boolean" } } },
            { "name": "label", "defaultValue": null,
              "type": { "kind": "SCALAR", "name": "String", "ofType": null } },
        ],
    });
    assert_eq!(defer.unwrap(), &expected);
    let without = plain().build().unwrap().sdl();
    let definition = r#""""
Directs the executor to defer this fragment when the `if` argument is true or undefined.
"""
directive @defer(
  """Deferred when true or undefined."""
  if: Boolean! = true

  """Unique name"""
  label: String
) on FRAGMENT_SPREAD | INLINE_FRAGMENT
"#;
    assert_eq!(engine.sdl(), format!("{definition}\n{without}"));
}

/// Part with a delimiter before it.
fn part_of(body: &str) -> String {
    let length = body.len();
    format!("--graphql\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}\r\n")
}

/// G24: Apollo's format, byte for byte.
#[tokio::test]
async fn apollo_format_is_exact() {
    let (engine, host) = (engine(), Arc::<Host>::default());
    let query = "{ node { id ... @defer(label: \"rest\") { name } } }";
    for request in [post(query, Value::Null), get(query)] {
        let response = open(&engine, accepting(request, APOLLO), &host).await;
        assert_eq!(response.status(), 200);
        assert_eq!(
            response.headers()["content-type"],
            "multipart/mixed;boundary=graphql;deferSpec=20220824"
        );
        assert_eq!(response.headers()["cache-control"], "private, no-store");
        assert_eq!(response.headers()["vary"], "accept");
        let expected = [
            r#"{"data":{"node":{"id":1}},"hasNext":true}"#,
            r#"{"incremental":[{"path":["node"],"data":{"name":"name 1"},"label":"rest"}],"hasNext":false}"#,
        ];
        let expected = expected.map(part_of);
        assert_eq!(body(response).await, expected.concat() + "--graphql--\r\n");
    }
}

/// G24: the format of graphql-js 17, byte for byte.
#[tokio::test]
async fn graphql_js_format_is_exact() {
    let (engine, host) = (engine(), Arc::<Host>::default());
    let query = "{ node { id ... @defer(label: \"rest\") { name } } }";
    let response = open(&engine, accepting(post(query, Value::Null), GRAPHQL_JS), &host).await;
    assert_eq!(
        response.headers()["content-type"],
        "multipart/mixed;boundary=graphql;incrementalSpec=v0.2"
    );
    let expected = [
        r#"{"data":{"node":{"id":1}},"pending":[{"id":"0","path":["node"],"label":"rest"}],"hasNext":true}"#,
        r#"{"incremental":[{"id":"0","data":{"name":"name 1"}}],"completed":[{"id":"0"}],"hasNext":false}"#,
    ];
    let expected = expected.map(part_of);
    assert_eq!(body(response).await, expected.concat() + "--graphql--\r\n");
}

/// G24: the weight, then the order of `Accept` decides between the formats.
#[tokio::test]
async fn accept_decides_the_format() {
    let (engine, host) = (engine(), Arc::<Host>::default());
    let query = "{ now { ... @defer { id } } }";
    for (accept, is_apollo) in [
        (
            "multipart/mixed;deferSpec=20220824,multipart/mixed;incrementalSpec=v0.2",
            Some(true),
        ),
        (
            "multipart/mixed;incrementalSpec=v0.2, multipart/mixed;deferSpec=20220824",
            Some(false),
        ),
        (
            "multipart/mixed;incrementalSpec=\"v0.2\";q=0.5, multipart/mixed;deferSpec=20220824",
            Some(true),
        ),
        ("multipart/mixed;incrementalSpec=v0.2", Some(false)),
        ("multipart/mixed;incrementalSpec=v0.2;q=0, application/json", None),
        ("multipart/mixed;incrementalSpec=v9, application/json", None),
        ("multipart/mixed, application/json", None),
        ("*/*", None),
    ] {
        let answer = parts(&engine, query, accept, &host).await;
        let expected = match is_apollo {
            Some(true) => "{\"data\":{\"now\":{}},\"hasNext\":true}",
            Some(false) => {
                "{\"data\":{\"now\":{}},\"pending\":[{\"id\":\"0\",\"path\":[\"now\"]}],\"hasNext\":true}"
            }
            None => "{\"data\":{\"now\":{\"id\":1}}}",
        };
        assert_eq!(answer[0], expected, "{accept}");
        assert_eq!(answer.len() == 1, is_apollo.is_none(), "{accept}");
    }
    let events = "text/event-stream,multipart/mixed;deferSpec=20220824";
    let response = open(&engine, accepting(post(query, Value::Null), events), &host).await;
    assert!(
        body(response)
            .await
            .contains("data: {\"data\":{\"now\":{\"id\":1}}}\n")
    );
}

/// G24: a fragment inside another one is announced and sent when the outer one is complete.
#[tokio::test]
async fn nested_fragment_follows_outer_one() {
    let (engine, host) = (engine(), Arc::<Host>::default());
    let query = "{ now { ... @defer(label: \"outer\") { id held ... @defer(label: \"inner\") { name } } } }";
    host.released.send_replace(false);
    for (accept, expected) in [
        (
            APOLLO,
            &[
                r#"{"data":{"now":{}},"hasNext":true}"#,
                r#"{"incremental":[{"path":["now"],"data":{"id":1,"held":1},"label":"outer"},{"path":["now"],"data":{"name":"name 1"},"label":"inner"}],"hasNext":false}"#,
            ],
        ),
        (
            GRAPHQL_JS,
            &[
                r#"{"data":{"now":{}},"pending":[{"id":"0","path":["now"],"label":"outer"}],"hasNext":true}"#,
                r#"{"pending":[{"id":"1","path":["now"],"label":"inner"}],"incremental":[{"id":"0","data":{"id":1,"held":1}},{"id":"1","data":{"name":"name 1"}}],"completed":[{"id":"0"},{"id":"1"}],"hasNext":false}"#,
            ],
        ),
    ] {
        host.released.send_replace(false);
        let release = async {
            // the inner fragment is ready long before
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
            host.released.send_replace(true);
        };
        let (found, ()) = tokio::join!(parts(&engine, query, accept, &host), release);
        assert_eq!(found, expected);
    }
}

/// G24: a nested object is deferred inside a deferred fragment.
#[tokio::test]
async fn fragment_of_deferred_object_is_sent_after_it() {
    let (engine, host) = (engine(), Arc::<Host>::default());
    let query = "{ now { ... @defer { child { id ... @defer { name } } } } }";
    let found = parts(&engine, query, GRAPHQL_JS, &host).await;
    let expected = [
        r#"{"data":{"now":{}},"pending":[{"id":"0","path":["now"]}],"hasNext":true}"#,
        r#"{"pending":[{"id":"1","path":["now","child"]}],"incremental":[{"id":"0","data":{"child":{"id":3}}}],"completed":[{"id":"0"}],"hasNext":true}"#,
        r#"{"incremental":[{"id":"1","data":{"name":"name 3"}}],"completed":[{"id":"1"}],"hasNext":false}"#,
    ];
    assert_eq!(found, expected);
}

/// G24: fields that are also selected outside of the fragment are in the first part, and fields
/// below a shared object are sent with a `subPath`.
#[tokio::test]
async fn shared_fields_belong_to_first_part() {
    let (engine, host) = (engine(), Arc::<Host>::default());
    let query = "{ now { id ... @defer { id inner { id name } } inner { id } } }";
    let found = parts(&engine, query, GRAPHQL_JS, &host).await;
    let expected = [
        r#"{"data":{"now":{"id":1,"inner":{"id":2}}},"pending":[{"id":"0","path":["now"]}],"hasNext":true}"#,
        r#"{"incremental":[{"id":"0","subPath":["inner"],"data":{"name":"name 2"}}],"completed":[{"id":"0"}],"hasNext":false}"#,
    ];
    assert_eq!(found, expected);
    let found = parts(&engine, query, APOLLO, &host).await;
    let expected = r#"{"incremental":[{"path":["now","inner"],"data":{"name":"name 2"}}],"hasNext":false}"#;
    assert_eq!(found[1], expected);
    // nothing is left to defer
    let found = parts(&engine, "{ now { id ... @defer { id } } }", GRAPHQL_JS, &host).await;
    assert_eq!(found, [r#"{"data":{"now":{"id":1}}}"#]);
}

/// G24: a field of two fragments is resolved once, and both wait for it.
#[tokio::test]
async fn field_of_two_fragments_is_sent_once() {
    let (engine, host) = (engine(), Arc::<Host>::default());
    let query = "{ now { ... @defer(label: \"a\") { name id } ... @defer(label: \"b\") { name } } }";
    let found = parts(&engine, query, GRAPHQL_JS, &host).await;
    let expected = [
        r#"{"data":{"now":{}},"pending":[{"id":"0","path":["now"],"label":"a"},{"id":"1","path":["now"],"label":"b"}],"hasNext":true}"#,
        r#"{"incremental":[{"id":"0","data":{"name":"name 1"}},{"id":"0","data":{"id":1}}],"completed":[{"id":"0"},{"id":"1"}],"hasNext":false}"#,
    ];
    assert_eq!(found, expected);
    assert_eq!(host.calls()["name 1"], 1);
}

/// G24: a fragment whose fields were all sent with another one is not announced.
#[tokio::test]
async fn fragment_whose_fields_are_sent_is_not_announced() {
    let (engine, host) = (engine(), Arc::<Host>::default());
    let query = "{ now { ... @defer(label: \"a\") { id }
        ... @defer(label: \"b\") { name ... @defer(label: \"c\") { id ... @defer(label: \"d\") { n: id } } } } }";
    let found = parts(&engine, query, GRAPHQL_JS, &host).await;
    let expected = [
        r#"{"data":{"now":{}},"pending":[{"id":"0","path":["now"],"label":"a"},{"id":"1","path":["now"],"label":"b"}],"hasNext":true}"#,
        r#"{"incremental":[{"id":"0","data":{"id":1}}],"completed":[{"id":"0"}],"hasNext":true}"#,
        r#"{"pending":[{"id":"2","path":["now"],"label":"d"}],"incremental":[{"id":"1","data":{"name":"name 1"}},{"id":"2","data":{"n":1}}],"completed":[{"id":"1"},{"id":"2"}],"hasNext":false}"#,
    ];
    assert_eq!(found, expected);
}

/// G24: `if: false` and a variable that is false defer nothing; a variable without a value does.
#[tokio::test]
async fn condition_decides() {
    let (engine, host) = (engine(), Arc::<Host>::default());
    let literal = "{ now { ... @defer(if: false) { id } } }";
    let found = parts(&engine, literal, APOLLO, &host).await;
    assert_eq!(found, [r#"{"data":{"now":{"id":1}}}"#]);
    let query = "query ($d: Boolean) { now { ... @defer(if: $d) { id } } }";
    for round in 0..2 {
        for (variables, count) in [
            (json!({ "d": false }), 1),
            (json!({ "d": true }), 2),
            (json!({}), 2),
        ] {
            let found = parts_with(&engine, query, variables.clone(), APOLLO, &host).await;
            assert_eq!(found.len(), count, "{variables}, round {round}");
        }
        let refused = parts_with(&engine, query, json!({ "d": null }), APOLLO, &host).await;
        let refused: Value = serde_json::from_str(&refused[0]).unwrap();
        assert_eq!(codes(&refused), ["BAD_USER_INPUT"]);
    }
    let two = "query ($a: Boolean!, $b: Boolean!, $i: Boolean!) {
        now { ... @defer(if: $a, label: \"a\") { id } ... @defer(if: $b, label: \"b\") @include(if: $i) { name } } }";
    for bits in [0, 5, 2, 7, 1, 3, 4, 6, 5] {
        let bit = |at: u32| bits >> at & 1 == 1;
        let variables = json!({ "a": bit(0), "b": bit(1), "i": bit(2) });
        let found = parts_with(&engine, two, variables.clone(), GRAPHQL_JS, &host).await;
        let announced = usize::from(bit(0)) + usize::from(bit(1) && bit(2));
        assert_eq!(found[0].matches("\"path\"").count(), announced, "{variables}");
        assert_eq!(found[0].contains("\"id\":1"), !bit(0), "{variables}");
        assert_eq!(found[0].contains("name 1"), !bit(1) && bit(2), "{variables}");
    }
}

/// G24: a failure that reaches the object of a fragment fails that fragment only.
#[tokio::test]
async fn failure_is_limited_to_its_fragment() {
    let (engine, host) = (engine(), Arc::<Host>::default());
    for field in ["broken", "lateBroken"] {
        let query = format!(
            "{{ now {{ id ... @defer(label: \"bad\") {{ {field} ... @defer(label: \"lost\") {{ inner {{ id }} }} }}
            ... @defer(label: \"good\") {{ name risky }} }} }}"
        );
        let found = parts(&engine, &query, GRAPHQL_JS, &host).await;
        let payloads: Vec<Value> = found
            .iter()
            .map(|part| serde_json::from_str(part).unwrap())
            .collect();
        assert_eq!(payloads[0]["data"], json!({ "now": { "id": 1 } }));
        let merged = Reassembled::of(&found);
        assert_eq!(
            merged.data,
            json!({ "now": { "id": 1, "name": "name 1", "risky": null } })
        );
        let mut paths: Vec<_> = merged
            .all_errors()
            .iter()
            .map(|error| error["path"].to_string())
            .collect();
        paths.sort();
        assert_eq!(
            paths,
            [format!("[\"now\",\"{field}\"]"), "[\"now\",\"risky\"]".to_owned()]
        );
        assert_eq!(merged.failed().count(), 1);
        let found = parts(&engine, &query, APOLLO, &host).await.concat();
        assert!(
            found.contains(r#"{"path":["now"],"data":null,"label":"bad","errors":["#),
            "{found}"
        );
        assert!(!found.contains("lost"), "{found}");
    }
    // a failure in the first part drops the fragments of the null value
    let query = "{ node { broken ... @defer { name } } }";
    let found = parts(&engine, query, GRAPHQL_JS, &host).await;
    assert_eq!(found.len(), 1);
    assert!(
        found[0].starts_with(r#"{"data":{"node":null},"errors":"#),
        "{}",
        found[0]
    );
    host.calls();
    let query = "{ node { lateBroken ... @defer { name } } other: node { id ... @defer { name } } }";
    let found = parts(&engine, query, GRAPHQL_JS, &host).await;
    assert!(
        found[0].contains(r#""pending":[{"id":"0","path":["other"]}]"#),
        "{}",
        found[0]
    );
    assert_eq!(host.calls()["name 1"], 1);
}

/// G24: the fragments of the entries of a list have the indices in their paths.
#[tokio::test]
async fn list_entries_have_a_fragment_each() {
    let (engine, host) = (engine(), Arc::<Host>::default());
    let query = "{ now { many(count: 3) { id ... @defer { name } } } }";
    let found = parts(&engine, query, APOLLO, &host).await;
    let expected = [
        r#"{"data":{"now":{"many":[{"id":0},{"id":1},{"id":2}]}},"hasNext":true}"#,
        r#"{"incremental":[{"path":["now","many",0],"data":{"name":"name 0"}},{"path":["now","many",1],"data":{"name":"name 1"}},{"path":["now","many",2],"data":{"name":"name 2"}}],"hasNext":false}"#,
    ];
    assert_eq!(found, expected);
    // null entries have none
    let query = "{ now { many(count: 500) { id child { id ... @defer { inner { name } } } } } }";
    let found = parts(&engine, query, GRAPHQL_JS, &host).await;
    let merged = Reassembled::of(&found);
    assert_eq!(merged.data, whole(&engine, query, &host).await["data"]);
    let found = parts(
        &engine,
        "{ now { many(count: 0) { ... @defer { name } } } }",
        APOLLO,
        &host,
    )
    .await;
    assert_eq!(found, [r#"{"data":{"now":{"many":[]}}}"#]);
}

/// G24: without a suitable `Accept`, in batches and over other transports, `@defer` has no effect.
#[tokio::test]
async fn other_clients_get_one_response() {
    let (engine, host) = (engine(), Arc::<Host>::default());
    let query = "{ node { id ... @defer { name inner { id } } inner { name } } }";
    let without = query.replace("@defer", "");
    let expected = whole(&engine, &without, &host).await;
    assert_eq!(whole(&engine, query, &host).await, expected);
    let request = GraphRequest::new(query);
    let responses: Vec<_> = engine.subscribe(request, context(&host)).collect().await;
    assert_eq!(responses.len(), 1);
    let found: Value = serde_json::from_slice(&responses[0].to_json()).unwrap();
    assert_eq!(found, expected);
}

/// G24: the fragments below the fields of a mutation run after all of its root fields.
#[tokio::test]
async fn mutation_defers_below_its_root() {
    let (engine, host) = (engine(), Arc::<Host>::default());
    let query =
        "mutation { a: write(id: 1) { id ... @defer { name } } b: write(id: 2) { ... @defer { id } } }";
    let found = parts(&engine, query, APOLLO, &host).await;
    assert_eq!(found[0], r#"{"data":{"a":{"id":1},"b":{}},"hasNext":true}"#);
    let merged = Reassembled::of(&found);
    assert_eq!(
        merged.data,
        json!({ "a": { "id": 1, "name": "name 1" }, "b": { "id": 2 } })
    );
    assert_eq!(host.calls()["write 1"], 1);
    let HttpResponse::Full(refused) = engine
        .respond(accepting(get(query), APOLLO), context(&host))
        .await
    else {
        panic!("a stream")
    };
    assert_eq!(refused.status(), 405);
}

/// G24: deferred fields start when the host has taken the first part; a dropped response stops
/// them.
#[tokio::test]
async fn deferred_fields_start_late_and_stop_with_the_stream() {
    let (engine, host) = (engine(), Arc::<Host>::default());
    let query = "{ node { id ... @defer { name held } } }";
    let response = open(&engine, accepting(post(query, Value::Null), APOLLO), &host).await;
    let mut stream = response.into_body();
    assert_eq!(stream.next().await.unwrap(), "--graphql\r\n");
    let first = stream.next().await.unwrap();
    assert!(first.ends_with(b"\"hasNext\":true}\r\n--graphql\r\n"));
    assert!(!host.calls().contains_key("name 1"));
    for _ in 0..10 {
        assert!(stream.next().now_or_never().is_none());
        tokio::task::yield_now().await;
    }
    assert_eq!(host.calls()["name 1"], 1);
    assert_eq!(Arc::strong_count(&host.running), 2);
    drop(stream);
    assert_eq!(Arc::strong_count(&host.running), 1);
}

/// G24: a silent response gets heartbeats, which are payloads of both formats.
#[tokio::test]
async fn silent_fragment_sends_heartbeats() {
    let (engine, host) = (engine(), Arc::<Host>::default());
    for accept in [APOLLO, GRAPHQL_JS] {
        host.released.send_replace(false);
        let request = accepting(post("{ node { id ... @defer { held } } }", Value::Null), accept);
        let response = open(&engine, request, &host).await;
        let timer = timer_fn(|_| std::future::ready(()));
        let mut stream = response
            .into_body()
            .with_keep_alive(timer, Duration::from_secs(5));
        assert_eq!(stream.next().await.unwrap(), "--graphql\r\n");
        assert!(stream.next().await.unwrap().ends_with(b"true}\r\n--graphql\r\n"));
        let heartbeat =
            "content-type: application/json\r\ncontent-length: 16\r\n\r\n{\"hasNext\":true}\r\n--graphql\r\n";
        for _ in 0..3 {
            assert_eq!(stream.next().await.unwrap(), heartbeat);
        }
        host.released.send_replace(true);
        let mut rest = stream
            .by_ref()
            .skip_while(|chunk| std::future::ready(chunk == heartbeat));
        let last = rest.next().await.unwrap();
        assert!(last.ends_with(b"\"hasNext\":false}\r\n--graphql--\r\n"));
        assert_eq!(stream.next().await, None);
    }
}

/// G24: a variable without a value in the condition of `@defer` has its default, `true`.
#[tokio::test]
async fn condition_without_value_defers() {
    let (engine, host) = (engine(), Arc::<Host>::default());
    let query = "query($on: Boolean) { node { id ... @defer(if: $on) { name } } }";
    for (variables, count) in [
        (json!({}), 2),
        (json!({ "on": true }), 2),
        (json!({ "on": false }), 1),
    ] {
        let found = parts_with(&engine, query, variables.clone(), GRAPHQL_JS, &host).await;
        assert_eq!(found.len(), count, "{variables}: {found:?}");
    }
}

/// G24: guards and errors of resolvers work in deferred fragments.
#[tokio::test]
async fn guards_work_in_fragments() {
    let (engine, host) = (engine(), Arc::<Host>::default());
    let query = "{ node { id ... @defer { secret guarded } } }";
    let found = parts(&engine, query, APOLLO, &host).await;
    let payload: Value = serde_json::from_str(&found[1]).unwrap();
    let entry = &payload["incremental"][0];
    assert_eq!(entry["data"], json!({ "secret": null, "guarded": null }));
    assert_eq!(codes(entry), ["UNAUTHENTICATED", "UNAUTHENTICATED"]);
    assert_eq!(entry["errors"][1]["path"], json!(["node", "guarded"]));
    let owner = |host: &Arc<Host>| {
        let owner = graph_core::Principal::new("ada").with_roles(["owner"]);
        context(host).with_principal(owner)
    };
    let HttpResponse::Stream(response) = engine
        .respond(accepting(post(query, Value::Null), APOLLO), owner(&host))
        .await
    else {
        panic!("not a stream")
    };
    let text = body(response).await;
    assert!(text.contains(r#""data":{"secret":1,"guarded":1}"#), "{text}");
}

/// G24: at the deadline, pending deferred fields fail with `TIMEOUT`; the deadline counts from the
/// start of the operation.
#[tokio::test]
async fn deadline_ends_deferred_fields() {
    let engine = plain()
        .with_incremental_delivery()
        .with_deadline(Duration::from_millis(200), timer_fn(tokio::time::sleep))
        .build()
        .unwrap();
    let host = Arc::<Host>::default();
    let query = "{ node { id ... @defer { name held inner { held ... @defer { held } } } }
        now { many(count: 30) { ... @defer { held id } } } }";
    for accept in [APOLLO, GRAPHQL_JS] {
        let found = parts(&engine, query, accept, &host).await;
        let merged = Reassembled::of(&found);
        assert_eq!(
            merged.data["node"],
            json!({ "id": 1, "name": "name 1", "held": null, "inner": { "held": null } })
        );
        assert_eq!(merged.data["now"]["many"][28], json!({ "held": null, "id": 28 }));
        let codes: Vec<_> = merged
            .errors
            .iter()
            .map(|error| &error["extensions"]["code"])
            .collect();
        assert!(codes.iter().all(|code| **code == "TIMEOUT"), "{codes:?}");
        assert!(found.last().unwrap().ends_with("\"hasNext\":false}"));
    }
}

/// G24: the limit of response bytes counts all parts.
#[tokio::test]
async fn response_limit_counts_all_parts() {
    let engine = plain()
        .with_incremental_delivery()
        .with_limits(Limits::default().with_response_bytes(2_000))
        .build()
        .unwrap();
    let host = Arc::<Host>::default();
    let query = "{ now { a: many(count: 50) { id } ... @defer { b: many(count: 200) { id } }
        ... @defer { c: many(count: 20) { id } } } }";
    let found = parts(&engine, query, GRAPHQL_JS, &host).await;
    let all = found.concat();
    assert!(all.contains("MAX_RESPONSE_SIZE_EXCEEDED"), "{all}");
    assert!(all.len() < 6_000, "{}", all.len());
    assert!(found.last().unwrap().ends_with("\"hasNext\":false}"));
    // the announcements of the fragments count, too
    let fragments = "... @defer { id } ".repeat(40);
    let query = format!("{{ now {{ many(count: 200) {{ {fragments} }} }} }}");
    let found = parts(&engine, &query, GRAPHQL_JS, &host).await;
    let all = found.concat();
    assert!(all.contains("MAX_RESPONSE_SIZE_EXCEEDED"), "{all}");
    assert!(all.len() < 6_000, "{}", all.len());
}

/// G24, G22: the paths and labels of the fragments count towards the limit of response bytes.
#[tokio::test]
async fn paths_and_labels_count_towards_the_limit() {
    let engine = plain()
        .with_incremental_delivery()
        .with_limits(Limits::default().with_response_bytes(20_000))
        .build()
        .unwrap();
    let host = Arc::<Host>::default();
    let long = "a".repeat(3_000);
    for query in [
        format!("{{ now {{ {long}: many(count: 100) {{ ... @defer {{ id }} }} }} }}"),
        format!("{{ now {{ many(count: 100) {{ {long}: inner {{ ... @defer {{ id }} }} }} }} }}"),
        format!("{{ now {{ many(count: 100) {{ ... @defer(label: \"{long}\") {{ id }} }} }} }}"),
        format!("{{ now {{ many(count: 100) {{ ... @defer {{ {long}: risky }} }} }} }}"),
        // objects below the one of the fragment
        format!(
            "{{ now {{ {long}: many(count: 100) {{ id }} ... @defer {{ {long}: many(count: 100) {{ risky }} }} }} }}"
        ),
        // several fragments of few objects
        format!(
            "{{ now {{ {long}: many(count: 2) {{ {} }} }} }}",
            "... @defer { id } ".repeat(30)
        ),
    ] {
        for accept in [APOLLO, GRAPHQL_JS] {
            let all = parts(&engine, &query, accept, &host).await.concat();
            assert!(all.contains("MAX_RESPONSE_SIZE_EXCEEDED"), "{query}");
            assert!(all.len() < 80_000, "{} bytes for {query}", all.len());
        }
    }
}

/// G24, G27: a panic of a deferred resolver nulls its field.
#[tokio::test]
async fn panic_nulls_its_deferred_field() {
    let (engine, host) = (engine(), Arc::<Host>::default());
    let query = "{ node { id ... @defer { explodes } } }";
    let found = parts(&engine, query, GRAPHQL_JS, &host).await;
    assert_eq!(found.len(), 2);
    let last: Value = serde_json::from_str(&found[1]).unwrap();
    assert_eq!(last["hasNext"], false);
    let fragment = &last["incremental"][0];
    assert_eq!(fragment["data"], json!({ "explodes": null }), "{last}");
    assert_eq!(codes(fragment), ["INTERNAL_SERVER_ERROR"]);
    assert!(!found[1].contains("boom"));
}

/// G24: keys of all fragments that run together are loaded in one batch.
#[tokio::test]
async fn fragments_share_batches() {
    let (engine, host) = (engine(), Arc::<Host>::default());
    let query = "{ now { title many(count: 4) { ... @defer { title } } } }";
    let found = parts(&engine, query, GRAPHQL_JS, &host).await;
    assert!(found[1..].concat().contains("title 3"));
    let mut batches = host.batches.lock().unwrap().clone();
    batches.iter_mut().for_each(|batch| batch.sort_unstable());
    assert_eq!(batches, [vec![1], vec![0, 2, 3]]);
}

/// Messages that the rules for `@defer` report, by operation.
fn misplaced() -> Vec<(&'static str, Vec<&'static str>)> {
    let mutation = "Defer directive cannot be used on root mutation type \"Mutation\".";
    let subscription = "Defer directive cannot be used on root subscription type \"Subscription\".";
    let unsupported = "Defer directive not supported on subscription operations. Disable `@defer` by setting the `if` argument to `false`.";
    let unique = "Value for arguments \"defer(label:)\" and \"stream(label:)\" must be unique across all Defer/Stream directive usages.";
    let literal = "Argument \"@defer(label:)\" must be a static string.";
    vec![
        ("mutation { ... @defer { write(id: 1) { id } } }", vec![mutation]),
        (
            "mutation { ... @defer(if: false) { write(id: 1) { id } } }",
            vec![mutation],
        ),
        (
            "mutation { ...F } fragment F on Mutation { ... @defer { write(id: 1) { id } } }",
            vec![mutation],
        ),
        ("mutation { write(id: 1) { ... @defer { id } } }", vec![]),
        (
            "subscription { ... @defer { nodes { id } } }",
            vec![subscription, unsupported],
        ),
        ("subscription { nodes { ... @defer { id } } }", vec![unsupported]),
        (
            "subscription { nodes { ...F } } fragment F on Node { ... @defer { id } }",
            vec![unsupported],
        ),
        ("subscription { nodes { ... @defer(if: false) { id } } }", vec![]),
        (
            "subscription ($d: Boolean!) { nodes { ... @defer(if: $d) { id } } }",
            vec![],
        ),
        (
            "subscription ($d: Boolean!) { nodes { ... @defer @skip(if: $d) { id } } }",
            vec![],
        ),
        (
            "subscription { nodes { ... @defer @include(if: true) { id } } }",
            vec![unsupported],
        ),
        (
            "{ now { ... @defer(label: \"a\") { id } ... @defer(label: \"a\") { name } } }",
            vec![unique],
        ),
        (
            "query ($l: String) { now { ... @defer(label: $l) { id } } }",
            vec![literal],
        ),
        (
            "{ now { id @defer } }",
            vec!["Directive \"@defer\" may not be used on FIELD."],
        ),
        (
            "{ now { ... @defer @defer { id } } }",
            vec!["The directive \"@defer\" can only be used once at this location."],
        ),
        (
            "{ now { ... @defer(if: null) { id } } }",
            vec!["Expected value of type \"Boolean!\", found null."],
        ),
    ]
}

/// G24: rules of graphql-js 17 for `@defer`, in its order and words.
#[tokio::test]
async fn misplaced_defer_is_refused() {
    let (engine, host) = (engine(), Arc::<Host>::default());
    for (query, expected) in misplaced() {
        let answer = whole(&engine, query, &host).await;
        let errors = answer["errors"].as_array().cloned().unwrap_or_default();
        let messages: Vec<_> = errors
            .iter()
            .filter(|error| error["extensions"]["code"] == "GRAPHQL_VALIDATION_FAILED")
            .map(|error| error["message"].as_str().unwrap())
            .collect();
        assert_eq!(messages, expected, "{query}");
    }
}

/// Pseudo-random numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// Random selection on `Node`, or on `Any`; all equal response keys have equal fields.
fn selection(dice: &mut Dice, depth: u64, is_failing: bool, out: &mut String) {
    out.push_str("{ __typename ");
    for _ in 0..=dice.roll(4) {
        match dice.roll(if depth == 0 { 6 } else { 14 }) {
            0 => out.push_str("id "),
            1 | 2 => out.push_str("name "),
            3 => out.push_str("title "),
            4 if is_failing => out.push_str("risky "),
            4 => out.push_str("again: name "),
            5 => out.push_str("n: id "),
            6 => below("inner", dice, depth, is_failing, out),
            7 => below("child", dice, depth, is_failing, out),
            8 => below("children", dice, depth, is_failing, out),
            9 => below("many(count: 6)", dice, depth, is_failing, out),
            10 => {
                out.push_str("any { ... on Node ");
                defer(dice, out);
                selection(dice, depth - 1, is_failing, out);
                out.push_str(" ... on Leaf { ");
                below("node", dice, depth, is_failing, out);
                out.push_str("} } ");
            }
            11 => {
                let _ = write!(out, "...F{} ", depth - 1);
                defer(dice, out);
            }
            _ => {
                out.push_str("... ");
                defer(dice, out);
                selection(dice, depth - 1, is_failing, out);
            }
        }
    }
    out.push_str("} ");
}

fn below(field: &str, dice: &mut Dice, depth: u64, is_failing: bool, out: &mut String) {
    out.push_str(field);
    out.push(' ');
    selection(dice, depth - 1, is_failing, out);
}

fn defer(dice: &mut Dice, out: &mut String) {
    match dice.roll(5) {
        0 => {}
        1 => out.push_str("@defer(if: false) "),
        _ => out.push_str("@defer "),
    }
}

fn operation(seed: u64) -> String {
    let mut dice = Dice(seed);
    let is_failing = dice.roll(3) == 0;
    let mut text = "{ now ".to_owned();
    selection(&mut dice, 3, is_failing, &mut text);
    text.push_str("node(id: 5) ");
    selection(&mut dice, 3, is_failing, &mut text);
    text.push_str("... @defer { node(id: 5) ");
    selection(&mut dice, 2, is_failing, &mut text);
    text.push_str("} ...S } fragment S on Query { now { ...F0 ...F1 ...F2 } } ");
    for depth in 0..3 {
        let _ = write!(text, "fragment F{depth} on Node ");
        selection(&mut dice, depth, is_failing, &mut text);
    }
    text
}

/// Errors by path.
fn sorted(errors: &[Value]) -> Vec<(String, String)> {
    let mut errors: Vec<_> = errors
        .iter()
        .map(|error| (error["path"].to_string(), error["message"].to_string()))
        .collect();
    errors.sort();
    errors
}

/// G24: for generated operations, the merged payloads of both formats are the response without
/// `@defer`, no field is sent twice, and the resolvers run as often.
#[tokio::test]
async fn merged_payloads_equal_plain_response() {
    let (engine, host) = (
        plain()
            .with_incremental_delivery()
            .with_limits(
                Limits::default()
                    .with_depth(40)
                    .with_cost(1_000_000)
                    .with_tokens(20_000)
                    .with_aliases(10_000),
            )
            .build()
            .unwrap(),
        Arc::<Host>::default(),
    );
    let mut streamed = 0;
    for seed in 0..400 {
        let query = operation(seed);
        let expected = whole(&engine, &query, &host).await;
        assert!(expected["data"].is_object(), "{expected}\n{query}");
        let calls = host.calls();
        for accept in [APOLLO, GRAPHQL_JS] {
            let found = parts(&engine, &query, accept, &host).await;
            let merged = Reassembled::of(&found);
            assert!(merged.is_complete, "{query}");
            assert_eq!(merged.data, expected["data"], "{query}\n{found:#?}");
            assert_eq!(
                sorted(&merged.all_errors()),
                sorted(list(&expected, "errors")),
                "{query}"
            );
            assert_eq!(host.calls(), calls, "{query}");
            streamed += usize::from(found.len() > 1);
        }
    }
    assert!(streamed > 500, "{streamed}");
}
