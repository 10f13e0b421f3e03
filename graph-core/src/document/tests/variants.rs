//! Cached plans of a document and their eviction.

use juniper::{InputValue, Variables};

use super::Graph;
use crate::document::{Chosen, Document, Judged, Source, VARIANTS, coerce};

/// Document with four deciding variables and therefore sixteen plans.
const FOUR: &str = "query ($a: Boolean!, $b: Boolean!, $c: Boolean!, $d: Boolean!) { user { id } x: user @include(if: $a) { id } \
    y: user @include(if: $b) { id } z: user @skip(if: $c) { id } w: user @include(if: $d) { id } }";

/// Expected number of fields for the values in `mask`.
fn expected(mask: u64) -> usize {
    let skipped = usize::from(mask & 4 != 0);
    2 - skipped + usize::try_from((mask & !4).count_ones()).unwrap()
}

fn document(graph: &Graph, text: &str) -> Document {
    let source = Source {
        text,
        operation: None,
    };
    Document::new(&graph.facts(), &source, &values(0, 4), |_| Ok(Judged::default())).unwrap()
}

/// Variables with one bit of `mask` each.
fn values(mask: u64, count: u8) -> Variables {
    let bit = |at: u8| {
        (
            char::from(b'a' + at).to_string(),
            InputValue::scalar(mask >> at & 1 == 1),
        )
    };
    (0..count).map(bit).collect()
}

/// Number of fields of the plan for `mask`.
fn keys(graph: &Graph, document: &Document, mask: u64) -> usize {
    let given = values(mask, 4);
    let variables = coerce(&graph.schema, &document.variables, &given).unwrap();
    document
        .plan(&graph.facts(), &variables, false)
        .unwrap()
        .fields
        .len()
}

fn kept(document: &Document) -> Vec<u64> {
    let plans = document.plans.read().unwrap();
    plans.iter().map(|variant| variant.mask).collect()
}

/// G19: the size of a document counts its long response keys in each plan, for each object type of
/// an interface and once more for paths.
#[test]
fn size_of_document_counts_keys_in_every_plan() {
    let graph = Graph::new();
    let long = "k".repeat(100_000);
    let text = FOUR.replace("{ user { id } x", &format!("{{ nodes {{ {long}: id }} x"));
    let document = document(&graph, &text);
    assert!(
        document.size > VARIANTS * 3 * long.len(),
        "{} bytes",
        document.size
    );
}

/// G19: a document without deciding variables has exactly one plan.
#[test]
fn a_document_that_nothing_decides_has_one_plan() {
    let graph = Graph::new();
    let document = document(
        &graph,
        "query ($n: Int! = 1) { user { friends(first: $n) { id } } }",
    );
    assert!(kept(&document).is_empty());
    let variables = coerce(&graph.schema, &document.variables, &Variables::new()).unwrap();
    assert!(matches!(
        document.plan(&graph.facts(), &variables, false),
        Ok(Chosen::Only(_))
    ));
}

/// G19: a plan that depends on an introspection argument is not cached.
#[test]
fn a_plan_that_depends_on_an_argument_is_not_kept() {
    let graph = Graph::new();
    let document = document(
        &graph,
        "query ($a: Boolean! = true) { __type(name: \"Query\") { fields(includeDeprecated: $a) { name } } }",
    );
    assert_eq!(keys(&graph, &document, 0), 1);
    assert!(kept(&document).is_empty() && document.only.is_none());
}

/// G19: with more variants than cached plans, the least recently used are evicted.
#[test]
fn the_plans_that_are_asked_for_again_stay() {
    let graph = Graph::new();
    let document = document(&graph, FOUR);
    for mask in 0..8 {
        assert_eq!(keys(&graph, &document, mask), expected(mask));
    }
    assert_eq!(kept(&document), (0..8).collect::<Vec<_>>());
    assert_eq!(VARIANTS, 8);
    // requested again
    for mask in [0, 2, 7] {
        keys(&graph, &document, mask);
    }
    // 0 is kept once and 1 evicted; 2 is kept and 3 evicted
    keys(&graph, &document, 8);
    assert_eq!(kept(&document), [2, 3, 4, 5, 6, 7, 0, 8]);
    keys(&graph, &document, 9);
    assert_eq!(kept(&document), [4, 5, 6, 7, 0, 8, 2, 9]);
    // a plan that is requested in every round stays
    for mask in (10..16).chain(1..8) {
        keys(&graph, &document, 0);
        keys(&graph, &document, mask);
        assert!(
            kept(&document).len() <= VARIANTS && kept(&document).contains(&0),
            "{mask}"
        );
    }
}

/// G1: an evicted plan is compiled again and is equal.
#[test]
fn a_plan_that_went_comes_back() {
    let graph = Graph::new();
    let document = document(&graph, FOUR);
    for mask in (0..16).chain(0..16) {
        assert_eq!(keys(&graph, &document, mask), expected(mask));
    }
}
