//! `graph_interface` stands on an enum.
//!
//! Message: a union has `#[graph_union]`
use graph_core::{Engine, GraphObject, RequestContext, graph_interface, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[graph_interface(for = User)]
enum Named {
    User(User),
}

#[derive(GraphObject)]
struct User {
    name: String,
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn value() -> Option<Named> {
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
