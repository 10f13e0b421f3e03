//! An object of `node` cannot be loaded by its key.
//!
//! Message: implement `graph_core::node::Refetchable` for it
use graph_core::{Engine, GraphObject, RequestContext, graph_interface, graph_object};
use juniper::ID;
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[derive(GraphObject)]
#[graphql(impl = NodeValue, context = Context)]
struct User {
    id: ID,
}

#[graph_interface(node, for = User, context = Context)]
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
