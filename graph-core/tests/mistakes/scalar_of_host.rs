//! The attribute names a scalar value.
//!
//! Message: remove `scalar`
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct Query;

#[graph_object(context = Context, scalar = MyScalar)]
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
