//! An argument is an output object.
//!
//! Message: an input object with `#[derive(Clone, GraphQLInputObject, GraphInput)]`
use graph_core::{Engine, GraphObject, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[derive(Clone, GraphObject)]
struct User {
    name: String,
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn value(wanted: User) -> bool {
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
