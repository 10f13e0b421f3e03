//! `GraphObject` stands on a struct without fields.
//!
//! Message: a struct without fields has methods: write `#[graph_object]` above its `impl` block
use graph_core::{Engine, GraphObject, RequestContext};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[derive(GraphObject)]
#[graphql(context = Context)]
struct Query;

fn main() {
    let schema = RootNode::new(
        Query,
        EmptyMutation::<Context>::new(),
        EmptySubscription::<Context>::new(),
    );
    let _ = Engine::builder(schema);
}
