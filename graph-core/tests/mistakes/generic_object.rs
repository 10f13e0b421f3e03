//! An object type is generic without the bounds of its parameter.
//!
//! Compiler: `T` cannot be shared between threads safely
//! Errors: 5
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct List<T> {
    items: Vec<T>,
}

#[graph_object]
impl<T> List<T> {
    fn items(&self) -> &[T] {
        &self.items
    }
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn value() -> Option<List<i32>> {
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
