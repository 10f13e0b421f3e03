//! Guards of the object types behind an interface.

use std::sync::{Arc, Mutex};

use graph_core::engine::EngineBuilder;
use graph_core::guard::{GuardMode, Refused};
use graph_core::{Engine, GraphRequest, RequestContext, graph_interface, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};
use serde_json::json;

use crate::fixture::codes;

type Context = RequestContext<()>;

#[graph_interface(for = [Circle, Square], context = Context)]
#[expect(dead_code, reason = "the attribute reads the signatures only")]
trait Shape {
    fn area(&self) -> Option<i32>;
}

struct Circle;

#[graph_object(impl = ShapeValue, context = Context)]
impl Circle {
    #[graph(authenticated)]
    fn area() -> Option<i32> {
        Some(3)
    }
}

struct Square;

#[graph_object(impl = ShapeValue, context = Context)]
impl Square {
    #[graph(authenticated)]
    fn area() -> Option<i32> {
        Some(4)
    }
}

/// Interface whose objects return narrower types.
#[graph_interface(for = [Cat, Dog], context = Context)]
#[expect(dead_code, reason = "the attribute reads the signatures only")]
trait Pet {
    fn name(&self) -> Option<String>;
    fn friend(&self) -> Option<PetValue>;
}

struct Cat;

#[graph_object(impl = PetValue, context = Context)]
impl Cat {
    fn name() -> Option<&'static str> {
        Some("cat")
    }

    fn friend() -> Option<Self> {
        Some(Self)
    }
}

struct Dog;

#[graph_object(impl = PetValue, context = Context)]
impl Dog {
    #[graph(authenticated)]
    fn name() -> Option<&'static str> {
        Some("dog")
    }

    fn friend() -> Option<Self> {
        Some(Self)
    }
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn shapes() -> Vec<ShapeValue> {
        vec![Circle.into(), Square.into()]
    }

    fn pets() -> Vec<PetValue> {
        vec![Cat.into(), Dog.into()]
    }
}

fn builder() -> EngineBuilder<Query, EmptyMutation<Context>, EmptySubscription<Context>> {
    Engine::builder(RootNode::new(
        Query,
        EmptyMutation::new(),
        EmptySubscription::new(),
    ))
}

/// G15: in reject mode a field of an interface has one error, also if several of its object types
/// refuse it.
#[tokio::test]
async fn rejected_field_of_an_interface_has_one_error() {
    let engine = builder().with_guards(GuardMode::Reject).build().unwrap();
    let request = GraphRequest::new("{ shapes { area } }");
    let answer = json!(engine.execute(&request, &RequestContext::new(())).await);
    assert_eq!(codes(&answer), ["UNAUTHENTICATED"], "{answer}");
}

/// G15: each object type of an interface keeps the guards of the type that its own field returns.
#[tokio::test]
async fn narrowed_fields_keep_their_guards() {
    let engine = builder().build().unwrap();
    let request = GraphRequest::new("{ pets { friend { name friend { name } } } }");
    let answer = json!(engine.execute(&request, &RequestContext::new(())).await);
    let friend = |name: Option<&str>| json!({ "friend": { "name": name, "friend": { "name": name } } });
    let expected = json!({ "pets": [friend(Some("cat")), friend(None)] });
    assert_eq!(answer["data"], expected);
    assert_eq!(codes(&answer), ["UNAUTHENTICATED"; 2]);
}

/// G15: the log of refusals has the mode of the engine and the operation name of the request.
#[tokio::test]
async fn log_has_mode_and_operation_name() {
    for mode in [GuardMode::Filter, GuardMode::Reject, GuardMode::DryRun] {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&lines);
        let record = move |refused: &Refused<'_>| {
            let name = refused.operation_name.map(str::to_owned);
            log.lock().unwrap().push((refused.mode, name));
        };
        let engine = builder()
            .with_guards(mode)
            .with_guard_log(record)
            .build()
            .unwrap();
        let request = GraphRequest::new("query A { pets { name } } query B { pets { name } }");
        let request = request.with_operation_name("B");
        let _answer = engine.execute(&request, &RequestContext::new(())).await;
        assert_eq!(*lines.lock().unwrap(), [(mode, Some("B".to_owned()))]);
    }
}
