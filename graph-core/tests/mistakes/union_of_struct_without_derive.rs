//! A member of a union is a struct without a derive.
//!
//! Message: write `#[graph_object(context = ..)]` above the `impl` block of an object
use graph_core::{Engine, RequestContext, graph_object, graph_union};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct User {
    name: String,
}

#[graph_union]
enum Found {
    User(User),
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn value() -> Option<Found> {
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
