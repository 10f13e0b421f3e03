//! The object of a look-ahead has no `look_ahead` in its attribute.
//!
//! Message: write `look_ahead` in the attribute of
use graph_core::look_ahead::LookAhead;
use graph_core::{Engine, GraphObject, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[derive(GraphObject)]
#[graphql(context = Context)]
struct Charge {
    amount: i32,
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn charges(look_ahead: LookAhead<'_, Charge>) -> Vec<Charge> {
        drop(look_ahead.selects(|charge| charge.amount));
        vec![]
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
