use std::panic::{AssertUnwindSafe, catch_unwind};

use juniper::parser::parse_document_source;
use juniper::validation::{RuleError, ValidatorContext, visit_all_rules};

use super::{contract, root};
use crate::compat::read;

/// Messages of juniper's own rules.
fn judged(text: &str) -> Vec<RuleError> {
    let root = root();
    let document = parse_document_source(text, &root.schema).unwrap();
    let mut context = ValidatorContext::new(&root.schema, &document);
    visit_all_rules(&mut context, &document);
    context.into_errors()
}

fn messages(text: &str) -> Vec<String> {
    judged(text)
        .iter()
        .map(|error| error.message().to_owned())
        .collect()
}

fn ours(text: &str) -> Vec<String> {
    let root = root();
    match read(&root.schema, text, None) {
        Ok(_) => Vec::new(),
        Err(refused) => refused
            .errors()
            .iter()
            .map(|error| error.message().to_owned())
            .collect(),
    }
}

/// `visit_all_rules` records errors, and `into_errors` sorts them by position.
#[test]
fn mistakes_come_in_the_order_of_the_document() {
    let _contract = contract("`validation::visit_all_rules` and the order of `into_errors`");
    let wrong = judged("{ second: nothing first: nowhere }\nfragment F on Query { old }");
    let lines: Vec<_> = wrong.iter().map(|error| error.locations()[0].index()).collect();
    assert!(lines.len() == 3 && lines.is_sorted(), "{wrong:?}");
}

/// The rule for overlapping fields runs only if the other rules found no error.
#[test]
fn overlapping_fields_are_looked_at_last() {
    let _contract = contract("`validation::visit_all_rules`");
    let overlap = "a: item(first: 1) { name } a: item(first: 2) { name }";
    assert_eq!(messages(&format!("{{ {overlap} }}")).len(), 1);
    let both = messages(&format!("{{ {overlap} nothing }}"));
    assert_eq!(both.len(), 1, "{both:?}");
    assert!(both[0].contains("nothing"));
}

/// Message and locations (declaration and use) of the error about a variable at a position of
/// another type. juniper ignores that an argument with a default may be omitted.
#[test]
fn a_variable_at_a_place_with_a_default_is_refused_by_juniper() {
    let _contract = contract("the words and places of `RuleError`");
    let text = "query ($n: Int) { item(first: $n) { name } }";
    let wrong = judged(text);
    let [error] = wrong.as_slice() else {
        panic!("{wrong:?}")
    };
    assert!(error.message().contains("used in position expecting type"));
    let places: Vec<_> = error.locations().iter().map(|place| place.index()).collect();
    assert_eq!(places, [text.find("$n").unwrap(), text.rfind("$n").unwrap()]);
    assert!(ours(text).is_empty());
}

/// juniper accepts a `null` default for a non-null position.
#[test]
fn a_default_of_null_is_let_through_by_juniper() {
    let _contract = contract("the rules for defaults");
    let text = "query ($n: Int = null) { item(first: $n) { name } }";
    assert!(messages(text).is_empty());
    // the position has a default, so the argument may be omitted
    assert!(ours(text).is_empty());
    let text = "query ($s: Boolean = null) { old @skip(if: $s) }";
    assert!(messages(text).is_empty());
    assert_eq!(ours(text).len(), 1);
}

/// juniper's rules for defaults panic on an unknown type.
#[test]
fn a_default_of_an_unknown_type_is_a_panic_of_juniper() {
    let _contract = contract("the rules for defaults");
    let text = "query ($n: Nothing = 1) { old }";
    assert!(catch_unwind(AssertUnwindSafe(|| judged(text))).is_err());
    assert_eq!(ours(text), ["Unknown type \"Nothing\""]);
}

/// juniper does not check that a directive is unique at its location.
#[test]
fn a_directive_that_stands_twice_is_let_through_by_juniper() {
    let _contract = contract("the rules for directives");
    let text = "{ old @skip(if: false) @skip(if: true) }";
    assert!(messages(text).is_empty());
    assert_eq!(ours(text).len(), 1);
}
