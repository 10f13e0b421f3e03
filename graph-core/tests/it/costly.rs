//! Small requests that would cost a validator or a limit much memory or a deep stack.

use graph_core::http::GraphRequest;
use graph_core::limits::Limits;
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, GraphQLInputObject, RootNode, Variables};
use serde_json::{Value, json};

use crate::wire::codes;

type Context = RequestContext<()>;

#[derive(Clone, Copy, Debug, GraphQLInputObject)]
struct Page {
    #[graphql(default = 1000)]
    first: i32,
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn f() -> i32 {
        1
    }

    fn node() -> Self {
        Self
    }

    fn items(ids: Option<Vec<i32>>) -> Vec<Self> {
        ids.into_iter().flatten().map(|_| Self).collect()
    }

    fn page(page: Page) -> Vec<Self> {
        (0..page.first).map(|_| Self).collect()
    }
}

async fn ask(query: String, variables: Value) -> Value {
    let root = RootNode::new(
        Query,
        EmptyMutation::<Context>::new(),
        EmptySubscription::<Context>::new(),
    );
    let limits = Limits::default().with_mode(graph_core::limits::LimitMode::Report);
    let engine = Engine::builder(root)
        .with_limits(limits)
        .with_field_cost(
            "Query.page",
            graph_core::limits::FieldCost::sliced_by(["page.first"]),
        )
        .build()
        .unwrap();
    let variables: Variables = serde_json::from_value(variables).unwrap();
    let request = GraphRequest::new(query).with_variables(variables);
    json!(engine.execute(&request, &RequestContext::new(())).await)
}

/// G19: cycles of fragments lead the search for conflicts to no deep stack.
#[tokio::test]
async fn cycles_of_fragments_do_not_overflow_the_stack() {
    let cycle = |name: &str| -> String {
        (0..63)
            .map(|at| format!("fragment {name}{at} on Query {{ f ...{name}{} }} ", (at + 1) % 63))
            .collect()
    };
    let answer = ask(
        format!("{{ ...F0 ...G0 }} {} {}", cycle("F"), cycle("G")),
        json!({}),
    )
    .await;
    assert!(
        codes(&answer)
            .iter()
            .all(|code| *code == "GRAPHQL_VALIDATION_FAILED"),
        "{answer}"
    );
}

/// G19: long names in many mistakes do not make a long response.
#[tokio::test]
async fn mistakes_of_long_names_are_short() {
    let name = "N".repeat(100_000);
    let undefined = "$x ".repeat(5_000);
    let spreads = "...F0 ".repeat(3_000);
    for query in [
        format!("query {name} {{ f(a: [{undefined}]) }}"),
        format!("{{ ...F0 }} fragment F0 on Query {{ ...{name} }} fragment {name} on Query {{ {spreads} }}"),
    ] {
        let answer = ask(query, json!({})).await.to_string();
        assert!(answer.len() < 600_000, "{}", answer.len());
    }
    let key = "k".repeat(200);
    let object: serde_json::Map<_, _> = (0..5_000).map(|at| (format!("{key}{at}"), json!(1))).collect();
    let answer = ask(
        "query($p: Page!) { page(page: $p) { f } }".to_owned(),
        json!({ "p": object }),
    )
    .await;
    assert!(answer.to_string().len() < 600_000);
}

/// G22: sizes of single values, of absent fields with a default, and of empty lists.
#[tokio::test]
async fn coerced_sizes_set_the_cost() {
    for (query, variables, expected) in [
        ("{ items(ids: 0) { node { f } } }", json!({}), 2),
        ("{ items(ids: 5000) { f } }", json!({}), 1),
        ("query($i: [Int!]) { items(ids: $i) { f } }", json!({ "i": 7 }), 1),
        ("{ items(ids: []) { f } }", json!({}), 10),
        ("{ page(page: {}) { f } }", json!({}), 1_000),
        (
            "query($p: Page!) { page(page: $p) { f } }",
            json!({ "p": {} }),
            1_000,
        ),
        ("query($p: Page! = {}) { page(page: $p) { f } }", json!({}), 1_000),
        ("{ page(page: { first: 3 }) { f } }", json!({}), 3),
    ] {
        let answer = ask(query.to_owned(), variables).await;
        assert_eq!(
            answer["extensions"]["cost"]["estimated"], expected,
            "{query}: {answer}"
        );
    }
}
