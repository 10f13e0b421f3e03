//! `max_items` stands on a string.
//!
//! Message: `min_items` and `max_items` apply to lists
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn find(#[graph(validate(max_items = 9))] word: String) -> bool {
        word.is_empty()
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
