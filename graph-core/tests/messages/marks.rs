//! Marks that do not exist, that are twice, or stand where they mean nothing.
use graph_core::{GraphObject, RequestContext, graph_interface, graph_object};

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
    #[graph(scope = "read:email", role = "owner")]
    fn email(&self) -> i32 {
        1
    }
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

type CountResult = Result<i32, graph_core::GraphError>;

struct Hidden;

#[graph_object(context = Context)]
impl Hidden {
    fn id(&self) -> i32 {
        1
    }

    #[graph(authenticated)]
    fn count(&self) -> CountResult {
        Ok(1)
    }
}

fn main() {}
