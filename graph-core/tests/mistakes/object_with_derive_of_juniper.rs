//! A field returns an object with the derive of juniper.
//!
//! Message: the attributes of juniper for objects do not suffice
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[derive(juniper::GraphQLObject)]
struct User {
    name: String,
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn value() -> User {
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
