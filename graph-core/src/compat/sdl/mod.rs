//! Prints the schema in the
//! [schema definition language](https://spec.graphql.org/September2025/#sec-Type-System).
//!
//! The text is sorted by name and formatted like graphql-js's printer, so it changes only with the
//! schema. juniper's own printer panics on types and values that it does not support.

mod text;

use std::collections::BTreeMap;

use juniper::meta::{Argument, DeprecationStatus, EnumMeta, Field, InputObjectMeta, MetaType};
use juniper::{ArcStr, DefaultScalarValue, InputValue, SchemaType};

use self::text::{described, quoted};
use super::{Scalar, TypeRef};

type Schema = SchemaType<Scalar>;

/// Prints the definitions of `schema` that are not built in.
pub(crate) fn sdl(schema: &Schema) -> String {
    let types = schema.concrete_type_list().into_iter();
    let types = types.filter(|ty| !ty.is_builtin());
    let types: BTreeMap<_, _> = types.filter_map(|ty| Some((ty.name()?.as_str(), ty))).collect();
    let mut text = roots(schema);
    for definition in types.values().filter_map(|ty| definition(ty)) {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&definition);
    }
    text
}

/// Prints the `schema` definition. Empty if every root type has its default name.
fn roots(schema: &Schema) -> String {
    let roots = [
        ("query", "Query", Some(schema.concrete_query_type())),
        ("mutation", "Mutation", schema.concrete_mutation_type()),
        (
            "subscription",
            "Subscription",
            schema.concrete_subscription_type(),
        ),
    ];
    let named = roots.into_iter().filter_map(|(kind, usual, ty)| {
        let name = ty?.name()?.as_str();
        Some((kind, name, name == usual))
    });
    let named: Vec<_> = named.collect();
    if named.iter().all(|(_, _, usual)| *usual) {
        return String::new();
    }
    let lines = named.iter().map(|(kind, name, _)| format!("  {kind}: {name}\n"));
    format!("schema {{\n{}}}\n", lines.collect::<String>())
}

fn definition(ty: &MetaType<Scalar>) -> Option<String> {
    let mut text = String::new();
    described(ty.description(), "", true, &mut text);
    let name = ty.name()?;
    match ty {
        MetaType::Scalar(scalar) => {
            text.push_str(&format!("scalar {name}"));
            if let Some(url) = &scalar.specified_by_url {
                text.push_str(&format!(" @specifiedBy(url: {})", quoted(url)));
            }
        }
        MetaType::Object(object) => {
            text.push_str(&format!(
                "type {name}{}",
                list(" implements ", &object.interface_names, " & ")
            ));
            fields(&object.fields, &mut text);
        }
        MetaType::Interface(interface) => {
            text.push_str(&format!(
                "interface {name}{}",
                list(" implements ", &interface.interface_names, " & ")
            ));
            fields(&interface.fields, &mut text);
        }
        MetaType::Union(union) => {
            text.push_str(&format!(
                "union {name}{}",
                list(" = ", &union.of_type_names, " | ")
            ));
        }
        MetaType::Enum(meta) => enumeration(name, meta, &mut text),
        MetaType::InputObject(meta) => input(name, meta, &mut text),
        MetaType::List(_) | MetaType::Nullable(_) | MetaType::Placeholder(_) => return None,
    }
    text.push('\n');
    Some(text)
}

/// `before` and the sorted `names`, separated by `between`. Empty without names.
fn list(before: &str, names: &[ArcStr], between: &str) -> String {
    let mut names: Vec<&str> = names.iter().map(ArcStr::as_str).collect();
    if names.is_empty() {
        return String::new();
    }
    names.sort_unstable();
    format!("{before}{}", names.join(between))
}

/// `all` sorted by name, without built-in items (`__` prefix).
fn sorted<T>(all: &[T], name: impl Fn(&T) -> &str) -> Vec<&T> {
    let mut all: Vec<_> = all.iter().filter(|one| !name(one).starts_with("__")).collect();
    all.sort_by(|one, other| name(one).cmp(name(other)));
    all
}

