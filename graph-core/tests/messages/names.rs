//! Names and arguments that the attributes refuse.
use graph_core::{GraphObject, graph_interface, graph_object, graph_subscription, graph_union};

struct Twice;

#[graph_object]
impl Twice {
    fn id(&self) -> i32 {
        1
    }

    #[graphql(name = "id")]
    fn number(&self) -> i32 {
        1
    }
}

struct Reserved;

#[graph_object]
impl Reserved {
    #[graphql(name = "__id")]
    fn id(&self) -> i32 {
        1
    }
}

struct ReservedArgument;

#[graph_object]
impl ReservedArgument {
    fn id(&self, #[graphql(name = "__at")] at: i32) -> i32 {
        at
    }
}

#[derive(GraphObject)]
#[graphql(name = "__Type")]
struct ReservedType {
    id: i32,
}

#[derive(GraphObject)]
struct Invalid {
    #[graphql(name = "an id")]
    id: i32,
}

struct Empty;

#[graph_object]
impl Empty {}

struct Misspelled;

#[graph_object(contxt = Context)]
impl Misspelled {
    fn id(&self) -> i32 {
        1
    }
}

struct MisspelledField;

#[graph_object]
impl MisspelledField {
    #[graphql(nme = "number")]
    fn id(&self) -> i32 {
        1
    }
}

#[graph_interface(for = [Twice, Twice])]
trait Listed {
    fn id(&self) -> i32;
}

#[graph_interface(for = Twice)]
trait Body {
    fn id(&self) -> i32 {
        1
    }
}

#[graph_union]
enum Same {
    First(Twice),
    Second(Twice),
}

struct Subscription;

#[graph_subscription]
impl Subscription {
    fn ticks() -> futures_util::stream::Empty<i32> {
        futures_util::stream::empty()
    }
}

fn main() {}
