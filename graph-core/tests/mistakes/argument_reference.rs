//! An argument is a reference to an input object.
//!
//! Message: write the type without `&`
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
    fn value(wanted: &Filter) -> bool {
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