fn fields(all: &[Field<Scalar>], text: &mut String) {
    let all = sorted(all, |field| &field.name);
    block(&all, text, |field, first, text| {
        described(field.description.as_ref(), "  ", first, text);
        text.push_str(&format!("  {}", field.name));
        arguments(field.arguments.as_deref().unwrap_or_default(), text);
        text.push_str(&format!(": {}", TypeRef::new(&field.field_type)));
        deprecated(&field.deprecation_status, text);
    });
}

fn enumeration(name: &str, meta: &EnumMeta<Scalar>, text: &mut String) {
    text.push_str(&format!("enum {name}"));
    let values = sorted(&meta.values, |value| &value.name);
    block(&values, text, |value, first, text| {
        described(value.description.as_ref(), "  ", first, text);
        text.push_str(&format!("  {}", value.name));
        deprecated(&value.deprecation_status, text);
    });
}

fn input(name: &str, meta: &InputObjectMeta<Scalar>, text: &mut String) {
    text.push_str(&format!("input {name}"));
    if meta.is_one_of {
        text.push_str(" @oneOf");
    }
    let fields = sorted(&meta.input_fields, |field| &field.name);
    block(&fields, text, |field, first, text| {
        described(field.description.as_ref(), "  ", first, text);
        text.push_str("  ");
        argument(field, text);
    });
}

fn block<T>(all: &[&T], text: &mut String, write: impl Fn(&T, bool, &mut String)) {
    if all.is_empty() {
        return;
    }
    text.push_str(" {\n");
    for (at, one) in all.iter().enumerate() {
        write(one, at == 0, text);
        text.push('\n');
    }
    text.push('}');
}

/// Writes the arguments on one line, or one per line if an argument has a description.
fn arguments(all: &[Argument<Scalar>], text: &mut String) {
    let all = sorted(all, |argument| &argument.name);
    if all.is_empty() {
        return;
    }
    let lines = all.iter().any(|argument| argument.description.is_some());
    text.push_str(if lines { "(\n" } else { "(" });
    for (at, one) in all.iter().enumerate() {
        match (lines, at) {
            (true, _) => {
                described(one.description.as_ref(), "    ", at == 0, text);
                text.push_str("    ");
            }
            (false, 0) => {}
            (false, _) => text.push_str(", "),
        }
        argument(one, text);
        if lines {
            text.push('\n');
        }
    }
    text.push_str(if lines { "  )" } else { ")" });
}

fn argument(argument: &Argument<Scalar>, text: &mut String) {
    text.push_str(&format!(
        "{}: {}",
        argument.name,
        TypeRef::new(&argument.arg_type)
    ));
    if let Some(default) = &argument.default_value {
        text.push_str(" = ");
        value(default, text);
    }
    deprecated(&argument.deprecation_status, text);
}

fn deprecated(status: &DeprecationStatus, text: &mut String) {
    match status {
        DeprecationStatus::Current => {}
        DeprecationStatus::Deprecated(Some(reason)) if reason != "No longer supported" => {
            text.push_str(&format!(" @deprecated(reason: {})", quoted(reason)));
        }
        DeprecationStatus::Deprecated(_) => text.push_str(" @deprecated"),
    }
}

fn value(default: &InputValue, text: &mut String) {
    match default {
        InputValue::Null => text.push_str("null"),
        InputValue::Scalar(DefaultScalarValue::Int(number)) => text.push_str(&number.to_string()),
        InputValue::Scalar(DefaultScalarValue::Float(number)) => text.push_str(&number.to_string()),
        InputValue::Scalar(DefaultScalarValue::String(string)) => text.push_str(&quoted(string)),
        InputValue::Scalar(DefaultScalarValue::Boolean(truth)) => text.push_str(&truth.to_string()),
        InputValue::Enum(name) | InputValue::Variable(name) => text.push_str(name),
        InputValue::List(values) => {
            text.push('[');
            for (at, one) in values.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { ", " });
                value(&one.item, text);
            }
            text.push(']');
        }
        InputValue::Object(fields) => {
            text.push('{');
            for (at, (name, one)) in fields.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { ", " });
                text.push_str(&format!("{}: ", name.item));
                value(&one.item, text);
            }
            text.push('}');
        }
    }
}
