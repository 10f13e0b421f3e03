//! An object of a graph with another context.
use graph_core::{RequestContext, graph_object};

type Context = RequestContext<u64>;
type Other = RequestContext<String>;

struct Charge;

#[graph_object(context = Other)]
impl Charge {
    fn id(&self) -> i32 {
        1
    }
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    #[graphql(ignore)]
    fn helper() {}

    fn charge() -> Charge {
        Charge
    }
}

fn main() {}
