//! Variable coercion.

use juniper::parser::Spanning;
use juniper::{DefaultScalarValue, InputValue, Variables, graphql_input_value};
use proptest::prelude::*;

use super::{Graph, LIMITS};
use crate::document::operation::{OperationTree, parsed};
use crate::document::variables::VariableDefinition;
use crate::document::{coerce, definitions};
use crate::schema::{TypeKind, TypeRef};

/// Operation with an unused variable of type `ty`: a validation error, but not one of the value.
fn operation(ty: &str) -> String {
    format!("query ($v: {ty}) {{ user {{ id }} }}")
}

/// Variable `v` of type `ty`, perhaps with a default.
fn declared(graph: &Graph, ty: &str) -> Box<[VariableDefinition]> {
    let text = operation(ty);
    let ast = parsed(&text, LIMITS).unwrap();
    definitions(&graph.schema, &OperationTree::new(&ast, None).unwrap())
}

/// Coerced `value` of a variable of type `ty`, or the error messages.
fn coerced(graph: &Graph, ty: &str, value: Option<&InputValue>) -> Result<Option<InputValue>, Vec<String>> {
    let defined = declared(graph, ty);
    let given: Variables = value
        .map(|value| ("v".to_owned(), value.clone()))
        .into_iter()
        .collect();
    match coerce(&graph.schema, &defined, &given) {
        Ok(variables) => Ok(variables.get("v").cloned()),
        Err(refused) => Err(refused
            .errors()
            .iter()
            .map(|error| error.message().to_owned())
            .collect()),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the macros make values")]
fn ok(ty: &str, value: InputValue, expected: InputValue) {
    assert_eq!(
        coerced(&Graph::new(), ty, Some(&value)),
        Ok(Some(expected)),
        "{ty}: {value}"
    );
}

#[expect(clippy::needless_pass_by_value, reason = "the macros make values")]
fn refused(ty: &str, value: Option<InputValue>, expected: &[&str]) {
    let messages = coerced(&Graph::new(), ty, value.as_ref()).unwrap_err();
    assert_eq!(messages.len(), expected.len(), "{messages:?}");
    for (message, expected) in messages.iter().zip(expected) {
        assert!(message.contains(expected), "{message}");
    }
}

/// G7: coerced form of valid values.
#[test]
fn a_value_becomes_one_of_its_type() {
    ok("Int", graphql_input_value!(1), graphql_input_value!(1));
    ok("Int", graphql_input_value!(null), graphql_input_value!(null));
    ok("[Int]", graphql_input_value!(1), graphql_input_value!([1]));
    ok("[[Int]]", graphql_input_value!(1), graphql_input_value!([[1]]));
    ok(
        "[[Int]]",
        graphql_input_value!([null, [1, null]]),
        graphql_input_value!([null, [1, null]]),
    );
    ok("[Int!]!", graphql_input_value!([]), graphql_input_value!([]));
    ok("ID", graphql_input_value!(5), graphql_input_value!(5));
    ok(
        "ID",
        InputValue::scalar(9_007_199_254_740_991.0),
        graphql_input_value!("9007199254740991"),
    );
    ok(
        "Color",
        graphql_input_value!("RED"),
        InputValue::enum_value("RED"),
    );
    ok(
        "[Color!]",
        graphql_input_value!("BLUE"),
        InputValue::list(vec![InputValue::enum_value("BLUE")]),
    );
    ok("Inner", graphql_input_value!({}), graphql_input_value!({}));
    ok(
        "Inner",
        graphql_input_value!({ "b": null }),
        graphql_input_value!({ "b": null }),
    );
    ok(
        "Outer",
        graphql_input_value!({ "id": 1, "list": { "a": 2 }, "flag": true }),
        graphql_input_value!({ "id": 1, "list": [{ "a": 2 }], "flag": true }),
    );
    assert_eq!(coerced(&Graph::new(), "Int", None), Ok(None));
    assert_eq!(
        coerced(&Graph::new(), "Int = 4", None),
        Ok(Some(graphql_input_value!(4)))
    );
    assert_eq!(
        coerced(&Graph::new(), "Int! = 4", None),
        Ok(Some(graphql_input_value!(4)))
    );
}

/// G3, G7: all invalid parts of a value are reported, each with its position.
#[test]
fn what_is_no_value_of_its_type_is_refused_with_its_place() {
    refused("Int!", None, &["of required type \"Int!\" was not provided"]);
    refused(
        "Int! = 4",
        Some(graphql_input_value!(null)),
        &["Variable \"$v\" of non-null type \"Int!\" must not be null."],
    );
    refused(
        "Int",
        Some(graphql_input_value!("1")),
        &["Variable \"$v\" got invalid value \"1\"; Int cannot represent non-integer value: \"1\""],
    );
    refused(
        "Int",
        Some(graphql_input_value!([1])),
        &["got invalid value [1]; Int cannot"],
    );
    refused("Int", Some(InputValue::scalar(1.5)), &["non-integer value: 1.5"]);
    refused(
        "Int",
        Some(InputValue::scalar(3e9)),
        &["Int cannot represent non 32-bit signed integer value: 3000000000"],
    );
    refused(
        "[Int!]",
        Some(graphql_input_value!([1, null, "x"])),
        &[
            "got invalid value null at \"v[1]\"; Expected non-nullable type \"Int!\" not to be null.",
            "got invalid value \"x\" at \"v[2]\"; ",
        ],
    );
    refused(
        "Color",
        Some(graphql_input_value!("GREEN")),
        &["; Value \"GREEN\" does not exist in \"Color\" enum."],
    );
    refused(
        "Color",
        Some(graphql_input_value!(1)),
        &["; Enum \"Color\" cannot represent non-string value: 1."],
    );
    refused(
        "ID",
        Some(InputValue::scalar(0.5)),
        &["; ID cannot represent value: 0.5"],
    );
    refused(
        "ID",
        Some(InputValue::scalar(1e300)),
        &["; ID cannot represent value: 1e+300"],
    );
}

/// G3, G7: the same for input objects.
#[test]
fn invalid_fields_of_objects_are_refused_with_their_place() {
    refused(
        "Inner",
        Some(graphql_input_value!(1)),
        &["; Expected type \"Inner\" to be an object."],
    );
    refused(
        "Inner",
        Some(graphql_input_value!({ "a": null })),
        &["got invalid value null at \"v.a\"; Expected non-nullable type \"Int!\" not to be null."],
    );
    refused(
        "Outer",
        Some(graphql_input_value!({ "list": [{ "a": "x", "zzz": 1 }], "color": "PINK" })),
        &[
            "; Field \"id\" of required type \"ID!\" was not provided.",
            "got invalid value \"x\" at \"v.list[0].a\"; Int cannot represent",
            "got invalid value { a: \"x\", zzz: 1 } at \"v.list[0]\"; Field \"zzz\" is not defined by type \"Inner\".",
            "at \"v.color\"; Value \"PINK\" does not exist in \"Color\" enum.",
            "; Field \"flag\" of required type \"Boolean!\" was not provided.",
        ],
    );
}

/// Returns `true` if `value` has the shape of the type `ty`.
fn conforms(graph: &Graph, ty: TypeRef, value: &InputValue) -> bool {
    if value.is_null() {
        return !ty.is_non_null();
    }
    if let Some(entry) = ty.entry() {
        return match value {
            InputValue::List(values) => values.iter().all(|value| conforms(graph, entry, &value.item)),
            _ => false,
        };
    }
    match (&graph.schema.type_at(ty.named).kind, value) {
        (TypeKind::Enum(_), InputValue::Enum(name)) => name == "RED" || name == "BLUE",
        (TypeKind::InputObject(object), InputValue::Object(given)) => {
            given
                .iter()
                .all(|(name, _)| object.fields.contains_key(name.item.as_str()))
                && object.fields.values().all(|field| {
                    match given.iter().find(|(name, _)| field.name == *name.item) {
                        Some((_, value)) => conforms(graph, field.ty, &value.item),
                        None => !field.is_required(),
                    }
                })
        }
        (TypeKind::Scalar(_), InputValue::Scalar(_)) => true,
        _ => false,
    }
}

fn ty() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![
        "Int", "Float", "String", "Boolean", "ID", "Color", "Inner", "Outer",
    ]);
    let wrap = prop::collection::vec(prop_oneof![Just("["), Just("!")], 0..5);
    (name, wrap).prop_map(|(name, wraps)| {
        let mut ty = name.to_owned();
        for wrap in wraps {
            match wrap {
                "[" => ty = format!("[{ty}]"),
                _ if ty.ends_with('!') => {}
                _ => ty.push('!'),
            }
        }
        ty
    })
}

