//! A resolver of a subscription is not asynchronous.
//!
//! Message: write `async fn`
use graph_core::{Engine, RequestContext, graph_object, graph_subscription};
use juniper::{EmptyMutation, RootNode};

type Context = RequestContext<()>;

struct Subscription;

#[graph_subscription(context = Context)]
impl Subscription {
    fn ticks() -> futures_util::stream::Empty<i32> {
        futures_util::stream::empty()
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
