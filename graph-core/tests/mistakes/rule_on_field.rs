//! A rule stands on a field.
//!
//! Message: write `#[graph(validate(..))]` in front of its arguments
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct Query;

#[graph_object(context = Context)]
impl Query {
    #[graph(validate(min = 1))]
    fn find(id: i32) -> bool {
        id == 0
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
