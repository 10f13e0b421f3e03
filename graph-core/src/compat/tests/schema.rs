use juniper::meta::MetaType;
use juniper::{InputValue, IntrospectionFormat};

use super::{contract, root};
use crate::compat::{has_field, implementers, introspected, take_introspection};

/// The fields of a `RootNode` can be moved out and reassembled; the schema stays the same.
#[test]
fn a_root_node_can_be_taken_apart() {
    let _contract = contract("the fields of `RootNode`");
    let (theirs, _) = juniper::introspect(&root(), &(), IntrospectionFormat::All).unwrap();
    let (again, answer) = introspected(root());
    assert_eq!(serde_json::to_value(theirs).unwrap(), answer);
    assert!(
        has_field(&again, "Query.item") && !has_field(&again, "Query.nothing") && !has_field(&again, "Query")
    );
}

/// `IntrospectionFormat::All` includes deprecated items and the defaults of input fields.
#[test]
fn introspection_of_all_leaves_nothing_out() {
    let _contract = contract("`introspect`");
    let (_, answer) = introspected(root());
    let types = answer["__schema"]["types"].as_array().unwrap();
    let named = |name: &str| types.iter().find(|ty| ty["name"] == name).unwrap();
    let fields = named("Query")["fields"].as_array().unwrap();
    let old = fields.iter().find(|field| field["name"] == "old").unwrap();
    assert_eq!(
        (&old["isDeprecated"], &old["deprecationReason"]),
        (&true.into(), &"gone".into())
    );
    assert_eq!(named("Window")["inputFields"][0]["defaultValue"], "7");
    assert_eq!(named("Named")["possibleTypes"][0]["name"], "Item");
}

/// A root node has a public flag that disables introspection.
#[test]
fn introspection_can_be_taken_out_of_its_hands() {
    let _contract = contract("`RootNode::introspection_disabled`");
    let (open, enabled) = take_introspection(root());
    assert!(enabled && !open.introspection_disabled);
    let (open, enabled) = take_introspection(root().disable_introspection());
    assert!(!enabled && !open.introspection_disabled);
}

/// The metadata contains arguments with types and defaults, interfaces of objects, objects of
/// interfaces, enum values, and the parser of every input type.
#[test]
fn the_meta_data_of_a_schema_is_there() {
    let _contract = contract("`meta`, `MetaType` and `SchemaType`");
    let root = root();
    let item = root.schema.concrete_query_type().field_by_name("item").unwrap();
    let first = &item.arguments.as_ref().unwrap()[0];
    assert_eq!(
        (first.name.as_str(), &first.default_value),
        ("first", &Some(InputValue::scalar(3)))
    );
    let objects = implementers(&root);
    assert_eq!(objects["Named"], ["Item"]);
    let named = root.schema.concrete_type_by_name("Named").unwrap();
    assert!(named.is_abstract() && named.is_composite());
    let possible: Vec<_> = root
        .schema
        .possible_types(named)
        .iter()
        .map(|ty| ty.name().unwrap().to_string())
        .collect();
    assert_eq!(possible, ["Item"]);
    assert!(root.schema.is_named_subtype("Item", "Named") && !root.schema.is_named_subtype("Named", "Item"));
    let Some(MetaType::Enum(color)) = root.schema.concrete_type_by_name("Color") else {
        panic!("an enum");
    };
    assert!(
        color
            .values
            .iter()
            .map(|value| value.name.as_str())
            .eq(["RED", "BLUE"])
    );
    let Some(window @ MetaType::InputObject(fields)) = root.schema.concrete_type_by_name("Window") else {
        panic!("an input object");
    };
    assert!(
        fields
            .input_fields
            .iter()
            .map(|field| field.name.as_str())
            .eq(["size", "colors"])
    );
    let parse = window.input_value_parse_fn().unwrap();
    assert!(parse(&InputValue::Object(Vec::new())).is_ok() && parse(&InputValue::scalar(1)).is_err());
}
