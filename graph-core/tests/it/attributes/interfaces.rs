//! Interfaces that implement interfaces, and interfaces with parameters.

use graph_core::http::GraphRequest;
use graph_core::{Engine, RequestContext, graph_interface, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode};
use serde_json::json;

type Context = RequestContext<()>;

#[graph_interface(for = [NamedValue, Item], context = Context)]
trait Identified {
    fn id(&self) -> i32;
}

/// Something with a name.
#[graph_interface(for = Item, impl = IdentifiedValue, context = Context)]
trait Named {
    fn id(&self) -> i32;
    fn name(&self, #[graphql(default = false, description = "In capitals.")] loud: bool) -> String;
}

#[derive(Clone, Debug)]
struct Item;

#[graph_object(context = Context, impl = [NamedValue, IdentifiedValue])]
impl Item {
    fn id() -> i32 {
        1
    }

    fn name(#[graphql(default = false)] loud: bool) -> String {
        if loud { "ITEM" } else { "item" }.to_owned()
    }
}

/// Object that borrows.
struct Line<'a> {
    text: &'a str,
}

#[graph_object(context = Context, impl = TextValue<'a>)]
impl<'a> Line<'a> {
    fn text(&self) -> &'a str {
        self.text
    }
}

#[graph_interface(for = Line<'a>, context = Context)]
trait Text<'a> {
    fn text(&self) -> &'a str;
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn identified() -> Vec<IdentifiedValue> {
        vec![Item.into(), NamedValue::from(Item).into()]
    }

    fn text() -> TextValue<'static> {
        Line { text: "line" }.into()
    }
}

/// G1, G11: an interface can implement an interface, and can have a lifetime.
#[tokio::test]
async fn interfaces_implement_interfaces() {
    let schema = RootNode::new(
        Query,
        EmptyMutation::<Context>::new(),
        EmptySubscription::<Context>::new(),
    );
    let engine = Engine::builder(schema).build().unwrap();
    let sdl = engine.sdl();
    for declared in [
        "type Item implements Identified & Named {",
        "\"\"\"Something with a name.\"\"\"\ninterface Named implements Identified {",
        "type Line implements Text {",
    ] {
        assert!(sdl.contains(declared), "{sdl}");
    }
    let query = "{ identified { __typename id ... on Named { name(loud: true) } } text { text } }";
    let answer = engine
        .execute(&GraphRequest::new(query), &RequestContext::new(()))
        .await;
    let item = json!({ "__typename": "Item", "id": 1, "name": "ITEM" });
    let expected = json!({ "data": { "identified": [item, item], "text": { "text": "line" } } });
    assert_eq!(json!(answer), expected);
    // the value has the traits that all of its objects have
    assert_eq!(format!("{:?}", NamedValue::from(Item).clone()), "Item(Item)");
}
