//! The attribute has no `context`, and a field returns an object that has one.
//!
//! Message: types of one graph have the same `context = ..`
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct User;

#[graph_object(context = Context)]
impl User {
    fn name(&self) -> &str {
        "Ada"
    }
}

struct Query;

#[graph_object]
impl Query {
    fn user() -> User {
        User
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
