//! An object has a `Cell`.
//!
//! Compiler: `Cell<i32>` cannot be shared between threads safely
//! Errors: 4
use std::cell::Cell;

use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct Counter(Cell<i32>);

#[graph_object]
impl Counter {
    fn count(&self) -> i32 {
        self.0.get()
    }
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn value() -> Option<Counter> {
        None
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
