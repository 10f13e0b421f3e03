//! A field returns the trait of an interface.
//!
//! Message: `#[graph_interface(..)]` or `#[graph_union(..)]`
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

trait Named {
    fn name(&self) -> String;
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn value() -> Box<dyn Named> {
        unimplemented!()
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
