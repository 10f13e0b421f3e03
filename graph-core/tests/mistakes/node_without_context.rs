//! An interface with `node` has no context.
//!
//! Message: add `context = ..`
use graph_core::{Engine, GraphObject, RequestContext, graph_interface, graph_object};
use juniper::ID;
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[derive(GraphObject)]
#[graphql(impl = NodeValue)]
struct User {
    id: ID,
}

#[graph_interface(node, for = User)]
trait Node {
    fn id(&self) -> ID;
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn value() -> Option<NodeValue> {
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
