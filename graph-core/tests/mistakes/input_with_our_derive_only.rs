//! An input object has `GraphInput` without the derive of juniper.
//!
//! Message: an input object with `#[derive(Clone, GraphQLInputObject, GraphInput)]`
use graph_core::{Engine, GraphInput, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[derive(Clone, GraphInput)]
struct Filter {
    number: i32,
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn find(filter: Filter) -> bool {
        filter.number == 0
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
