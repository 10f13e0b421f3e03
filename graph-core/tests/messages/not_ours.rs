//! An object with juniper's attribute only.
use graph_core::{RequestContext, graph_object};

type Context = RequestContext<()>;

struct Charge;

#[juniper::graphql_object(context = Context)]
impl Charge {
    fn id(&self) -> i32 {
        1
    }
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn charge() -> Charge {
        Charge
    }

    async fn charges() -> Result<Vec<Charge>, graph_core::GraphError> {
        Ok(vec![])
    }
}

fn main() {}
