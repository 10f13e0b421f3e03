//! A field returns an object with the attribute of juniper.
//!
//! Message: the attributes of juniper for objects do not suffice
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct User;

#[juniper::graphql_object(context = Context)]
impl User {
    fn name(&self) -> &str {
        "Ada"
    }
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn user() -> Option<User> {
        Some(User)
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
