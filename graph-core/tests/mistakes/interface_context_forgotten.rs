//! An interface has no `context`, and its object has one.
//!
//! Message: types of one graph have the same `context = ..`
use graph_core::{Engine, GraphObject, RequestContext, graph_interface, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[graph_interface(for = User)]
trait Named {
    fn name(&self) -> String;
}

#[derive(GraphObject)]
#[graphql(impl = NamedValue, context = Context)]
struct User {
    name: String,
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn value() -> Option<NamedValue> {
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
