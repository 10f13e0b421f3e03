//! An asynchronous resolver holds an `Rc` while it waits.
//!
//! Compiler: future cannot be sent between threads safely
use std::rc::Rc;

use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct Query;

#[graph_object(context = Context)]
impl Query {
    async fn name() -> String {
        let name = Rc::new(String::new());
        std::future::ready(()).await;
        name.to_string()
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