fn object(fields: Vec<(&'static str, InputValue)>) -> InputValue {
    let mut seen = std::collections::HashSet::new();
    let fields = fields.into_iter().filter(|(name, _)| seen.insert(*name));
    let located = |(name, value): (&str, InputValue)| {
        (Spanning::unlocated(name.to_owned()), Spanning::unlocated(value))
    };
    InputValue::Object(fields.map(located).collect())
}

/// Arbitrary values with names that the types use.
fn value() -> impl Strategy<Value = InputValue> {
    let leaf = prop_oneof![
        Just(InputValue::Null),
        (-2..3).prop_map(InputValue::scalar),
        Just(InputValue::scalar(0.5)),
        any::<bool>().prop_map(InputValue::scalar),
        prop::sample::select(vec!["RED", "BLUE", "GREEN", ""])
            .prop_map(|text| InputValue::scalar(text.to_owned())),
    ];
    let names = prop::sample::select(vec!["a", "b", "id", "list", "color", "n", "flag", "zzz"]);
    leaf.prop_recursive(4, 30, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(InputValue::list),
            prop::collection::vec((names.clone(), inner), 0..7).prop_map(object),
        ]
    })
}

/// Mostly valid values: an outer object with the right fields.
fn outer() -> impl Strategy<Value = InputValue> {
    let inner = prop::collection::vec(
        prop_oneof![
            4 => (-2..3).prop_map(|a| ("a", InputValue::<DefaultScalarValue>::scalar(a))),
            4 => Just(("b", InputValue::scalar("x".to_owned()))),
            1 => value().prop_map(|value| ("a", value)),
        ],
        0..3,
    );
    let list = prop::collection::vec(inner.prop_map(object), 0..3).prop_map(InputValue::list);
    let color = prop::sample::select(vec!["RED", "BLUE", "RED", "GREEN"]);
    (
        list,
        color,
        any::<bool>(),
        prop::option::weighted(0.2, (prop::sample::select(vec!["id", "n", "zzz"]), value())),
    )
        .prop_map(|(list, color, flag, other)| {
            let mut fields = Vec::from_iter(other);
            fields.extend([
                ("id", InputValue::scalar("i".to_owned())),
                ("list", list),
                ("color", InputValue::scalar(color.to_owned())),
                ("flag", InputValue::scalar(flag)),
            ]);
            object(fields)
        })
}

