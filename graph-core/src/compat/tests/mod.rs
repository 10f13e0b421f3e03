//! Tests of the juniper behaviour that `compat` depends on, one for each item.
//!
//! These tests fail if a juniper release changes that behaviour.
//!
//! - `parsed`: parser and syntax tree · `judged`: validation rules · `schema`: root node and
//!   metadata

mod judged;
mod parsed;
mod schema;

use juniper::{
    EmptyMutation, EmptySubscription, GraphQLEnum, GraphQLInputObject, ID, RootNode, graphql_interface,
    graphql_object,
};

use super::Scalar;

#[derive(Clone, Copy, GraphQLEnum)]
enum Color {
    Red,
    Blue,
}

#[derive(GraphQLInputObject)]
struct Window {
    #[graphql(default = 7)]
    size: i32,
    colors: Option<Vec<Color>>,
}

#[graphql_interface(for = Item)]
#[expect(dead_code, reason = "juniper reads the signatures only")]
trait Named {
    fn name(&self) -> String;
}

struct Item;

#[graphql_object(impl = NamedValue)]
impl Item {
    fn name(&self) -> String {
        "item".to_owned()
    }

    fn matrix(&self) -> Vec<Option<Vec<i32>>> {
        Vec::new()
    }
}

struct Query;

#[graphql_object]
#[expect(
    clippy::needless_pass_by_value,
    reason = "arguments are taken as juniper hands them over"
)]
impl Query {
    fn item(#[graphql(default = 3)] first: i32, id: Option<ID>, ratio: Option<f64>) -> Option<Item> {
        (first > 0 || id.is_some() || ratio.is_some()).then_some(Item)
    }

    fn named(window: Option<Window>) -> Vec<NamedValue> {
        let colors = window.and_then(|window| window.colors);
        colors.into_iter().flatten().map(|_| Item.into()).collect()
    }

    #[deprecated(note = "gone")]
    fn old() -> i32 {
        1
    }
}

type Root = RootNode<Query, EmptyMutation<()>, EmptySubscription<()>, Scalar>;

fn root() -> Root {
    RootNode::new(Query, EmptyMutation::new(), EmptySubscription::new())
}

/// Names the juniper item of a test, and prints instructions if the test fails.
fn contract(item: &'static str) -> Contract {
    Contract(item)
}

struct Contract(&'static str);

impl Drop for Contract {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "juniper changed {}, which is hidden or undocumented and `graph-core/src/compat` relies on.\n\
                 1. Read the changes of juniper between the version in Cargo.lock and the one before it.\n\
                 2. Adapt `compat`, its table of items and this test; no other module uses the item.\n\
                 3. Until that is released, exclude the version: `juniper = \">=0.18.0, <0.18.N\"` in the workspace's Cargo.toml.",
                self.0
            );
        }
    }
}
