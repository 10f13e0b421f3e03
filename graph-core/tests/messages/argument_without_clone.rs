//! An input object that cannot be cloned: arguments are coerced once for many calls.
use graph_core::graph_object;

#[derive(juniper::GraphQLInputObject)]
struct Filter {
    word: String,
}

struct Query;

#[graph_object]
impl Query {
    fn count(filter: Filter) -> bool {
        filter.word.is_empty()
    }
}

fn main() {}
