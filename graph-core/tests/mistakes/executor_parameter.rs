//! A resolver takes the executor of juniper.
//!
//! Message: only juniper has an executor: write `look_ahead: LookAhead<'_, T>` for the selection
use graph_core::{Engine, RequestContext, graph_object};
use juniper::Executor;
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn ahead(executor: &Executor<'_, '_, Context>) -> bool {
        executor.look_ahead().field_name() == "ahead"
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
