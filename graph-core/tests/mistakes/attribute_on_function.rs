//! `graph_object` stands on a function.
//!
//! Message: write the attribute above an `impl` block, whose methods are the fields
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[graph_object]
fn user() -> i32 {
    1
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn value() -> Option<bool> {
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
