//! Relay's `Node`: global ids, `node(id:)` and `nodes(ids:)`.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use graph_core::loader::Batch;
use graph_core::node::{GlobalId, InvalidGlobalId, Nodes as _, Refetchable};
use graph_core::{
    Engine, GraphError, GraphRequest, Limits, Principal, RequestContext, graph_interface, graph_object,
};
use juniper::{EmptyMutation, EmptySubscription, GraphQLInputObject, ID, RootNode, Variables};
use serde_json::{Value, json};

use crate::fixture::codes;

/// Batches of the loader.
type Log = Arc<Mutex<Vec<Vec<i32>>>>;
type Context = RequestContext<Log>;

/// Object with a global id.
#[graph_interface(node = [User, Secret, Note], for = [User, Secret, Note, NamedValue], context = Context)]
trait Node {
    fn id(&self) -> ID;
}

#[graph_interface(for = User, impl = NodeValue, context = Context)]
trait Named {
    fn id(&self) -> ID;
    fn name(&self) -> String;
}

#[derive(Clone, Debug)]
struct User(i32);

struct Users(Log);

impl Batch for Users {
    type Key = i32;
    type Value = User;

    async fn load(&self, keys: Vec<i32>) -> Result<HashMap<i32, User>, GraphError> {
        self.0.lock().unwrap().push(keys.clone());
        let known = keys.into_iter().filter(|key| (1..100).contains(key));
        Ok(known.map(|key| (key, User(key))).collect())
    }
}

impl Refetchable for User {
    type Context = Context;
    type Key = i32;

    async fn by_key(context: &Context, key: i32) -> Result<Option<Self>, GraphError> {
        context.load::<Users>(key).await
    }
}

#[graph_object(impl = [NodeValue, NamedValue], context = Context)]
impl User {
    fn id(&self) -> GlobalId<Self> {
        GlobalId::new(self.0)
    }

    fn name(&self) -> String {
        format!("user {}", self.0)
    }
}

#[derive(Clone)]
struct Secret;

impl Refetchable for Secret {
    type Context = Context;
    type Key = i32;

    async fn by_key(_: &Context, key: i32) -> Result<Option<Self>, GraphError> {
        match key {
            13 => Err(GraphError::conflict("the store of secrets is locked")),
            key => Ok((key == 1).then_some(Self)),
        }
    }
}

#[graph_object(impl = NodeValue, context = Context)]
#[graph(role = "owner")]
impl Secret {
    fn id(&self) -> GlobalId<Self> {
        GlobalId::new(1)
    }

    #[graph(scope = "read:words")]
    fn word(&self) -> Option<&str> {
        Some("swordfish")
    }
}

/// Object whose GraphQL name differs from the name in Rust, with a key of text.
#[derive(Clone)]
struct Note(String);

impl Refetchable for Note {
    type Context = Context;
    type Key = String;

    async fn by_key(_: &Context, key: String) -> Result<Option<Self>, GraphError> {
        Ok(Some(Self(key)))
    }
}

#[graph_object(name = "Memo", impl = NodeValue, context = Context)]
impl Note {
    fn id(&self) -> GlobalId<Self> {
        GlobalId::new(self.0.clone())
    }
}

#[derive(Clone, GraphQLInputObject)]
struct Filter {
    users: Vec<GlobalId<User>>,
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    async fn node(context: &Context, id: ID) -> Result<Option<NodeValue>, GraphError> {
        NodeValue::find(context, &id).await
    }

    async fn nodes(context: &Context, ids: Vec<ID>) -> Result<Vec<Option<NodeValue>>, GraphError> {
        NodeValue::find_all(context, &ids).await
    }

    fn number(user: GlobalId<User>) -> Option<i32> {
        Some(user.into_key())
    }

    fn numbers(filter: Filter) -> Option<Vec<i32>> {
        Some(filter.users.into_iter().map(GlobalId::into_key).collect())
    }

    fn named() -> NamedValue {
        User(7).into()
    }
}

type Graph = Engine<Query, EmptyMutation<Context>, EmptySubscription<Context>>;

fn engine_with(limits: Limits) -> Graph {
    let schema = RootNode::new(Query, EmptyMutation::new(), EmptySubscription::new());
    Engine::builder(schema).with_limits(limits).build().unwrap()
}

fn context(log: &Log) -> Context {
    RequestContext::new(Arc::clone(log)).with_loader(Users(Arc::clone(log)))
}

async fn ask(query: &str) -> Value {
    let context = context(&Log::default());
    json!(
        engine_with(Limits::default())
            .execute(&GraphRequest::new(query), &context)
            .await
    )
}

fn variables(values: Value) -> Variables {
    serde_json::from_value(values).unwrap()
}

