//! A loader is asked for a key of another type.
//!
//! Compiler: mismatched types
use std::collections::HashMap;

use graph_core::loader::Batch;
use graph_core::{Engine, GraphError, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct Names;

impl Batch for Names {
    type Key = i32;
    type Value = String;

    async fn load(&self, _: Vec<i32>) -> Result<HashMap<i32, String>, GraphError> {
        Ok(HashMap::new())
    }
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    async fn name(context: &Context) -> Result<Option<String>, GraphError> {
        context.load::<Names>("7").await
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
