//! [Values](https://spec.graphql.org/September2025/#sec-Values).

use std::collections::HashMap;

use super::variables::Usage;
use super::walk::Walk;
use crate::document::parse::{List, ObjectField, Value, ValueKind};
use crate::schema::{InputObject, TypeKind, TypeRef};

/// Position of a value.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Index of the definition.
    at: usize,
    /// Type that is expected, if it is known.
    input: Option<TypeRef>,
    has_default: bool,
    /// Input object type of the field that the value belongs to.
    object: Option<TypeRef>,
    /// `false` inside a value that was already refused.
    is_checked: bool,
}

impl<'w, 't> Walk<'w, 't> {
    pub(super) fn value(&mut self, at: usize, value: &'w Value<'t>, input: Option<TypeRef>) {
        self.value_at(at, value, input, false);
    }

    pub(super) fn value_at(
        &mut self,
        at: usize,
        value: &'w Value<'t>,
        input: Option<TypeRef>,
        has_default: bool,
    ) {
        let place = Place {
            at,
            input: input.filter(|input| self.schema.type_at(input.named).is_input()),
            has_default,
            object: None,
            is_checked: true,
        };
        self.any_value(value, place);
    }

    fn any_value(&mut self, value: &'w Value<'t>, place: Place) {
        match &value.kind {
            ValueKind::Variable(name) => {
                if let Some(found) = self.found.get_mut(place.at) {
                    found.usages.push(Usage {
                        name,
                        at: value.at,
                        input: place.input,
                        has_default: place.has_default,
                        object: place.object,
                    });
                }
            }
            ValueKind::List(values) => self.list(value, *values, place),
            ValueKind::Object(fields) => self.object(value, *fields, place),
            ValueKind::Null if place.is_checked => {
                if let Some(input) = place.input.filter(|input| input.is_non_null()) {
                    let message = format!(
                        "Expected value of type \"{}\", found null.",
                        self.schema.print(input)
                    );
                    self.report(message, [value.at]);
                }
            }
            _ if place.is_checked => self.leaf_value(value, place.input),
            _ => {}
        }
    }

    fn list(&mut self, value: &'w Value<'t>, values: List<Value<'t>>, place: Place) {
        let input = place.input.map(TypeRef::nullable);
        let entry = input.and_then(TypeRef::entry);
        let is_checked = place.is_checked && entry.is_some();
        if place.is_checked && entry.is_none() {
            self.leaf_value(value, input);
        }
        for value in self.ast.values(values) {
            let place = Place {
                input: entry.or(input),
                has_default: false,
                object: None,
                is_checked,
                ..place
            };
            self.any_value(value, place);
        }
    }

    fn object(&mut self, value: &'w Value<'t>, fields: List<ObjectField<'t>>, place: Place) {
        let schema = self.schema;
        let named = place.input.map(|input| schema.type_at(input.named));
        let object = match named.map(|named| &named.kind) {
            Some(TypeKind::InputObject(object)) => Some(object),
            _ => None,
        };
        let is_checked = place.is_checked && object.is_some();
        match (named, object) {
            (Some(named), Some(object)) if place.is_checked => {
                self.input_object(value, fields, &named.name, object);
            }
            (_, None) if place.is_checked => self.leaf_value(value, place.input),
            _ => {}
        }
        let mut first: HashMap<&str, u32> = HashMap::new();
        for field in self.ast.fields(fields) {
            let name = field.name;
            let declared = object.and_then(|object| object.fields.get(name.text));
            // 5.6.2 Input Object Field Names
            if let (true, Some(named), None) = (is_checked, named, declared) {
                let message = format!(
                    "Field \"{}\" is not defined by type \"{}\".",
                    name.text, named.name
                );
                self.report(message, [name.at]);
            }
            // 5.6.3 Input Object Field Uniqueness
            let before = *first.entry(name.text).or_insert(name.at);
            if before != name.at {
                let message = format!("There can be only one input field named \"{}\".", name.text);
                self.report(message, [before, name.at]);
            }
            let place = Place {
                input: declared.map(|declared| declared.ty),
                has_default: declared.is_some_and(|declared| declared.default.is_some()),
                object: place.input,
                is_checked,
                ..place
            };
            self.any_value(&field.value, place);
        }
    }

    /// 5.6.4 Input Object Required Fields, and the fields of a OneOf Input Object.
    fn input_object(
        &mut self,
        value: &Value<'t>,
        fields: List<ObjectField<'t>>,
        name: &str,
        object: &InputObject,
    ) {
        let given = self.ast.fields(fields);
        let last = |name: &str| given.iter().rev().find(|field| field.name.text == name);
        for declared in object.fields.values().filter(|declared| declared.is_required()) {
            if last(&declared.name).is_none() {
                let ty = self.schema.print(declared.ty);
                let message = format!(
                    "Field \"{name}.{}\" of required type \"{ty}\" was not provided.",
                    declared.name
                );
                self.report(message, [value.at]);
            }
        }
        if !object.is_one_of {
            return;
        }
        let first = given.first().map(|field| field.name.text);
        let key = first.filter(|first| given.iter().all(|field| field.name.text == *first));
        let Some(key) = key else {
            let message = format!("OneOf Input Object \"{name}\" must specify exactly one key.");
            return self.report(message, [value.at]);
        };
        if last(key).is_some_and(|field| matches!(field.value.kind, ValueKind::Null)) {
            self.report(format!("Field \"{name}.{key}\" must be non-null."), [value.at]);
        }
    }

    /// 5.6.1 Values of Correct Type, for a value that must be a scalar or an enum value.
    fn leaf_value(&mut self, value: &Value<'t>, input: Option<TypeRef>) {
        let Some(input) = input else { return };
        if let Err(why) = self.schema.accepts(input, self.ast, value) {
            self.report(why, [value.at]);
        }
    }
}
