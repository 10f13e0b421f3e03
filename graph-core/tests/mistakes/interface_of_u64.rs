//! A field of an interface is `u64`.
//!
//! Message: `Int` is `i32`: write `i32`, or for larger numbers `f64`, `String`
use graph_core::{Engine, GraphObject, RequestContext, graph_interface, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[graph_interface(for = User)]
trait Counted {
    fn count(&self) -> u64;
}

#[derive(GraphObject)]
#[graphql(impl = CountedValue)]
struct User {
    name: String,
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn value() -> Option<CountedValue> {
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
