//! A value of an enum has fields.
//!
//! Message: for an enum of object types use `#[graph_union]`
use graph_core::{Engine, GraphEnum, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[derive(GraphEnum)]
enum Status {
    Closed(i32),
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn value() -> Option<Status> {
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
