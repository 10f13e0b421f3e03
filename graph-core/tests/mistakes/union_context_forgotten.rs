//! A union has no `context`, and its member has one.
//!
//! Message: types of one graph have the same `context = ..`
use graph_core::{Engine, GraphObject, RequestContext, graph_object, graph_union};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[derive(GraphObject)]
#[graphql(context = Context)]
struct User {
    name: String,
}

#[graph_union]
enum Found {
    User(User),
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
