//! An input object with `GraphInput` has a field whose object has none.
//!
//! Message: derive `graph_core::GraphInput` for this input object
use graph_core::{Engine, GraphInput, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[derive(Clone, juniper::GraphQLInputObject)]
struct Range {
    from: i32,
}

#[derive(Clone, juniper::GraphQLInputObject, GraphInput)]
struct Filter {
    range: Range,
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn value(wanted: Option<Range>) -> bool {
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
