//! A resolver of a subscription returns a `Result` of no stream.
//!
//! Message: write `Pin<Box<dyn Stream<Item = ..> + Send>>`
use graph_core::{Engine, GraphError, RequestContext, graph_object, graph_subscription};
use juniper::{EmptyMutation, RootNode};

type Context = RequestContext<()>;

struct Subscription;

#[graph_subscription(context = Context)]
impl Subscription {
    async fn ticks() -> Result<i32, GraphError> {
        Ok(1)
    }
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn id() -> i32 {
        1
    }
}

fn main() {
    let schema = RootNode::new(Query, EmptyMutation::<Context>::new(), Subscription);
    let _ = Engine::builder(schema);
}
