//! Two arguments have one name.
//!
//! Message: rename one with `#[graphql(name = "..")]`
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn sum(first_number: i32, #[graphql(name = "firstNumber")] other: i32) -> i32 {
        first_number + other
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