fn id(plain: &str) -> String {
    STANDARD.encode(plain)
}

/// G26: an object is found again by the id that it has; an unknown key is null.
#[tokio::test]
async fn node_finds_objects_by_their_ids() {
    let named = ask("{ named { id } }").await;
    let user = named["data"]["named"]["id"].as_str().unwrap();
    assert_eq!(user, id("User:7"));
    let answer = ask(&format!(
        r#"{{
            user: node(id: "{user}") {{ __typename id ... on Named {{ name }} }}
            memo: node(id: "{}") {{ __typename id }}
            unknown: node(id: "{}") {{ id }}
        }}"#,
        id("Memo:a:b é"),
        id("User:100")
    ))
    .await;
    let expected = json!({ "data": {
        "user": { "__typename": "User", "id": user, "name": "user 7" },
        "memo": { "__typename": "Memo", "id": id("Memo:a:b é") },
        "unknown": null,
    } });
    assert_eq!(answer, expected);
}

/// G26: `nodes` keeps the order of the ids, with nulls, and loads them in one batch.
#[tokio::test]
async fn nodes_keep_their_order_and_share_a_batch() {
    let log = Log::default();
    let ids = ["User:3", "User:100", "Memo:x", "User:1", "User:3"].map(id);
    let request = GraphRequest::new("query($ids: [ID!]!) { nodes(ids: $ids) { id } }")
        .with_variables(variables(json!({ "ids": ids })));
    let answer = json!(
        engine_with(Limits::default())
            .execute(&request, &context(&log))
            .await
    );
    let found = |at: usize| json!({ "id": ids[at] });
    assert_eq!(
        answer,
        json!({ "data": { "nodes": [found(0), null, found(2), found(3), found(4)] } })
    );
    assert_eq!(*log.lock().unwrap(), [[3, 100, 1]]);
}

