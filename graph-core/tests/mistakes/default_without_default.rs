//! `default` without a value stands on a type without `Default`.
//!
//! Message: write the value, `default = ..`, or implement `Default` for this type
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

type Context = RequestContext<()>;

#[derive(Clone, juniper::GraphQLEnum)]
enum Order {
    Up,
    Down,
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn first(#[graphql(default)] order: Order) -> bool {
        matches!(order, Order::Up)
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
