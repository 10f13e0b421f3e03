//! The context has another name than `context`.
//!
//! Message: the context is called `context`, or marked with `#[graphql(context)]`
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn viewer(request: &Context) -> bool {
        request.principal().is_some()
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
