use juniper::parser::{ParseError, parse_document_source};
use juniper::{Definition, InputValue, Selection, Type};

use super::{contract, root};
use crate::compat::syntax::{Field, Selection as Ours, TypeRef, narrow};

fn refused(text: &str, root: &super::Root) -> ParseError {
    parse_document_source(text, &root.schema).unwrap_err().item
}

/// `parse_document_source` types a literal by its position: an integer becomes a float at a `Float`
/// position, but stays an integer at an `ID` position.
#[test]
fn literals_have_the_type_of_their_place() {
    let _contract = contract("`parser::parse_document_source`");
    let root = root();
    let document = parse_document_source("{ item(id: 12, ratio: 1, first: 3) { name } }", &root.schema);
    let syntax = narrow(document.unwrap(), None).unwrap();
    let [Ours::Field(field)] = syntax.operation.selections.as_slice() else {
        panic!("a field");
    };
    assert_eq!(field.argument("id"), Some(&InputValue::scalar(12)));
    assert_eq!(field.argument("ratio"), Some(&InputValue::scalar(1.0)));
    assert_eq!(field.argument("first"), Some(&InputValue::scalar(3)));
}

/// The parser enforces `limit_tokens`, `limit_fields` and `limit_depth` of a schema, each with its
/// own error.
#[test]
fn the_parser_keeps_the_limits_of_the_schema() {
    let _contract = contract("the limits of `parser::parse_document_source`");
    let fragments = "{ ...A ...A } fragment A on Query { ...B ...B } fragment B on Query { old }";
    assert!(matches!(
        refused("{ old old old }", &root().limit_tokens(4)),
        ParseError::TokenLimitExceeded(4)
    ));
    assert!(matches!(
        refused(fragments, &root().limit_fields(3)),
        ParseError::FieldLimitExceeded(3)
    ));
    assert!(matches!(
        refused("{ item { name } }", &root().limit_depth(1)),
        ParseError::DepthLimitExceeded(1)
    ));
    let chain = "{ ...A } fragment A on Query { ...B } fragment B on Query { old }";
    assert!(matches!(
        refused(chain, &root().limit_depth(2)),
        ParseError::DepthLimitExceeded(2)
    ));
}

/// A position counts characters from 0 in the text and in the line; the end of a span is exclusive.
#[test]
fn positions_count_characters() {
    let _contract = contract("`parser::SourcePosition` and `Span`");
    let root = root();
    let text = "# Grüße 🦀\nquery ($e: Int = 1) { old }";
    let document = parse_document_source(text, &root.schema).unwrap();
    let Some(Definition::Operation(operation)) = document.first() else {
        panic!("an operation");
    };
    let variables = &operation.item.variables_definition.as_ref().unwrap().item.items;
    let (name, variable) = &variables[0];
    let before = "# Grüße 🦀\nquery (".chars().count();
    assert_eq!(
        (
            name.span.start.index(),
            name.span.start.line(),
            name.span.start.column()
        ),
        (before, 1, 7)
    );
    let end = variable.var_type.span.end.index();
    assert_eq!(
        text.chars().take(end).collect::<String>(),
        "# Grüße 🦀\nquery ($e: Int"
    );
    let default = variable.default_value.as_ref().unwrap();
    assert_eq!(text.chars().nth(default.span.end.index()), Some(')'));
}

/// `Type::modifiers` lists the innermost modifier first, in a document and in a schema.
#[test]
fn modifiers_stand_from_the_inside_out() {
    let _contract = contract("`Type::modifiers`");
    let sample: Type = Type::nullable("Int").wrap_non_null().wrap_list(None);
    assert_eq!(TypeRef::new(&sample).to_string(), "[Int!]");
    let root = root();
    let document = parse_document_source("query ($m: [[Int!]]!) { old }", &root.schema).unwrap();
    let syntax = narrow(document, None).unwrap();
    assert_eq!(syntax.operation.variables["m"].ty.to_string(), "[[Int!]]!");
    let item = root.schema.concrete_type_by_name("Item").unwrap();
    let matrix = &item.field_by_name("matrix").unwrap().field_type;
    assert_eq!(
        (TypeRef::new(matrix).to_string().as_str(), matrix.innermost_name()),
        ("[[Int!]]!", "Int")
    );
}

/// The tree has every part of an operation in the fields that `narrow` reads.
#[test]
fn the_tree_has_every_part_of_an_operation() {
    let _contract = contract("`Definition` and `Selection`");
    let text = "query Q($s: Boolean!) { a: item(first: 1) @skip(if: $s) { ...F ... on Named @include(if: true) { name } ... { name } } }
        fragment F on Item { matrix }";
    let root = root();
    let document = parse_document_source(text, &root.schema).unwrap();
    let kinds: Vec<_> = document
        .iter()
        .map(|definition| match definition {
            Definition::Operation(operation) => operation.item.name.as_ref().map(|name| name.item),
            Definition::Fragment(fragment) => Some(fragment.item.name.item),
        })
        .collect();
    assert_eq!(kinds, [Some("Q"), Some("F")]);
    let Some(Definition::Operation(operation)) = document.first() else {
        panic!("an operation");
    };
    let [Selection::Field(field)] = operation.item.selection_set.as_slice() else {
        panic!("a field");
    };
    assert_eq!(field.span.start.column(), "query Q($s: Boolean!) { ".len());

    let syntax = narrow(document, Some("Q")).unwrap();
    let [
        Ours::Field(Field {
            alias,
            name,
            arguments,
            conditions,
            selections,
            ..
        }),
    ] = syntax.operation.selections.as_slice()
    else {
        panic!("a field");
    };
    assert_eq!((*alias, *name, arguments.len()), (Some("a"), "item", 1));
    assert!(!conditions[0].wanted && conditions[0].value == InputValue::variable("s"));
    let [
        Ours::Spread { name, .. },
        Ours::Inline { on, conditions, .. },
        Ours::Inline { on: none, .. },
    ] = selections.as_slice()
    else {
        panic!("{selections:?}");
    };
    assert_eq!((*name, *on, *none), ("F", Some("Named"), None));
    assert!(conditions[0].wanted && conditions[0].value == InputValue::scalar(true));
    assert_eq!(syntax.fragments["F"].on, "Item");
}
