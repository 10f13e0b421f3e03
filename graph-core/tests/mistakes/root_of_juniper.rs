//! The query root has the attribute of juniper.
//!
//! Message: write `#[graph_core::graph_object(context = ..)]` above its `impl` block
use graph_core::{Engine, RequestContext};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct Query;

#[juniper::graphql_object(context = Context)]
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
