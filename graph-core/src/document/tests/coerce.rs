//! Variable coercion, compared with juniper's and with the expected shape.

use juniper::meta::MetaType;
use juniper::parser::{Spanning, parse_document_source};
use juniper::validation::validate_input_values;
use juniper::{DefaultScalarValue, Definition, InputValue, Variables, graphql_input_value};
use proptest::prelude::*;

use super::Graph;
use crate::compat::TypeRef;
use crate::compat::syntax::{Syntax, narrow};
use crate::document::{coerce, definitions};

/// Operation with an unused variable of type `ty`: a validation error, but not one of the value.
fn operation(ty: &str) -> String {
    format!("query ($v: {ty}) {{ user {{ id }} }}")
}

fn syntax<'t>(graph: &Graph, text: &'t str) -> Syntax<'t> {
    narrow(parse_document_source(text, &graph.root.schema).unwrap(), None).unwrap()
}

/// Coerced `value` of a variable of type `ty`, or the error messages.
fn coerced(graph: &Graph, ty: &str, value: Option<&InputValue>) -> Result<Option<InputValue>, Vec<String>> {
    let text = operation(ty);
    let defined = definitions(&syntax(graph, &text));
    let given: Variables = value
        .map(|value| ("v".to_owned(), value.clone()))
        .into_iter()
        .collect();
    match coerce(&graph.root.schema, &defined, &given) {
        Ok(variables) => Ok(variables.get("v").cloned()),
        Err(refused) => Err(refused
            .errors()
            .iter()
            .map(|error| error.message().to_owned())
            .collect()),
    }
}

/// juniper's messages for the same value.
fn theirs(graph: &Graph, ty: &str, value: &InputValue) -> Vec<String> {
    let text = operation(ty);
    let document = parse_document_source(&text, &graph.root.schema).unwrap();
    let Some(Definition::Operation(operation)) = document.first() else {
        panic!("an operation");
    };
    let given: Variables = [("v".to_owned(), value.clone())].into_iter().collect();
    let found = validate_input_values(&given, operation, &graph.root.schema);
    found.iter().map(|error| error.message().to_owned()).collect()
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
        &["was not provided"],
    );
    refused(
        "Int",
        Some(graphql_input_value!("1")),
        &["Expected input scalar `Int`"],
    );
    refused("Int", Some(graphql_input_value!([1])), &["`Int`"]);
    refused(
        "[Int!]",
        Some(graphql_input_value!([1, null, "x"])),
        &["In element #1: Expected \"Int!\", found null", "In element #2: "],
    );
    refused(
        "Color",
        Some(graphql_input_value!("GREEN")),
        &["Invalid value for enum \"Color\""],
    );
    refused(
        "Color",
        Some(graphql_input_value!(1)),
        &["found not a string or enum"],
    );
    refused("ID", Some(InputValue::scalar(0.5)), &["`ID`"]);
    refused("ID", Some(InputValue::scalar(1e300)), &["`ID`"]);
    refused(
        "Inner",
        Some(graphql_input_value!(1)),
        &["Expected \"Inner\", found not an object"],
    );
    refused(
        "Inner",
        Some(graphql_input_value!({ "a": null })),
        &["In field \"a\": Expected \"Int!\", found null"],
    );
    refused(
        "Outer",
        Some(graphql_input_value!({ "list": [{ "a": "x", "zzz": 1 }], "color": "PINK" })),
        &[
            "In field \"id\": Expected \"ID!\", found null",
            "In field \"list\": In element #0: In field \"a\": Expected input scalar `Int`",
            "In field \"list\": In element #0: In field \"zzz\": Unknown field",
            "In field \"color\": Invalid value for enum",
            "In field \"flag\": Expected \"Boolean!\", found null",
        ],
    );
}

/// Returns `true` if `value` has the shape of the type `ty`.
fn conforms(graph: &Graph, ty: &TypeRef, value: &InputValue) -> bool {
    match (ty, value) {
        (TypeRef::NonNull(inner), value) => !value.is_null() && conforms(graph, inner, value),
        (_, InputValue::Null) => true,
        (TypeRef::List(inner), InputValue::List(values)) => {
            values.iter().all(|value| conforms(graph, inner, &value.item))
        }
        (TypeRef::List(_), _) => false,
        (TypeRef::Named(name), value) => match graph.root.schema.concrete_type_by_name(name) {
            Some(MetaType::Enum(_)) => {
                matches!(value, InputValue::Enum(name) if name == "RED" || name == "BLUE")
            }
            Some(MetaType::InputObject(object)) => {
                let InputValue::Object(given) = value else {
                    return false;
                };
                let known = |name: &str| object.input_fields.iter().any(|field| field.name == *name);
                given.iter().all(|(name, _)| known(&name.item))
                    && object.input_fields.iter().all(|field| {
                        let ty = TypeRef::new(&field.arg_type);
                        match given.iter().find(|(name, _)| field.name == *name.item) {
                            Some((_, value)) => conforms(graph, &ty, &value.item),
                            None => !matches!(ty, TypeRef::NonNull(_)) || field.default_value.is_some(),
                        }
                    })
            }
            _ => matches!(value, InputValue::Scalar(_)),
        },
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

/// Known deviation of juniper: a missing field that has a default.
fn is_wrong(message: &str) -> bool {
    message.ends_with("In field \"a\": Expected \"Int!\", found null.")
}

fn beside_juniper(graph: &Graph, ty: &str, value: &InputValue) -> Result<(), TestCaseError> {
    let theirs = theirs(graph, ty, value);
    let ours = coerced(graph, ty, Some(value));
    let messages = ours.as_ref().err().cloned().unwrap_or_default();
    for message in &messages {
        prop_assert!(theirs.contains(message), "{}: {}: {}", ty, value, message);
    }
    for message in theirs.iter().filter(|message| !is_wrong(message)) {
        prop_assert!(messages.contains(message), "{}: {}: {}", ty, value, message);
    }
    let Ok(Some(coerced_once)) = ours else {
        return Ok(());
    };
    let text = operation(ty);
    prop_assert!(
        conforms(
            graph,
            &syntax(graph, &text).operation.variables["v"].ty,
            &coerced_once
        ),
        "{}: {}",
        ty,
        coerced_once
    );
    // the result is itself a valid value of the type
    prop_assert_eq!(
        coerced(graph, ty, Some(&coerced_once)),
        Ok(Some(coerced_once.clone()))
    );
    Ok(())
}

proptest! {
    /// G3, G7: every value is refused when juniper refuses it, with the same message, except for
    /// juniper's known deviation. Accepted values have the shape of their type.
    #[test]
    fn any_value_is_judged_as_juniper_judges_it(ty in ty(), value in value()) {
        beside_juniper(&Graph::new(), &ty, &value)?;
    }

    /// G3, G7: the same for values that are nearly valid.
    #[test]
    fn a_value_that_nearly_fits_is_judged_as_juniper_judges_it(value in outer()) {
        let graph = Graph::new();
        prop_assert!(graph.has_input("Outer"));
        for ty in ["Outer", "Outer!", "[Outer]", "[[Outer!]!]!"] {
            beside_juniper(&graph, ty, &value)?;
        }
    }
}
