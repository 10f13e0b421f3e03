//! Two fields have one name.
//!
//! Message: rename one with `#[graphql(name = "..")]`
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct User;

#[graph_object]
impl User {
    fn first_name(&self) -> i32 {
        1
    }

    #[graphql(name = "firstName")]
    fn name(&self) -> i32 {
        2
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
