//! Plans, variables and variants of one small graph.

mod coerce;
mod compile;
mod variants;

use juniper::meta::MetaType;
use juniper::{EmptyMutation, EmptySubscription, GraphQLEnum, GraphQLInputObject, ID, RootNode};

use super::collect::{Collector, given};
use super::compile::compile;
use super::{Facts, Index, Introspection};
use crate::compat::read;
use crate::executor::{Plan, Registry};
use crate::response::GraphResponse;
use crate::{GraphObject, RequestContext, graph_interface, graph_object};

type Context = RequestContext<()>;

#[derive(Clone, Copy, Debug, GraphQLEnum)]
pub(super) enum Color {
    Red,
    Blue,
}

#[derive(Clone, Debug, GraphQLInputObject)]
pub(super) struct Inner {
    #[graphql(default = 7)]
    a: i32,
    b: Option<String>,
}

#[derive(Clone, Debug, GraphQLInputObject)]
pub(super) struct Outer {
    id: ID,
    list: Vec<Inner>,
    color: Option<Color>,
    n: Option<f64>,
    flag: bool,
}

#[graph_interface(for = [User, Team], context = Context)]
#[expect(dead_code, reason = "the attribute reads the signatures only")]
trait Node {
    fn id(&self) -> i32;
}

#[derive(GraphObject)]
#[graphql(context = Context, impl = NodeValue)]
struct Team {
    id: i32,
    size: i32,
}

struct User;

#[graph_object(context = Context, impl = NodeValue)]
impl User {
    fn id(&self) -> i32 {
        1
    }

    async fn name(&self) -> Option<String> {
        None
    }

    #[graph(scope = "read:email")]
    fn email(&self) -> Option<String> {
        None
    }

    #[graph(scope = "read:email")]
    fn phone(&self) -> Option<String> {
        None
    }

    fn friends(&self, #[graphql(default = 2)] first: i32) -> Vec<Vec<Self>> {
        (0..first).map(|_| Vec::new()).collect()
    }
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn user() -> User {
        User
    }

    fn nodes() -> Vec<Option<NodeValue>> {
        vec![Some(User.into()), Some(Team { id: 1, size: 2 }.into())]
    }

    fn paint(color: Option<Color>, outer: Option<Outer>) -> Option<i32> {
        let outer = outer?;
        let sum = outer
            .list
            .iter()
            .map(|inner| inner.a + i32::from(inner.b.is_some()))
            .sum::<i32>();
        let more = color.or(outer.color).map_or(0, |color| color as i32);
        (outer.flag && outer.n.is_none() && !outer.id.is_empty()).then_some(sum + more)
    }
}

type Root = RootNode<Query, EmptyMutation<Context>, EmptySubscription<Context>>;

/// Schema with its compiler data.
struct Graph {
    root: Root,
    index: Index,
    introspection: Introspection,
}

impl Graph {
    fn new() -> Self {
        let mut registry = Registry::default();
        registry.object::<Context, Query>();
        let root = RootNode::new(Query, EmptyMutation::new(), EmptySubscription::new());
        let (root, answer) = crate::compat::introspected(root);
        Self {
            root,
            index: Index::new(&registry),
            introspection: Introspection::new(answer),
        }
    }

    fn facts(&self) -> Facts<'_> {
        Facts {
            schema: &self.root.schema,
            index: &self.index,
            introspection: &self.introspection,
            view: self.introspection.whole(),
        }
    }

    /// Plan of `text`.
    fn plan(&self, text: &str) -> Result<Plan, GraphResponse> {
        let syntax = read(&self.root.schema, text, None)?;
        let none = juniper::Variables::new();
        let collector = Collector {
            schema: &self.root.schema,
            syntax: &syntax,
            variables: &|name| given(&syntax, &none, name),
            everything: false,
        };
        compile(&self.facts(), &collector).map(|compiled| compiled.plan)
    }

    fn has_input(&self, name: &str) -> bool {
        self.root
            .schema
            .concrete_type_by_name(name)
            .is_some_and(MetaType::is_input)
    }
}
