//! `min` stands on a string.
//!
//! Message: `min` and `max` apply to numbers: write `min_length` or `max_length`
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn find(#[graph(validate(min = 1))] word: String) -> bool {
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
