//! A subscription root has `graph_object`.
//!
//! Message: write `#[graph_core::graph_subscription(context = ..)]` above its `impl` block
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, RootNode};

type Context = RequestContext<()>;

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn id() -> i32 {
        1
    }
}

struct Subscription;

#[graph_object(context = Context)]
impl Subscription {
    fn id() -> i32 {
        1
    }
}

fn main() {
    let schema = RootNode::new(Query, EmptyMutation::<Context>::new(), Subscription);
    let _ = Engine::builder(schema);
}
