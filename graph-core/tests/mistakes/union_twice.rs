//! Two variants of a union have one type.
//!
//! Message: a member of a union has one variant
use graph_core::{Engine, GraphObject, RequestContext, graph_object, graph_union};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[derive(GraphObject)]
struct User {
    name: String,
}

#[graph_union]
enum Found {
    Author(User),
    Reader(User),
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
