//! `GraphObject` stands on an enum.
//!
//! Message: an enum has `#[derive(GraphQLEnum, GraphEnum)]`
use graph_core::{Engine, GraphObject, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[derive(GraphObject)]
enum Status {
    Open,
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn value() -> Option<Status> {
        None
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
