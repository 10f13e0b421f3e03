//! An asynchronous field returns a list of structs without a derive.
//!
//! Message: write `#[graph_object(context = ..)]` above the `impl` block of an object
use graph_core::{Engine, GraphError, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct User {
    name: String,
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    async fn value() -> Result<Vec<User>, GraphError> {
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
