//! An interface names a struct without a derive.
//!
//! Message: write `#[graph_object(context = ..)]` above the `impl` block of an object
use graph_core::{Engine, RequestContext, graph_interface, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[graph_interface(for = User)]
trait Named {
    fn name(&self) -> String;
}

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