/// Coerces `value` twice: a coerced value has the shape of its type, and is its own coercion.
fn once_and_again(graph: &Graph, ty: &str, value: &InputValue) -> Result<(), TestCaseError> {
    let coerced_once = match coerced(graph, ty, Some(value)) {
        Ok(Some(coerced)) => coerced,
        Ok(None) => return Ok(()),
        Err(messages) => {
            prop_assert!(!messages.is_empty());
            return Ok(());
        }
    };
    let declared = declared(graph, ty);
    prop_assert!(
        conforms(graph, declared[0].ty, &coerced_once),
        "{}: {}",
        ty,
        coerced_once
    );
    prop_assert_eq!(
        coerced(graph, ty, Some(&coerced_once)),
        Ok(Some(coerced_once.clone()))
    );
    Ok(())
}

proptest! {
    /// G3, G7: an accepted value has the shape of its type.
    #[test]
    fn accepted_value_has_the_shape_of_its_type(ty in ty(), value in value()) {
        once_and_again(&Graph::new(), &ty, &value)?;
    }

    /// G3, G7: the same for values that are nearly valid.
    #[test]
    fn value_that_nearly_fits_is_refused_or_shaped(value in outer()) {
        let graph = Graph::new();
        for ty in ["Outer", "Outer!", "[Outer]", "[[Outer!]!]!"] {
            once_and_again(&graph, ty, &value)?;
        }
    }
}
