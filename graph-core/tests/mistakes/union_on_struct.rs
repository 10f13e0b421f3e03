//! `graph_union` stands on a struct.
//!
//! Message: write the attribute above an enum with an object type in each variant
use graph_core::{Engine, RequestContext, graph_object, graph_union};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[graph_union]
struct Found {
    name: String,
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn value() -> Option<Found> {
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
