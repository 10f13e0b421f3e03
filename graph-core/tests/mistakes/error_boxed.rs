//! The error of a resolver is `Box<dyn Error>`.
//!
//! Message: return `Result<_, GraphError>`: `?` converts the errors of other crates to it
use std::error::Error;

use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct Query;

#[graph_object(context = Context)]
impl Query {
    async fn value() -> Result<String, Box<dyn Error + Send + Sync>> {
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
