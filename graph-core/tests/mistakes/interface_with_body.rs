//! A field of an interface has a body.
//!
//! Message: a field of an interface has no body: each object has a resolver
use graph_core::{Engine, GraphObject, RequestContext, graph_interface, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[derive(GraphObject)]
#[graphql(impl = NamedValue)]
struct User {
    name: String,
}

#[graph_interface(for = User)]
trait Named {
    fn name(&self) -> String {
        String::new()
    }
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
