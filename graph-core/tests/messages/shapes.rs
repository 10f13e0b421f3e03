//! Items that the attributes are not for.
use graph_core::{GraphEnum, GraphObject, graph_interface, graph_object, graph_union};
use juniper::GraphQLUnion;

struct Query;

#[graph_object]
impl Clone for Query {
    fn clone(&self) -> Self {
        Self
    }
}

struct Taken;

#[graph_object]
impl Taken {
    fn id(self) -> i32 {
        1
    }
}

struct Unnamed;

#[graph_object]
impl Unnamed {
    fn id(&self) -> impl Sized {
        1
    }
}

struct Scalar;

#[graph_object(scalar = MyScalar)]
impl Scalar {
    fn id(&self) -> i32 {
        1
    }
}

struct Both;

#[graph_object]
#[juniper::graphql_object]
impl Both {
    fn id(&self) -> i32 {
        1
    }
}

#[graph_interface]
trait Lonely {
    fn id(&self) -> i32;
}

#[graph_interface(for = Both)]
fn function() {}

#[graph_union]
#[derive(GraphQLUnion)]
enum Derived {
    Both(Both),
}

#[graph_union(on Both = Functions::both)]
enum Functions {
    Both(Both),
}

#[graph_union]
enum Two {
    Both(Both, Both),
}

#[derive(GraphEnum)]
enum Values {
    One(i32),
}

#[derive(GraphEnum)]
struct NoEnum;

#[derive(GraphObject)]
struct Tuple(i32);

#[derive(GraphObject)]
struct Old {
    #[deprecated = "gone"]
    id: i32,
}

#[derive(GraphEnum)]
enum OldValue {
    #[deprecated = "gone"]
    One,
}

fn main() {}
