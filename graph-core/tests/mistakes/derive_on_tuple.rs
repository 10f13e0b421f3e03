//! `GraphObject` stands on a tuple struct.
//!
//! Message: name the fields of the struct: `struct Money { amount: i32 }`
use graph_core::{Engine, GraphObject, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[derive(GraphObject)]
struct Money(i32);

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn value() -> Option<Money> {
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
