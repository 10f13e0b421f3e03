//! A field returns an input object.
//!
//! Message: write `#[graph_object(context = ..)]` above the `impl` block of an object
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[derive(Clone, juniper::GraphQLInputObject)]
struct Filter {
    word: String,
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn value() -> Filter {
        unimplemented!()
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
