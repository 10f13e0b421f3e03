//! The context is a type that is no part of the context of the schema.
//!
//! Message: or implement `juniper::FromContext<
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct Database(String);

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn name(context: &Database) -> String {
        context.0.clone()
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
