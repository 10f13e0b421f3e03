//! Costs that must not depend on the way a field is reached: interfaces, connections of any name,
//! repeated fields.

use graph_core::limits::{FieldCost, Limits};
use graph_core::{Engine, RequestContext, graph_interface, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};
use serde_json::json;

use crate::fixture::{codes, fixture};

type Context = RequestContext<()>;

#[graph_interface(for = [Note, Photo], context = Context)]
trait Document {
    fn copies(&self) -> Vec<Note>;
    fn pages(&self, limit: Option<i32>) -> Vec<Note>;
    fn size(&self) -> i32;
}

#[derive(Clone)]
struct Note;

#[graph_object(context = Context, impl = DocumentValue)]
impl Note {
    fn copies(&self) -> Vec<Self> {
        vec![]
    }

    fn pages(&self, #[graphql(name = "limit")] _limit: Option<i32>) -> Vec<Self> {
        vec![]
    }

    fn size(&self) -> i32 {
        1
    }
}

#[derive(Clone)]
struct Photo;

#[graph_object(context = Context, impl = DocumentValue)]
impl Photo {
    fn copies(&self) -> Vec<Note> {
        vec![]
    }

    fn pages(&self, #[graphql(name = "limit")] _limit: Option<i32>) -> Vec<Note> {
        vec![]
    }

    fn size(&self) -> i32 {
        1
    }
}

graph_core::connection! { Notes, NoteEdge, Note, Context }

/// Connection of the host's own, with `nodes` beside `edges`.
struct Shelf;

#[graph_object(context = Context)]
impl Shelf {
    fn edges() -> Vec<Note> {
        vec![]
    }

    fn nodes() -> Vec<Note> {
        vec![]
    }

    fn page_info() -> Note {
        Note
    }
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn shelf(#[graphql(name = "first")] _first: Option<i32>) -> Shelf {
        Shelf
    }

    fn document() -> DocumentValue {
        Note.into()
    }

    fn notes(#[graphql(name = "first")] _first: Option<i32>) -> Option<Notes> {
        None
    }

    fn shelves(#[graphql(name = "first")] _first: Option<i32>) -> Vec<Notes> {
        vec![]
    }
}

/// Cost of `query` with the host's `costs`.
async fn price(query: &str, costs: &[(&str, FieldCost)]) -> u64 {
    let schema = RootNode::new(Query, EmptyMutation::new(), EmptySubscription::new());
    let limits = Limits::default().with_cost(0);
    let engine = costs
        .iter()
        .fold(
            Engine::builder(schema).with_limits(limits),
            |builder, (at, cost)| builder.with_field_cost(*at, cost.clone()),
        )
        .build()
        .unwrap();
    let request = graph_core::http::GraphRequest::new(query);
    let answer = json!(engine.execute(&request, &RequestContext::new(())).await);
    let Some(message) = answer["errors"][0]["message"].as_str() else {
        return 0;
    };
    let price = message
        .strip_prefix("the operation costs ")
        .unwrap_or_else(|| panic!("{query}: {message}"));
    price.split(',').next().unwrap().parse().unwrap()
}

/// G18, G22: a slicing argument holds for the field of the object and of its interface.
#[tokio::test]
async fn slicing_arguments_hold_through_an_interface() {
    for sliced in ["Note.pages", "Document.pages"] {
        for query in [
            "{ document { pages(limit: 500) { size } } }",
            "{ document { ... on Note { pages(limit: 500) { size } } } }",
        ] {
            let cost = FieldCost::sliced_by(["limit"]);
            assert_eq!(
                price(query, &[(sliced, cost)]).await,
                1 + 500,
                "{sliced}: {query}"
            );
        }
    }
}

/// G18: `nodes` of a connection costs as much as the nodes of its edges.
#[tokio::test]
async fn nodes_of_connection_are_its_entries() {
    let query = "{ shelf(first: 3) { nodes { copies { size } } pageInfo { size } } }";
    assert_eq!(price(query, &[]).await, 3 * (1 + 10));
}

