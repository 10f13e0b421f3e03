//! A field returns an enum without a derive.
//!
//! Message: `#[derive(GraphQLEnum, GraphEnum)]` for an enum
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

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
