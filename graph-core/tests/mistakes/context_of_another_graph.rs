//! A field returns an object of a graph with another context.
//!
//! Message: types of one graph have the same `context = ..`
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct Database;

impl juniper::Context for Database {}

struct User;

#[graph_object(context = Database)]
impl User {
    fn name(&self) -> &str {
        "Ada"
    }
}

struct Query;

#[graph_object(context = Context)]
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
