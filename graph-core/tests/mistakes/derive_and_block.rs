//! A struct has `GraphObject` and a block with `graph_object`.
//!
//! Compiler: conflicting implementations of trait `graph_core::executor::Object<_>` for type `User`
//! Errors: 5
use graph_core::{Engine, GraphObject, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[derive(GraphObject)]
struct User {
    name: String,
}

#[graph_object]
impl User {
    fn length(&self) -> bool {
        self.name.is_empty()
    }
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn value() -> Option<User> {
        None
    }
}

fn main() {
    let schema = RootNode::new(
        Query,
        EmptyMutation::<Context>::new(),
        EmptySubscription::<Context>::new(),
    );
    let _ = Engine::builder(schema);
}
