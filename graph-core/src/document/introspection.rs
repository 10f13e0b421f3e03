//! [Introspection](https://spec.graphql.org/September2025/#sec-Schema-Introspection) at compile
//! time, from juniper's complete introspection result.

use std::collections::HashMap;

use juniper::{DefaultScalarValue, InputValue};
use serde_json::Value;

use super::collect::{Collector, Group, Set};
use super::parse::{Field, ValueKind};
use super::view::{View, Views};
use crate::executor::write;

/// Complete introspection result of a schema.
#[derive(Debug, Default)]
pub(crate) struct Introspection {
    pub(super) schema: Value,
    /// Indices into `__schema.types` by name.
    types: HashMap<String, usize>,
    pub(super) views: Views,
}

impl Introspection {
    /// Creates an `Introspection` from the value of `__schema` with all fields.
    pub(crate) fn new(schema: Value) -> Self {
        let types = schema.get("types").and_then(Value::as_array);
        let names = types.into_iter().flatten().zip(0..).filter_map(|(ty, at)| {
            let name = ty.get("name")?.as_str()?;
            Some((name.to_owned(), at))
        });
        let types = names.collect();
        Self {
            schema,
            types,
            views: Views::default(),
        }
    }

    fn type_named(&self, name: &str) -> &Value {
        let at = self.types.get(name);
        let found = at.and_then(|at| self.schema.get("types")?.get(at));
        found.unwrap_or(&Value::Null)
    }
}

/// Evaluates the introspection fields of one operation.
pub(super) struct Reader<'r, 't> {
    pub(super) introspection: &'r Introspection,
    pub(super) view: &'r View,
    pub(super) collector: &'r Collector<'r, 't>,
    /// `true` if an argument is a variable, so that the result is valid for these variables only.
    pub(super) depends: bool,
    /// Maximum bytes to write. A list that exceeds it is truncated, and the caller refuses it.
    pub(super) room: usize,
}

