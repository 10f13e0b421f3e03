//! An argument is a map.
//!
//! Message: an input object with `#[derive(Clone, GraphQLInputObject, GraphInput)]`
use std::collections::HashMap;

use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn value(wanted: HashMap<String, String>) -> bool {
        drop(wanted);
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
