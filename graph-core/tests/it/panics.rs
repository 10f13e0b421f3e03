//! Panics of resolvers.

use std::sync::{Arc, Mutex};

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use graph_core::http::GraphRequest;
use graph_core::ports::{Incident, IncidentKind};
use graph_core::{Engine, RequestContext, graph_object, graph_subscription};
use juniper::RootNode;
use serde_json::{Value, json};

use crate::wire::codes;

type Context = RequestContext<()>;

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn sync() -> Option<i32> {
        panic!("sync fell down")
    }

    async fn later() -> Option<i32> {
        tokio::task::yield_now().await;
        panic!("later {}", "fell down")
    }

    fn needed() -> i32 {
        panic!("needed fell down")
    }

    async fn needed_later() -> i32 {
        tokio::task::yield_now().await;
        panic!("needed later fell down")
    }

    fn fine() -> i32 {
        1
    }

    async fn fine_later() -> i32 {
        tokio::task::yield_now().await;
        2
    }

    fn items(count: i32) -> Vec<Item> {
        (0..count).map(Item).collect()
    }

    fn maybe(count: i32) -> Option<Vec<Option<Item>>> {
        Some((0..count).map(|at| Some(Item(at))).collect())
    }
}

struct Item(i32);

#[graph_object(context = Context)]
impl Item {
    fn id(&self) -> i32 {
        self.0
    }

    fn odd(&self) -> Option<i32> {
        assert!(self.0 % 2 == 1, "{} is even", self.0);
        Some(self.0)
    }

    async fn odd_later(&self) -> Option<i32> {
        tokio::task::yield_now().await;
        assert!(self.0 % 2 == 1, "{} is even", self.0);
        Some(self.0)
    }

    async fn must_be_odd(&self) -> i32 {
        tokio::task::yield_now().await;
        assert!(self.0 % 2 == 1, "{} is even", self.0);
        self.0
    }

    fn must_be_odd_now(&self) -> i32 {
        assert!(self.0 % 2 == 1, "{} is even", self.0);
        self.0
    }
}

struct Mutation;

#[graph_object(context = Context)]
impl Mutation {
    fn fall() -> Option<i32> {
        panic!("fall")
    }

    async fn fall_later() -> Option<i32> {
        tokio::task::yield_now().await;
        panic!("fall later")
    }

    fn stand() -> i32 {
        3
    }
}

struct Subscription;

#[graph_subscription(context = Context)]
impl Subscription {
    async fn items() -> BoxStream<'static, Item> {
        stream::iter((0..3).map(Item)).boxed()
    }
}

/// Response, and the details of the incidents.
async fn ask(query: &str) -> (Value, Vec<String>) {
    let incidents = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&incidents);
    let engine = Engine::builder(RootNode::new(Query, Mutation, Subscription))
        .with_incident_log(move |incident: &Incident| {
            assert_eq!(incident.kind, IncidentKind::Panic);
            log.lock().unwrap().push(incident.detail.clone());
        })
        .build()
        .unwrap();
    let answer = engine
        .execute(&GraphRequest::new(query), &RequestContext::new(()))
        .await;
    let incidents = std::mem::take(&mut *incidents.lock().unwrap());
    (json!(answer), incidents)
}

fn paths(answer: &Value) -> Vec<&Value> {
    let errors = answer["errors"].as_array().into_iter().flatten();
    errors.map(|error| &error["path"]).collect()
}

/// G27: a panic nulls its field, with its path, and the fields beside it have their values.
#[tokio::test]
async fn panic_nulls_its_field() {
    let (answer, incidents) = ask("{ fine sync fineLater later again: fine }").await;
    assert_eq!(
        answer["data"],
        json!({ "fine": 1, "sync": null, "fineLater": 2, "later": null, "again": 1 })
    );
    assert_eq!(paths(&answer), [&json!(["sync"]), &json!(["later"])]);
    assert_eq!(codes(&answer), ["INTERNAL_SERVER_ERROR"; 2]);
    assert_eq!(
        answer["errors"][0]["locations"],
        json!([{ "line": 1, "column": 8 }])
    );
    assert!(!answer.to_string().contains("fell down"));
    assert_eq!(incidents, ["sync fell down", "later fell down"]);
}

/// G27: a panic of a field that must not be null propagates to the value around it.
#[tokio::test]
async fn panic_propagates_like_an_error() {
    for (query, data, path) in [
        ("{ fine needed }", Value::Null, json!(["needed"])),
        ("{ fine neededLater }", Value::Null, json!(["neededLater"])),
        (
            "{ maybe(count: 3) { id mustBeOdd } }",
            json!({ "maybe": [null, { "id": 1, "mustBeOdd": 1 }, null] }),
            json!(["maybe", 0, "mustBeOdd"]),
        ),
        (
            "{ maybe(count: 3) { id mustBeOddNow } }",
            json!({ "maybe": [null, { "id": 1, "mustBeOddNow": 1 }, null] }),
            json!(["maybe", 0, "mustBeOddNow"]),
        ),
    ] {
        let (answer, _) = ask(query).await;
        assert_eq!(answer["data"], data, "{query}");
        assert_eq!(answer["errors"][0]["path"], path);
    }
}

/// G27: the entries of a list fail on their own, few and many, synchronous and asynchronous.
#[tokio::test]
async fn entries_of_a_list_panic_alone() {
    for count in [1, 2, 7, 40] {
        for field in ["odd", "oddLater"] {
            let (answer, incidents) = ask(&format!("{{ items(count: {count}) {{ id {field} }} }}")).await;
            let expected: Vec<_> = (0..count)
                .map(|at| json!({ "id": at, (field): if at % 2 == 1 { json!(at) } else { Value::Null } }))
                .collect();
            assert_eq!(answer["data"]["items"], json!(expected), "{field}");
            let even: Vec<_> = (0..count).filter(|at| at % 2 == 0).collect();
            let paths: Vec<_> = paths(&answer).into_iter().cloned().collect();
            let wanted: Vec<_> = even.iter().map(|at| json!(["items", at, field])).collect();
            assert_eq!(paths, wanted);
            assert_eq!(incidents.len(), even.len());
        }
    }
}

/// G27: the fields of a mutation behind a panic still run.
#[tokio::test]
async fn mutation_goes_on_after_a_panic() {
    let (answer, _) = ask("mutation { fall a: stand fallLater b: stand }").await;
    assert_eq!(
        answer["data"],
        json!({ "fall": null, "a": 3, "fallLater": null, "b": 3 })
    );
    assert_eq!(paths(&answer), [&json!(["fall"]), &json!(["fallLater"])]);
}

/// G27: a panic below an event nulls its field, and the stream goes on.
#[tokio::test]
async fn stream_goes_on_after_a_panic() {
    let engine = Engine::builder(RootNode::new(Query, Mutation, Subscription))
        .build()
        .unwrap();
    let request = GraphRequest::new("subscription { items { id odd oddLater } }");
    let events = engine.subscribe(request, RequestContext::new(()));
    let answers: Vec<_> = events.map(|answer| json!(answer)["data"].clone()).collect().await;
    assert_eq!(
        answers,
        [
            json!({ "items": { "id": 0, "odd": null, "oddLater": null } }),
            json!({ "items": { "id": 1, "odd": 1, "oddLater": 1 } }),
            json!({ "items": { "id": 2, "odd": null, "oddLater": null } }),
        ]
    );
}
