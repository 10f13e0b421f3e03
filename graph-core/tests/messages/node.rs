//! Interfaces `Node` whose objects cannot be loaded.
use graph_core::{GraphError, GraphObject, RequestContext, graph_interface};
use juniper::ID;

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

#[derive(GraphObject)]
#[graphql(impl = OtherValue)]
struct Charge {
    id: ID,
}

impl graph_core::node::Refetchable for Charge {
    type Context = Context;
    type Key = String;

    async fn by_key(_: &Context, _: String) -> Result<Option<Self>, GraphError> {
        Ok(None)
    }
}

#[graph_interface(node, for = Charge)]
trait Other {
    fn id(&self) -> ID;
}

fn main() {}
