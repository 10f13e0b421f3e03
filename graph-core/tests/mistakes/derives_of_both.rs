//! A struct has `GraphObject` and the derive of juniper.
//!
//! Compiler: conflicting implementations of trait `GraphQLValue` for type `User`
use graph_core::{Engine, GraphObject, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[derive(GraphObject, juniper::GraphQLObject)]
struct User {
    name: String,
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn value() -> Option<User> {
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
