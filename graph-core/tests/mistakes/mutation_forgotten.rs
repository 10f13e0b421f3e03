//! The schema has `()` in the place of the mutation root.
//!
//! Compiler: the trait bound `(): GraphQLType` is not satisfied
//! Errors: 5
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn id() -> i32 {
        1
    }
}

fn main() {
    let schema = RootNode::new(Query, (), EmptySubscription::<Context>::new());
    let _ = Engine::builder(schema);
}
