//! Guards of the object types behind an interface.

use graph_core::engine::EngineBuilder;
use graph_core::guard::GuardMode;
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

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn shapes() -> Vec<ShapeValue> {
        vec![Circle.into(), Square.into()]
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
