//! The query root has no attribute.
//!
//! Compiler: the trait bound `Query: GraphQLType` is not satisfied
//! Errors: 7
use graph_core::{Engine, RequestContext};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct Query;

impl Query {
    fn id() -> i32 {
        1
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
