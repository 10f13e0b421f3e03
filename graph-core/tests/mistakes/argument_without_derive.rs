//! An argument is a struct without a derive.
//!
//! Message: an input object with `#[derive(Clone, GraphQLInputObject, GraphInput)]`
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[derive(Clone)]
struct Filter {
    word: String,
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn value(wanted: Filter) -> bool {
        drop(wanted);
        true
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
