//! A resolver that asks for juniper's executor.
use graph_core::{RequestContext, graph_object};
use juniper::Executor;

type Context = RequestContext<()>;

struct Query;

#[graph_object(context = Context, scalar = juniper::DefaultScalarValue)]
impl Query {
    fn ahead(executor: &Executor<'_, '_, Context>) -> bool {
        executor.look_ahead().field_name() == "ahead"
    }
}

fn main() {}
