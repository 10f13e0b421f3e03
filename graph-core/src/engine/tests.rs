//! Size estimates of cached documents.

use juniper::{EmptyMutation, EmptySubscription, InputValue, RootNode, Variables};

use super::Engine;
use crate::document::{Document, Judged, Source};
use crate::guard::RequestContext;

type Context = RequestContext<()>;

struct Query;

#[crate::graph_object(context = Context)]
impl Query {
    fn it() -> Self {
        Self
    }

    fn sum(of: Vec<i32>) -> i32 {
        of.into_iter().sum()
    }

    fn list(first: Option<i32>) -> Vec<i32> {
        (0..first.unwrap_or_default()).collect()
    }
}

fn size(text: &str, variables: &Variables) -> usize {
    let schema = RootNode::new(
        Query,
        EmptyMutation::<Context>::new(),
        EmptySubscription::<Context>::new(),
    );
    let engine = Engine::builder(schema).build().unwrap();
    let source = Source {
        text,
        operation: None,
    };
    let document = Document::new(&engine.inner.facts(), &source, variables, |_| {
        Ok(Judged::default())
    });
    document.map_err(|refused| refused.to_json()).unwrap().size
}

/// G19: the size covers the largest plan, even if the first request skips most fields.
#[test]
fn a_document_takes_the_room_of_its_largest_plan() {
    let fields: String = (0..500).map(|at| format!("a{at}: __typename ")).collect();
    let text = format!(
        "query($on: Boolean!) {{ it {{ __typename }} ... @include(if: $on) {{ it {{ {fields} }} }} }}"
    );
    let with = |on: bool| {
        size(
            &text,
            &[("on".to_owned(), InputValue::scalar(on))].into_iter().collect(),
        )
    };
    assert_eq!(with(false), with(true));
    assert!(with(false) > 2 * 500 * 150, "{}", with(false));
}

/// G19: the size covers the outline, which has every field of every fragment spread.
#[test]
fn a_document_takes_the_room_of_its_outline() {
    let spread = "...A ".repeat(50);
    let many = |declared: &str, sized: &str| {
        let below = "fragment A on Query { it { __typename it { __typename } } }";
        size(
            &format!("query{declared} {{ list(first: {sized}) {spread} }} {below}"),
            &Variables::new(),
        )
    };
    let (closed, open) = (many("", "1"), many("($n: Int)", "$n"));
    assert!(open > closed + 50 * 4 * 100, "{open} {closed}");
}

/// G19: the size covers literals and defaults, which need far more memory than their text.
#[test]
fn a_document_takes_the_room_of_its_values() {
    let numbers = "1,".repeat(1000);
    for text in [
        format!("query($n: [Int!] = [{numbers}]) {{ sum(of: $n) }}"),
        format!("query($n: Int!) {{ sum(of: [{numbers} $n]) }}"),
    ] {
        let taken = size(
            &text,
            &[("n".to_owned(), InputValue::scalar(1))].into_iter().collect(),
        );
        assert!(taken > 1000 * 100, "{taken}");
    }
}
