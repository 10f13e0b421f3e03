//! A derive has no `context`, and a field is an object that has one.
//!
//! Message: types of one graph have the same `context = ..`
use graph_core::{Engine, GraphObject, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[derive(GraphObject)]
#[graphql(context = Context)]
struct User {
    name: String,
}

#[derive(GraphObject)]
struct Account {
    owner: User,
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
