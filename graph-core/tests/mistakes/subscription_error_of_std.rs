//! The error of a subscription is of the standard library.
//!
//! Message: return `Result<_, GraphError>`: `?` converts the errors of other crates to it
use futures_util::stream::BoxStream;
use graph_core::{Engine, RequestContext, graph_object, graph_subscription};
use juniper::{EmptyMutation, RootNode};

type Context = RequestContext<()>;

struct Subscription;

#[graph_subscription(context = Context)]
impl Subscription {
    async fn ticks() -> Result<BoxStream<'static, i32>, std::io::Error> {
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
