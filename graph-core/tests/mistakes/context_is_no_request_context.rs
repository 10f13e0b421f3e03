//! The context of the schema is no `RequestContext`.
//!
//! Message: write `context = RequestContext<..>` in the attribute of each root type
//! Errors: 5
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct Database;

impl juniper::Context for Database {}

struct Query;

#[graph_object(context = Database)]
impl Query {
    fn id() -> i32 {
        1
    }
}

fn main() {
    let schema = RootNode::new(
        Query,
        EmptyMutation::<Database>::new(),
        EmptySubscription::<Database>::new(),
    );
    let _ = Engine::builder(schema);
}
