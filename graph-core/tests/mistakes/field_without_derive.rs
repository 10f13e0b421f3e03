//! A field of a derived struct is a struct without a derive.
//!
//! Message: write `#[graph_object(context = ..)]` above the `impl` block of an object
use graph_core::{Engine, GraphObject, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct Address {
    street: String,
}

#[derive(GraphObject)]
struct User {
    address: Address,
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn value() -> Option<Address> {
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
