//! A field of an input object is `u64`.
//!
//! Compiler: the trait bound `u64: IsInputType<__S>` is not satisfied
//! Errors: 10
use graph_core::{Engine, GraphInput, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[derive(Clone, juniper::GraphQLInputObject, GraphInput)]
struct Filter {
    number: u64,
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn value(wanted: Option<Filter>) -> bool {
        wanted.is_none()
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
