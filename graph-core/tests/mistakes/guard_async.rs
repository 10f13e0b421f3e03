//! A guard function is asynchronous.
//!
//! Message: write a guard function as `fn(&self, &Context) -> bool`
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct Query;

#[graph_object(context = Context)]
impl Query {
    #[graph(guard = Self::is_own)]
    fn email(&self) -> Option<i32> {
        None
    }

    #[graphql(ignore)]
    async fn is_own(&self, _: &Context) -> bool {
        true
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
