//! An interface names no objects.
//!
//! Message: name the objects of the interface: `for = [Human, Droid]`
use graph_core::{Engine, RequestContext, graph_interface, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[graph_interface]
trait Named {
    fn name(&self) -> String;
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
