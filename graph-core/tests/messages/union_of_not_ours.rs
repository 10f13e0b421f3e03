//! A union with an object that has juniper's derive only.
use graph_core::graph_union;

#[derive(juniper::GraphQLObject)]
struct Charge {
    id: i32,
}

#[graph_union]
enum Found {
    Charge(Charge),
}

fn main() {}
