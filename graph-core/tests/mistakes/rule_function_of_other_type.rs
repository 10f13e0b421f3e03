//! A function of `custom` takes another type.
//!
//! Compiler: mismatched types
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

fn is_even(number: &i32) -> Result<(), String> {
    if number % 2 == 0 {
        Ok(())
    } else {
        Err("must be even".to_owned())
    }
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn find(#[graph(validate(custom = is_even))] word: String) -> bool {
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
