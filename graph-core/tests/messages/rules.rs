//! Rules that do not exist, that do not apply to a type, or that stand where they mean nothing.
use graph_core::{GraphInput, GraphObject, RequestContext, graph_interface, graph_object};
use juniper::GraphQLInputObject;

type Context = RequestContext<()>;

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn text(#[graph(validate(min = 1))] text: String) -> bool {
        text.is_empty()
    }

    fn number(#[graph(validate(min_length = 1))] number: Option<i32>) -> bool {
        number.is_none()
    }

    fn items(#[graph(validate(min_items = 1))] number: i32) -> bool {
        number == 1
    }

    fn float(#[graph(validate(min = 1))] number: f64) -> bool {
        number > 1.0
    }

    fn custom(#[graph(validate(custom = is_odd))] text: String) -> bool {
        text.is_empty()
    }
}

fn is_odd(number: &i32) -> Result<(), String> {
    match number % 2 {
        1 => Ok(()),
        _ => Err("even".to_owned()),
    }
}

struct Unknown;

#[graph_object(context = Context)]
impl Unknown {
    fn number(#[graph(validate(minimum = 1))] number: i32) -> bool {
        number == 1
    }
}

struct Without;

#[graph_object(context = Context)]
impl Without {
    fn number(#[graph(validate)] number: i32) -> bool {
        number == 1
    }
}

struct OnContext;

#[graph_object(context = Context)]
impl OnContext {
    fn number(#[graph(validate(min = 1))] context: &Context) -> bool {
        context.principal().is_some()
    }
}

struct OnField;

#[graph_object(context = Context)]
impl OnField {
    #[graph(validate(min = 1))]
    fn number() -> i32 {
        1
    }
}

#[derive(GraphObject)]
#[graphql(impl = NumbersValue, context = Context)]
struct Numbered {
    number: i32,
}

#[graph_interface(for = Numbered, context = Context)]
trait Numbers {
    fn number(&self, #[graph(validate(min = 1))] least: i32) -> i32;
}

#[derive(Clone, GraphQLInputObject)]
struct NotDerived {
    #[graph(validate(min = 1))]
    number: i32,
}

#[derive(Clone, GraphQLInputObject)]
struct Inner {
    number: i32,
}

#[derive(Clone, GraphQLInputObject, GraphInput)]
struct Outer {
    inner: Vec<Option<Inner>>,
    numbers: Vec<i32>,
}

#[derive(GraphInput)]
struct Tuple(i32);

#[derive(GraphInput)]
#[graph(validate(min = 1))]
struct OfType {
    number: i32,
}

#[derive(GraphInput)]
struct Ignored {
    #[graph(validate(min = 1))]
    #[graphql(ignore)]
    number: i32,
}

fn main() {}
