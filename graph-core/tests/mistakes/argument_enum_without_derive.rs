//! An argument is an enum without a derive.
//!
//! Message: an enum with `#[derive(GraphQLEnum)]`
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[derive(Clone)]
enum Status {
    Open,
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn value(wanted: Status) -> bool {
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
