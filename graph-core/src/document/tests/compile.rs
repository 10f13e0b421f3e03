//! Compiled plans as text; equivalent selections give equal plans.

use proptest::prelude::*;

use super::Graph;
use crate::error::ErrorCode;
use crate::executor::Plan;
use crate::executor::plan::{ArgRef, Field, Selection};

/// Plan as text: `!` non-null, `~` asynchronous, `~~` asynchronous selection, `@n` policy, `(..)`
/// arguments.
fn written(plan: &Plan) -> String {
    fields(&plan.fields)
}

fn fields(selected: &[Field]) -> String {
    let fields: Vec<_> = selected.iter().map(field).collect();
    format!("{{ {} }}", fields.join(" "))
}

/// Response key, with its value if it is constant.
fn key(field: &Field) -> String {
    let written = format!("{:?}", field.key).replace(['"', '\\'], "");
    written.trim_matches([',', ':']).to_owned()
}

fn field(field: &Field) -> String {
    let mut text = key(field);
    if field.idx == Field::CONST {
        return text;
    }
    text += if field.non_null { "!" } else { "" };
    text += match (field.has_async, field.sel_async) {
        (true, false) => "~",
        (true, true) => "~~",
        _ => "",
    };
    if let Some(policy) = field.policy {
        text += &format!("@{policy}");
    }
    text += &match &field.args {
        ArgRef::None => String::new(),
        ArgRef::Const(_) => "(const)".to_owned(),
        ArgRef::Slot(at) => format!("(slot {at})"),
        ArgRef::Refused(why) => format!("(refused: {why})"),
    };
    match &field.selection {
        Selection::Leaf => {}
        Selection::Object(selected) => text += &format!(" {}", fields(selected)),
        Selection::Abstract(types) => {
            for (name, selected) in types.iter() {
                text += &format!(" {name} {}", fields(selected));
            }
        }
    }
    text
}

fn compiled(text: &str) -> String {
    match Graph::new().plan(text) {
        Ok(plan) => written(&plan),
        Err(refused) => refused.errors()[0].code().as_str().to_owned(),
    }
}

/// G1: fragments are expanded; equal response keys are merged, in order of first appearance.
#[test]
fn a_selection_becomes_the_fields_of_the_response() {
    for (text, expected) in [
        ("{ user { id } }", "{ user! { id! } }"),
        ("{ b: user { id } a: user { id } }", "{ b! { id! } a! { id! } }"),
        ("{ user { id } user { name id } }", "{ user!~~ { id! name~ } }"),
        (
            "{ user { id } ... { user { me: __typename } } }",
            "{ user! { id! me:User } }",
        ),
        (
            "{ ...F user { name } ...F } fragment F on Query { user { id ...G } } fragment G on User { i: id }",
            "{ user!~~ { id! i! name~ } }",
        ),
        (
            "{ user { ... on Node { id } ... on Team { size } } }",
            "GRAPHQL_VALIDATION_FAILED",
        ),
        (
            "{ user { ... on Node { id ... on Team { size } } } }",
            "{ user! { id! } }",
        ),
        (
            "{ nodes { id ... on Team { size } } }",
            "{ nodes! Team { id! size! } User { id! } }",
        ),
        (
            "{ nodes { ... on User { name } __typename id } }",
            "{ nodes!~~ Team { __typename:Team id! } User { name~ __typename:User id! } }",
        ),
    ] {
        assert_eq!(compiled(text), expected, "{text}");
    }
}

/// G1: `@skip` and `@include` are evaluated with variable defaults; a missing variable counts as
/// false.
#[test]
fn what_is_skipped_is_not_in_the_plan() {
    for (text, expected) in [
        ("{ user { id name @skip(if: true) } }", "{ user! { id! } }"),
        ("{ user { id name @include(if: false) } }", "{ user! { id! } }"),
        (
            "{ user { id name @include(if: true) @skip(if: true) } }",
            "{ user! { id! } }",
        ),
        (
            "query ($v: Boolean = true) { user { id ... @include(if: $v) { name } } }",
            "{ user!~~ { id! name~ } }",
        ),
        (
            "query ($v: Boolean!) { user { id ...F @include(if: $v) } } fragment F on User { name }",
            "{ user! { id! } }",
        ),
        (
            "query ($v: Boolean!) { user { id @skip(if: $v) } }",
            "{ user! { id! } }",
        ),
    ] {
        assert_eq!(compiled(text), expected, "{text}");
    }
}