/// G26: an id that is malformed or of a foreign type is BAD_USER_INPUT.
#[tokio::test]
async fn refuses_malformed_and_foreign_ids() {
    let long = "é".repeat(500);
    let malformed = [
        String::new(),
        "1".to_owned(),
        "User:1".to_owned(),
        id("User"),
        id(":1"),
        id("User:"),
        id("User:one"),
        id("user:1"),
        // the name of the type in Rust
        id("Note:1"),
        id("Node:1"),
        id("Named:1"),
        id("Query:1"),
        STANDARD.encode([0xff, b':', b'1']),
        STANDARD.encode(b"Memo:\xff"),
        long,
    ];
    for id in malformed {
        let answer = ask(&format!(r#"{{ node(id: "{id}") {{ id }} }}"#)).await;
        assert_eq!(codes(&answer), ["BAD_USER_INPUT"], "{id}: {answer}");
        assert_eq!(answer["data"], json!({ "node": null }), "{id}");
        assert!(answer["errors"][0]["message"].as_str().unwrap().len() < 200);
    }
    let [first, second] = ["User:1", "Other:1"].map(id);
    let answer = ask(&format!(r#"{{ nodes(ids: ["{first}", "{second}"]) {{ id }} }}"#)).await;
    assert_eq!(codes(&answer), ["BAD_USER_INPUT"]);
    let answer = ask(&format!(r#"{{ node(id: "{}") {{ id }} }}"#, id("Secret:13"))).await;
    assert_eq!(codes(&answer), ["CONFLICT"]);
}

/// G26: a typed argument takes the ids of its type only, also within an input object.
#[tokio::test]
async fn typed_arguments_refuse_ids_of_other_types() {
    let query = "query($id: ID!, $ids: [ID!]!) { number(user: $id) numbers(filter: { users: $ids }) }";
    let ask = async |plain: &str| {
        let id = id(plain);
        let request = GraphRequest::new(query).with_variables(variables(json!({ "id": id, "ids": [id] })));
        json!(
            engine_with(Limits::default())
                .execute(&request, &context(&Log::default()))
                .await
        )
    };
    assert_eq!(
        ask("User:5").await,
        json!({ "data": { "number": 5, "numbers": [5] } })
    );
    for refused in ["Memo:5", "User:five", "User"] {
        let answer = ask(refused).await;
        assert_eq!(codes(&answer)[0], "BAD_USER_INPUT", "{answer}");
        let message = answer["errors"][0]["message"].as_str().unwrap();
        assert!(
            message.contains("expected the global id of a `User`"),
            "{message}"
        );
    }
}

/// G26: the guards of a type and of its fields apply behind `node` and `nodes`.
#[tokio::test]
async fn guards_apply_behind_node() {
    let engine = engine_with(Limits::default());
    let (secret, user) = (id("Secret:1"), id("User:1"));
    let query = format!(
        r#"{{ node(id: "{secret}") {{ id }} nodes(ids: ["{user}", "{secret}"]) {{ id ... on Secret {{ word }} }} }}"#
    );
    let request = GraphRequest::new(query);
    let log = Log::default();
    let answer = json!(engine.execute(&request, &context(&log)).await);
    assert_eq!(codes(&answer), ["UNAUTHENTICATED", "UNAUTHENTICATED"]);
    assert_eq!(
        answer["data"],
        json!({ "node": null, "nodes": [{ "id": user }, null] })
    );
    assert_eq!(answer["errors"][1]["path"], json!(["nodes", 1]));
    let owner = context(&log).with_principal(Principal::new("ada").with_roles(["owner"]));
    let answer = json!(engine.execute(&request, &owner).await);
    assert_eq!(codes(&answer), ["FORBIDDEN"]);
    assert_eq!(answer["errors"][0]["path"], json!(["nodes", 1, "word"]));
    assert_eq!(answer["data"]["node"], json!({ "id": secret }));
}

/// G26: `nodes` costs one node for each id.
#[tokio::test]
async fn nodes_cost_the_number_of_ids() {
    let ids = |count: i32| {
        (1..=count)
            .map(|key| id(&format!("User:{key}")))
            .collect::<Vec<_>>()
    };
    let engine = engine_with(Limits::default().with_cost(20));
    for (count, expected) in [(20, None), (21, Some("MAX_COST_EXCEEDED"))] {
        let literal = format!("{{ nodes(ids: {:?}) {{ id }} }}", ids(count));
        let variable = GraphRequest::new("query($ids: [ID!]!) { nodes(ids: $ids) { id } }")
            .with_variables(variables(json!({ "ids": ids(count) })));
        for request in [GraphRequest::new(literal), variable] {
            let answer = json!(engine.execute(&request, &context(&Log::default())).await);
            assert_eq!(
                answer["errors"][0]["extensions"]["code"].as_str(),
                expected,
                "{answer}"
            );
        }
    }
}

/// G26: ids are those of graphql-relay; other forms of base64 are accepted.
#[test]
fn ids_are_those_of_graphql_relay() {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/vectors/global_ids.jsonl");
    let text = fs::read_to_string(vectors).unwrap();
    assert!(text.lines().count() >= 20);
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let (key, theirs) = (case["key"].as_str().unwrap(), case["id"].as_str().unwrap());
        let ours = GlobalId::<Note>::new(key.to_owned());
        assert_eq!(ours.to_string(), theirs, "{key}");
        assert_eq!(theirs.parse(), Ok(ours.clone()), "{key}");
        let plain = STANDARD.decode(theirs).unwrap();
        assert_eq!(URL_SAFE_NO_PAD.encode(plain).parse(), Ok(ours), "{key}");
    }
    assert_eq!(id("User:1").parse::<GlobalId<Note>>(), Err(InvalidGlobalId));
}

/// G26: the schema has the interface as Relay's compiler expects it.
#[test]
fn schema_has_the_interface_of_relay() {
    let sdl = engine_with(Limits::default()).sdl();
    for declared in [
        "interface Node {\n  id: ID!\n}",
        "node(id: ID!): Node",
        "nodes(ids: [ID!]!): [Node]!",
        "type Memo implements Node {\n  id: ID!\n}",
        "number(user: ID!): Int",
    ] {
        assert!(sdl.contains(declared), "{declared} in {sdl}");
    }
}

#[test]
#[ignore = "tests/oracle/run compiles fragments against the schema"]
#[expect(clippy::disallowed_methods, reason = "a file for another program")]
fn the_schema_is_written_for_the_compiler_of_relay() {
    let sdl = engine_with(Limits::default()).sdl();
    fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("node.graphql"), sdl).unwrap();
}

/// G26: the operations that Relay's compiler generates for `@refetchable` fragments are answered.
#[tokio::test]
#[ignore = "tests/oracle/run compiles the operations"]
async fn operations_of_the_compiler_of_relay_are_answered() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("relay-operations.json");
    let operations: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let operations = operations.as_object().unwrap();
    assert_eq!(operations.len(), 3);
    for text in operations.values() {
        let user = id("User:1");
        let request = GraphRequest::new(text.as_str().unwrap())
            .with_variables(variables(json!({ "id": user, "ids": [user] })));
        let answer = json!(
            engine_with(Limits::default())
                .execute(&request, &context(&Log::default()))
                .await
        );
        assert!(answer.get("errors").is_none(), "{text}: {answer}");
        let expected = json!({ "__typename": "User", "id": user, "name": "user 1" });
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(answer["data"]["node"][key], *value, "{text}");
        }
    }
}
