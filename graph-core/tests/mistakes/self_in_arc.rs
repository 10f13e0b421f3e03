//! A resolver takes `self: Arc<Self>`.
//!
//! Message: a resolver takes `&self`, or no `self` at all
use std::sync::Arc;

use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct User;

#[graph_object]
impl User {
    fn name(self: Arc<Self>) -> String {
        String::new()
    }
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
