//! A field of an input object has a rule, and the object has no `GraphInput`.
//!
//! Compiler: cannot find attribute `graph` in this scope
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[derive(Clone, juniper::GraphQLInputObject)]
struct Filter {
    #[graph(validate(min = 1))]
    number: i32,
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn value(wanted: Option<Filter>) -> bool {
        wanted.is_none()
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
