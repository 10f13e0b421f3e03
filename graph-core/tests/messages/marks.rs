//! Marks that do not exist, that are twice, or stand where they mean nothing.
use graph_core::{GraphObject, RequestContext, graph_interface, graph_object, graph_union};

type Context = RequestContext<()>;

struct Unknown;

#[graph_object(context = Context)]
impl Unknown {
    #[graph(guard = "read:email")]
    fn email(&self) -> i32 {
        1
    }
}

struct Twice;

#[graph_object(context = Context)]
impl Twice {
    #[graph(guard = Self::first, guard = Self::second)]
    fn email(&self) -> i32 {
        1
    }
}

struct NoObject;

#[graph_object(context = Context)]
impl NoObject {
    #[graph(guard = Self::first)]
    fn email() -> i32 {
        1
    }
}

struct OfType;

#[graph_object(context = Context)]
#[graph(guard = Self::first)]
impl OfType {
    fn email(&self) -> i32 {
        1
    }
}

struct OldMark;

#[graph_object(context = Context)]
impl OldMark {
    #[graph(plain)]
    fn email(&self) -> i32 {
        1
    }
}

struct NoBool;

#[graph_object(context = Context)]
impl NoBool {
    #[graph(guard = Self::owner)]
    fn email(&self) -> i32 {
        1
    }

    #[graphql(ignore)]
    fn owner(&self, _: &Context) -> Option<bool> {
        None
    }
}

#[graph_union(context = Context)]
#[graph(role = "owner")]
enum Union {
    Twice(Twice),
}

#[graph_interface(for = Twice)]
#[graph(role = "owner")]
trait Guarded {
    fn email(&self) -> i32;
}

struct Ignored;

#[graph_object(context = Context)]
impl Ignored {
    fn id(&self) -> i32 {
        1
    }

    #[graph(authenticated)]
    #[graphql(ignore)]
    fn email(&self) -> i32 {
        1
    }
}

struct NoContext;

#[graph_object]
impl NoContext {
    #[graph(authenticated)]
    fn email(&self) -> i32 {
        1
    }
}

#[derive(GraphObject)]
struct Fields {
    #[graph(scope = "read:email")]
    email: i32,
}

#[graph_interface(for = Twice)]
trait Interface {
    #[graph(role = "owner")]
    fn email(&self) -> i32;
}

fn main() {}
