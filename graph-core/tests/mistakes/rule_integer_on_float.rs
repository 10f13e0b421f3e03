//! The bound of a `Float` is an integer.
//!
//! Message: for example `1` for `i32` and `1.0` for `f64`
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn find(#[graph(validate(max = 1))] rate: f64) -> bool {
        rate > 0.5
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
