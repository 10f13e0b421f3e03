//! The name of a field begins with two underscores.
//!
//! Message: names cannot begin with `__`
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct User;

#[graph_object]
impl User {
    fn __id(&self) -> i32 {
        1
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
