//! `graph_object` stands on the implementation of a trait.
//!
//! Message: methods of a trait cannot be fields: write an `impl` block of the type itself
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

trait Named {
    fn name(&self) -> String;
}

struct User;

#[graph_object]
impl Named for User {
    fn name(&self) -> String {
        String::new()
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
