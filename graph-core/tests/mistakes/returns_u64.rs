//! A field returns `u64`.
//!
//! Message: `Int` is `i32`: write `i32`, or for larger numbers `f64`, `String`
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn value() -> u64 {
        unimplemented!()
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
