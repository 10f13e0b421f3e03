//! A field returns a box of the trait of an interface.
//!
//! Message: `#[graph_interface(..)]` or `#[graph_union(..)]`
use graph_core::{Engine, GraphObject, RequestContext, graph_interface, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[graph_interface(for = User)]
trait Named {
    fn name(&self) -> String;
}

#[derive(GraphObject)]
#[graphql(impl = NamedValue)]
struct User {
    name: String,
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn named() -> Box<dyn Named> {
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