/// G18: an interface does not bypass the cost of a field, nor a type the cost of its interface.
#[tokio::test]
async fn a_price_holds_through_an_interface() {
    let through = "{ document { copies { size } } }";
    let direct = "{ document { ... on Note { copies { size } } } }";
    let other = "{ document { ... on Photo { copies { size } } } }";
    let dear = FieldCost::weight(50);
    for (priced, query, expected) in [
        ("Note.copies", direct, 1 + 10 * 50),
        ("Note.copies", through, 1 + 10 * 50),
        ("Note.copies", other, 1 + 10),
        ("Document.copies", through, 1 + 10 * 50),
        ("Document.copies", direct, 1 + 10 * 50),
        ("Note.size", "{ document { size } }", 1 + 50),
    ] {
        assert_eq!(
            price(query, &[(priced, dear.clone())]).await,
            expected,
            "{priced}: {query}"
        );
    }
    // a type with its own cost keeps it, and a cheap type does not reduce the cost of others
    let cheap = FieldCost::weight(0).with_page_size(1);
    let both = [("Document.copies", dear), ("Note.copies", cheap.clone())];
    assert_eq!(price(direct, &both).await, 1);
    assert_eq!(price(through, &both).await, 1 + 10 * 50);
    assert_eq!(price(through, &[("Note.copies", cheap)]).await, 1 + 10);
}

/// G18: a connection is detected by its fields, not by its name, and several cost several times.
#[tokio::test]
async fn a_connection_of_any_name_costs_its_page() {
    let page = "edges { cursor node { copies { size } } } pageInfo { hasNextPage }";
    assert_eq!(
        price(&format!("{{ notes(first: 100) {{ {page} }} }}"), &[]).await,
        100 * 11
    );
    assert_eq!(price(&format!("{{ notes {{ {page} }} }}"), &[]).await, 20 * 11);
    assert_eq!(
        price(&format!("{{ shelves(first: 100) {{ {page} }} }}"), &[]).await,
        10 * 100 * 11
    );
}

/// G18: weights of the parts of a connection apply.
#[tokio::test]
async fn the_parts_of_a_connection_can_have_weights() {
    let query = "{ notes(first: 10) { edges { cursor node { size } } pageInfo { hasNextPage } } }";
    assert_eq!(price(query, &[]).await, 10);
    for (part, expected) in [
        ("Notes.edges", 10 * (1 + 5)),
        ("NoteEdge.node", 10 * (1 + 5)),
        ("NoteEdge.cursor", 10 * (1 + 5)),
        ("Notes.pageInfo", 10 + 5),
        ("PageInfo.hasNextPage", 10 + 5),
    ] {
        assert_eq!(
            price(query, &[(part, FieldCost::weight(5))]).await,
            expected,
            "{part}"
        );
    }
}

/// G18: a field that is selected again under the same key costs again.
#[tokio::test]
async fn a_field_selected_again_is_not_free() {
    assert_eq!(price("{ document { size size size } }", &[]).await, 1 + 2);
    assert_eq!(
        price(
            "{ document { size __typename __typename ...F } } fragment F on Document { size }",
            &[]
        )
        .await,
        1 + 2
    );
    assert_eq!(
        price(
            "{ document { size ... on Note { size } ... on Photo { size } } }",
            &[]
        )
        .await,
        1
    );
    let again = "{ notes(first: 10) { edges { node { size } } edges { node { size } node { size } } } }";
    assert_eq!(price(again, &[]).await, 10 * (1 + 1 + 1));

    let shop = fixture();
    let many = format!("{{ items(first: 2000) {{ {} }} }}", "name ".repeat(400));
    assert_eq!(codes(&shop.ask(&many).await), ["MAX_COST_EXCEEDED"]);
    assert_eq!(shop.shop.calls(), 0);
}
