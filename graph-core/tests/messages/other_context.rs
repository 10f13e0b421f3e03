//! An object of a graph with another context, which juniper can make of ours.
use graph_core::{RequestContext, graph_object};
use juniper::FromContext;

struct Database;

impl juniper::Context for Database {}

type Context = RequestContext<Database>;

impl FromContext<Context> for Database {
    fn from(context: &Context) -> &Self {
        context.host()
    }
}

struct Charge;

#[graph_object(context = Database)]
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
}

fn main() {}
