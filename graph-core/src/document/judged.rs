//! Verdicts of npm `graphql` on documents (`tests/oracle/documents.mjs`), compared with ours.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use juniper::Variables;
use serde_json::Value;

use super::operation::{OperationTree, parsed};
use super::parse::{Lines, ParseLimits, parse};
use super::validate::validate;
use super::{coerce, definitions};
use crate::schema::Schema;

/// First error of a document: the message, and lines with columns.
type First = (String, Vec<(usize, usize)>);

/// Rules of the specification that graphql-js 16 lacks: it accepts a nullable variable in a
/// non-null `@oneOf` object, and conditions at the root of a subscription.
const STRICTER: [&str; 2] = [
    "but must be non-nullable to be used for OneOf Input Object",
    "must not use `@skip` or `@include` directives in the top level selection",
];

fn is_stricter(message: &str) -> bool {
    STRICTER.iter().any(|known| message.contains(known))
}

fn ours(schema: &Schema, text: &str) -> Option<First> {
    let limits = ParseLimits {
        tokens: 1_000_000,
        depth: 500,
    };
    let lines = Lines::new(text);
    let placed = |message: String, at: Vec<u32>| {
        let places = at.into_iter().map(|at| lines.location(at));
        let places = places.map(|place| (place.line, place.column));
        (message, places.collect())
    };
    match parse(text, limits) {
        Err(error) => Some(placed(format!("Syntax Error: {}", error.message), vec![error.at])),
        Ok(ast) => {
            let mistakes = validate(schema, &ast).into_iter();
            let mut mistakes = mistakes.filter(|mistake| !is_stricter(&mistake.message));
            let first = mistakes.next()?;
            Some(placed(first.message, first.at))
        }
    }
}

fn theirs(error: &Value) -> Option<First> {
    let places = error["locations"].as_array().into_iter().flatten();
    let number = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
    let places = places.map(|place| (number(&place[0]), number(&place[1])));
    let message = error["message"].as_str()?;
    (!is_stricter(message)).then(|| (message.to_owned(), places.collect()))
}

/// First error of the variables of a valid document.
fn of_variables(schema: &Schema, text: &str, variables: &Value) -> Option<First> {
    let limits = ParseLimits {
        tokens: 1_000_000,
        depth: 64,
    };
    let ast = parsed(text, limits).unwrap();
    let tree = OperationTree::new(&ast, None).unwrap();
    let declared = definitions(schema, &tree);
    let given: Variables = serde_json::from_value(variables.clone()).unwrap();
    let refused = coerce(schema, &declared, &given).err()?;
    let first = refused.errors().first()?;
    let places = first.locations().iter().map(|place| (place.line, place.column));
    Some((first.message().to_owned(), places.collect()))
}

/// Compares every document of a file; returns the number of documents and the differences.
fn compared(path: &Path) -> (usize, Vec<String>) {
    let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (mut schema, mut documents, mut differences) = (None, 0, Vec::new());
    for line in BufReader::new(file).lines() {
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if let Some(introspection) = line.get("introspection") {
            schema = Some(Schema::foreign(&introspection["__schema"]));
            continue;
        }
        let (schema, text) = (schema.as_ref().unwrap(), line["document"].as_str().unwrap());
        documents += 1;
        let ours = match line.get("variables") {
            Some(variables) => of_variables(schema, text, variables),
            None => ours(schema, text),
        };
        let theirs = theirs(&line["error"]);
        let is_evaluated = line["error"]["thrown"] == true;
        // theirs is the first error that they have, and ours may be behind it
        let is_hidden = line["error"]["message"].as_str().is_some_and(is_stricter);
        // it evaluates conditions at the root of a subscription, and stops at an invalid one
        if ours != theirs && !is_hidden && !is_evaluated {
            differences.push(format!("{text:?}\n  ours:   {ours:?}\n  theirs: {theirs:?}"));
        }
    }
    (documents, differences)
}

#[expect(clippy::disallowed_methods, reason = "a test is its own host")]
fn check_generated(name: &str, least: usize) {
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "../target".to_owned());
    check(&Path::new(&target).join("tmp").join(name), least);
}

fn check(path: &Path, least: usize) {
    let (documents, differences) = compared(path);
    for difference in differences.iter().take(20) {
        println!("{difference}");
    }
    assert!(documents >= least, "only {documents} documents");
    assert!(
        differences.is_empty(),
        "{} of {documents} documents are judged differently",
        differences.len()
    );
}

/// G21: hand-written documents are accepted and refused as by graphql-js, with the same first
/// error.
#[test]
fn hand_written_documents_are_judged_as_by_graphql_js() {
    let vectors = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/oracle/vectors/documents.jsonl"
    );
    check(Path::new(vectors), 800);
}

/// G21: the same for generated documents.
#[test]
#[ignore = "needs the documents of tests/oracle/run"]
fn fixed_documents_are_judged_as_by_graphql_js() {
    check_generated("documents.jsonl", 20_000);
}

/// G21: as before, with the seed of the hour.
#[test]
#[ignore = "needs the documents of tests/oracle/run"]
fn fresh_documents_are_judged_as_by_graphql_js() {
    check_generated("documents-fresh.jsonl", 5_000);
}
