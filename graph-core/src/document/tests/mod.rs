//! Plans, variables and variants of one small graph.

mod coerce;
mod compile;
mod outline;
mod variants;

use juniper::{EmptyMutation, EmptySubscription, GraphQLEnum, GraphQLInputObject, ID, RootNode};

use super::collect::Collector;
use super::compile::compile;
use super::operation::{OperationTree, parsed, validated};
use super::parse::ParseLimits;
use super::{Facts, Index, Introspection, definitions, given};
use crate::executor::{Plan, Registry};
use crate::limits::CostModel;
use crate::response::GraphResponse;
use crate::schema::Schema;
use crate::{GraphObject, RequestContext, graph_interface, graph_object};

type Context = RequestContext<()>;

const LIMITS: ParseLimits = ParseLimits {
    tokens: 100_000,
    depth: 64,
};

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
    schema: Schema,
    limits: ParseLimits,
    costs: CostModel,
    index: Index,
    introspection: Introspection,
}

impl Graph {
    fn new() -> Self {
        let mut registry = Registry::default();
        registry.object::<Context, Query>();
        let root: Root = RootNode::new(Query, EmptyMutation::new(), EmptySubscription::new());
        let schema = Schema::new(&root.schema);
        Self {
            limits: LIMITS,
            costs: CostModel::default(),
            index: Index::new(&registry),
            introspection: Introspection::new(schema.introspected()),
            schema,
        }
    }

    fn facts(&self) -> Facts<'_> {
        Facts {
            schema: &self.schema,
            limits: self.limits,
            costs: &self.costs,
            index: &self.index,
            introspection: &self.introspection,
            view: self.introspection.whole(),
            observed: false,
        }
    }

    /// Plan of `text`.
    fn plan(&self, text: &str) -> Result<Plan, GraphResponse> {
        let ast = parsed(text, self.limits)?;
        validated(&self.schema, &ast)?;
        let tree = OperationTree::new(&ast, None)?;
        let declared = definitions(&self.schema, &tree);
        let none = juniper::Variables::new();
        let collector = Collector {
            schema: &self.schema,
            tree: &tree,
            variables: &|name| given(&declared, &none, name),
            everything: false,
            defers: false,
        };
        compile(&self.facts(), &collector).map(|compiled| compiled.plan)
    }
}
