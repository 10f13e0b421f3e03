//! The key of a loader has no `Hash`.
//!
//! Compiler: the trait bound `Key: Hash` is not satisfied
use std::collections::HashMap;

use graph_core::loader::Batch;
use graph_core::{Engine, GraphError, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct Names;

#[derive(Clone, PartialEq, Eq)]
struct Key(i32);

impl Batch for Names {
    type Key = Key;
    type Value = String;

    async fn load(&self, _: Vec<Key>) -> Result<HashMap<Key, String>, GraphError> {
        Ok(HashMap::new())
    }
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    async fn name(context: &Context) -> Result<Option<String>, GraphError> {
        context.load::<Names>(Key(7)).await
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