impl<'r, 't> Reader<'r, 't> {
    /// Value of the root field `__schema` or `__type` with the selection `sets`.
    pub(super) fn root(&mut self, field: &Field<'t>, sets: &[Set<'t>]) -> Vec<u8> {
        let introspection = self.introspection;
        let mut out = Vec::new();
        if field.name.text == "__schema" {
            self.value("__Schema", &introspection.schema, sets, &mut out);
            return out;
        }
        let name = self.name_argument(field);
        let name = name.as_str();
        let found = match introspection.type_named(name) {
            _ if self.view.hides(name) => &Value::Null,
            found => found,
        };
        self.value("__Type", found, sets, &mut out);
        out
    }

    fn argument(&mut self, field: &Field<'t>, name: &str) -> Option<&'r ValueKind<'t>> {
        let value = &self.collector.tree.argument(field, name)?.kind;
        self.depends |= matches!(value, ValueKind::Variable(_));
        Some(value)
    }

    /// Argument `name` of `__type`.
    fn name_argument(&mut self, field: &Field<'t>) -> String {
        match self.argument(field, "name") {
            Some(ValueKind::Variable(variable)) => match (self.collector.variables)(variable) {
                Some(InputValue::Scalar(DefaultScalarValue::String(name))) => name,
                _ => String::new(),
            },
            Some(ValueKind::String { text, .. }) => text.to_string(),
            _ => String::new(),
        }
    }

    fn includes_deprecated(&mut self, field: &Field<'t>) -> bool {
        let value = self.argument(field, "includeDeprecated");
        value.is_some_and(|value| self.collector.truth(value))
    }

    /// Selected fields of a type of introspection.
    fn groups(&self, ty: &str, sets: &[Set<'t>]) -> Vec<Group<'r, 't>> {
        let ty = self.collector.schema.id(ty);
        ty.map(|ty| self.collector.collect(ty, sets, None))
            .unwrap_or_default()
    }

    fn value(&mut self, ty: &str, value: &Value, sets: &[Set<'t>], out: &mut Vec<u8>) {
        match value {
            Value::Array(entries) => self.list(ty, entries.iter(), sets, out),
            Value::Object(_) => self.object(ty, value, sets, out),
            Value::String(text) => write::string(text, out),
            Value::Bool(true) => out.extend_from_slice(b"true"),
            Value::Bool(false) => out.extend_from_slice(b"false"),
            Value::Null | Value::Number(_) => out.extend_from_slice(b"null"),
        }
    }

    fn list<'v>(
        &mut self,
        ty: &str,
        entries: impl Iterator<Item = &'v Value>,
        sets: &[Set<'t>],
        out: &mut Vec<u8>,
    ) {
        out.push(b'[');
        for (at, entry) in entries.enumerate() {
            if out.len() > self.room {
                return;
            }
            if at > 0 {
                out.push(b',');
            }
            self.value(ty, entry, sets, out);
        }
        out.push(b']');
    }

    fn object(&mut self, ty: &str, value: &Value, sets: &[Set<'t>], out: &mut Vec<u8>) {
        // nested types contain only their name
        let value = match name_of(value) {
            Some(name) if ty == "__Type" => self.introspection.type_named(name),
            _ => value,
        };
        out.push(b'{');
        for (at, group) in self.groups(ty, sets).iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            write::string(group.key, out);
            out.push(b':');
            self.field(ty, value, group, out);
        }
        out.push(b'}');
    }

    fn field(&mut self, ty: &str, value: &Value, group: &Group<'r, 't>, out: &mut Vec<u8>) {
        let (field, sets) = (group.field, group.sets.as_slice());
        let name = field.name.text;
        let below = match (ty, name) {
            (_, "__typename") => return write::string(ty, out),
            ("__Directive", "onOperation" | "onFragment" | "onField") => {
                let on = directive_on(value, name);
                return out.extend_from_slice(if on { b"true" } else { b"false" });
            }
            ("__Schema", "directives") => "__Directive",
            ("__Type", "fields") => "__Field",
            ("__Type", "enumValues") => "__EnumValue",
            ("__Type", "inputFields") | ("__Field" | "__Directive", "args") => "__InputValue",
            _ => "__Type",
        };
        let read = value.get(name).unwrap_or(&Value::Null);
        let Value::Array(entries) = read else {
            // hidden root type
            let hidden = below == "__Type" && name_of(read).is_some_and(|name| self.view.hides(name));
            return self.value(below, if hidden { &Value::Null } else { read }, sets, out);
        };
        let can_be_deprecated = matches!(name, "fields" | "enumValues" | "inputFields" | "args");
        let all = !can_be_deprecated || self.includes_deprecated(field);
        let of = name_of(value).unwrap_or_default();
        let view = self.view;
        let shown = |entry: &&Value| {
            let name = name_of(entry).unwrap_or_default();
            let hidden = match below {
                "__Type" => view.hides(name),
                "__Field" => view.hides_field(of, name),
                _ => false,
            };
            !hidden && (all || entry.get("isDeprecated") != Some(&Value::Bool(true)))
        };
        self.list(below, entries.iter().filter(shown), sets, out);
    }
}

fn name_of(value: &Value) -> Option<&str> {
    value.get("name")?.as_str()
}

/// Value of a deprecated introspection field that `locations` replaced.
fn directive_on(directive: &Value, name: &str) -> bool {
    let wanted: &[&str] = match name {
        "onOperation" => &["QUERY", "MUTATION", "SUBSCRIPTION"],
        "onFragment" => &["FRAGMENT_DEFINITION", "FRAGMENT_SPREAD", "INLINE_FRAGMENT"],
        _ => &["FIELD"],
    };
    let locations = directive.get("locations").and_then(Value::as_array);
    let mut locations = locations.into_iter().flatten().filter_map(Value::as_str);
    locations.any(|location| wanted.contains(&location))
}
