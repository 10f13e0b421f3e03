//! The error of a resolver is an enum of the host.
//!
//! Message: return `Result<_, GraphError>`: `?` converts the errors of other crates to it
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[derive(Debug)]
enum Failure {
    Closed,
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    async fn value() -> Result<String, Failure> {
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
