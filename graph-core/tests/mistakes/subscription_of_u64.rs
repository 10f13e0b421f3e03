//! The items of a subscription are `u64`.
//!
//! Message: numbers are `i32` and `f64`
use futures_util::stream::BoxStream;
use graph_core::{Engine, RequestContext, graph_object, graph_subscription};
use juniper::{EmptyMutation, RootNode};

type Context = RequestContext<()>;

struct Subscription;

#[graph_subscription(context = Context)]
impl Subscription {
    async fn ticks() -> BoxStream<'static, u64> {
        unimplemented!()
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
