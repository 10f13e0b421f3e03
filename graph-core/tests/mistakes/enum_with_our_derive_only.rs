//! An enum has `GraphEnum` without the derive of juniper.
//!
//! Message: `#[derive(GraphQLEnum, GraphEnum)]` for an enum
use graph_core::{Engine, GraphEnum, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[derive(GraphEnum)]
enum Status {
    Open,
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn value() -> Status {
        unimplemented!()
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