/// G7, G15: arguments without variables are coerced once for all executions; equal guard lists are
/// shared.
#[test]
fn arguments_and_guards_are_made_ready() {
    for (text, expected) in [
        (
            "{ user { friends { id } } }",
            "{ user! { friends!(const) { id! } } }",
        ),
        (
            "query ($n: Int!) { user { a: friends(first: $n) { id } friends(first: 1) { name } b: friends(first: $n) { id } } }",
            "{ user!~~ { a!(slot 0) { id! } friends!~~(const) { name~ } b!(slot 1) { id! } } }",
        ),
        (
            "query ($b: String) { paint(outer: { id: 1, list: [{ b: $b }], flag: true }) }",
            "{ paint(slot 0) }",
        ),
        (
            "{ user { email again: email phone } }",
            "{ user! { email@0 again@0 phone@0 } }",
        ),
        ("{ paint @skip(if: true) user { id } }", "{ user! { id! } }"),
    ] {
        assert_eq!(compiled(text), expected, "{text}");
    }
}

/// G4: the types of an interface share a position, which records its number of nested lists.
#[test]
fn places_are_shared_between_the_types_of_an_interface() {
    let graph = Graph::new();
    let plan = graph
        .plan("{ nodes { id ... on User { friends { id } } } }")
        .unwrap();
    let places: Vec<_> = plan
        .places
        .iter()
        .map(|place| (&*place.key, place.parent, place.lists))
        .collect();
    let expected = [
        ("nodes", None, 1),
        ("id", Some(0), 0),
        ("friends", Some(0), 2),
        ("id", Some(2), 0),
    ];
    assert_eq!(places, expected);
    assert_eq!(plan.metas.len(), 5);
}

/// G19: a plan has at most 20,000 fields, counting those of each type of an interface.
#[test]
fn a_plan_has_an_end() {
    let selected = |count: usize| (0..count).map(|at| format!("a{at}: id ")).collect::<String>();
    let mut graph = Graph::new();
    graph.limits.tokens = 1_000_000;
    let fits = graph.plan(&format!("{{ nodes {{ {} }} }}", selected(9_999)));
    assert!(fits.is_ok());
    let refused = graph
        .plan(&format!("{{ nodes {{ {} }} }}", selected(10_000)))
        .unwrap_err();
    assert_eq!(refused.errors()[0].code(), ErrorCode::MaxCostExceeded);
}

/// Selection on a user, and its notation.
#[derive(Clone, Debug)]
enum Part {
    Leaf(u8),
    Friends(Vec<Self>),
    /// In an inline fragment, with a type condition or without.
    Inline(bool, Vec<Self>),
    /// In a fragment of its own.
    Spread(Vec<Self>),
}

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let leaf = (0..5_u8).prop_map(Part::Leaf);
    let part = leaf.prop_recursive(4, 40, 5, |inner| {
        let parts = prop::collection::vec(inner, 1..5);
        prop_oneof![
            parts.clone().prop_map(Part::Friends),
            (any::<bool>(), parts.clone()).prop_map(|(on, parts)| Part::Inline(on, parts)),
            parts.prop_map(Part::Spread),
        ]
    });
    prop::collection::vec(part, 1..6)
}

/// Text of the selection, with named fragments or with their contents inline.
fn text(parts: &[Part], fragments: &mut Option<Vec<String>>) -> String {
    let mut written = String::new();
    for part in parts {
        written += &match (part, fragments.is_some()) {
            (Part::Leaf(at), _) => {
                ["id ", "name ", "email ", "n: name ", "__typename "][usize::from(*at)].to_owned()
            }
            (Part::Friends(parts), _) => format!("friends {{ {} }} ", text(parts, fragments)),
            (Part::Inline(_, parts) | Part::Spread(parts), false) => text(parts, fragments),
            (Part::Inline(true, parts), true) => format!("... on User {{ {} }} ", text(parts, fragments)),
            (Part::Inline(false, parts), true) => format!("... {{ {} }} ", text(parts, fragments)),
            (Part::Spread(parts), true) => {
                let body = text(parts, fragments);
                let all = fragments.get_or_insert_default();
                all.push(format!("fragment F{} on User {{ {body} }} ", all.len()));
                format!("...F{} ", all.len() - 1)
            }
        };
    }
    written
}

fn unique(selected: &[Field]) -> bool {
    let keys: std::collections::HashSet<_> = selected.iter().map(key).collect();
    keys.len() == selected.len() && selected.iter().all(|field| unique(field.selected("User")))
}

proptest! {
    /// G1: the plan does not depend on how a selection is divided into fragments or repeated, and
    /// no object has a response key twice.
    #[test]
    fn a_plan_does_not_depend_on_how_its_selection_is_written(parts in parts()) {
        let mut fragments = Some(Vec::new());
        let divided = text(&parts, &mut fragments);
        let divided = format!("{{ user {{ {divided} }} }} {}", fragments.unwrap_or_default().concat());
        let whole = text(&parts, &mut None);
        let graph = Graph::new();
        let plan = graph.plan(&format!("{{ user {{ {whole} }} }}")).unwrap();
        prop_assert!(unique(&plan.fields));
        let expected = written(&plan);
        for other in [divided, format!("{{ user {{ {whole} {whole} }} user {{ {whole} }} }}")] {
            let plan = graph.plan(&other).unwrap();
            prop_assert_eq!(&written(&plan), &expected, "{}", other);
        }
    }
}
