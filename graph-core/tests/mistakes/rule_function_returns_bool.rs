//! A function of `custom` returns `bool`.
//!
//! Message: write `fn(&T) -> Result<(), String>`, with the message for the client
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

fn is_even(number: &i32) -> bool {
    number % 2 == 0
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn find(#[graph(validate(custom = is_even))] id: i32) -> bool {
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
