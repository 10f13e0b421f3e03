//! A field returns `impl Trait`.
//!
//! Message: name the type, for example `Vec<..>`
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn names() -> impl Iterator<Item = String> {
        std::iter::empty()
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
