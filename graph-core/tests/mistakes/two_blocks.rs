//! The fields of a type are in two blocks.
//!
//! Compiler: conflicting implementations of trait
//! Errors: 5
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn first() -> i32 {
        1
    }
}

#[graph_object(context = Context)]
impl Query {
    fn second() -> i32 {
        2
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
