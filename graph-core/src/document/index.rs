//! Tables of the schema's object types, with fields by name.

use std::collections::HashMap;

use juniper::meta::MetaType;
use juniper::{DefaultScalarValue, SchemaType};

use crate::executor::{FieldInfo, Guard, Registry, TypeInfo};

/// Object types that have a table.
#[derive(Debug)]
pub(crate) struct Index {
    types: HashMap<&'static str, Entry>,
    /// All distinct guards of the schema.
    guards: Vec<Guard>,
}

/// Table of an object type, and the indices of its fields.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(super) info: &'static TypeInfo,
    pub(super) fields: HashMap<&'static str, u16>,
}

impl Entry {
    /// Index and table entry of the field `name`.
    pub(super) fn field(&self, name: &str) -> Option<(u16, &'static FieldInfo)> {
        let at = *self.fields.get(name)?;
        Some((at, self.info.fields.get(usize::from(at))?))
    }
}

impl Index {
    pub(crate) fn new(registry: &Registry) -> Self {
        let mut guards = Vec::new();
        for info in registry.types() {
            let of_fields = info.fields.iter().flat_map(|field| field.guards);
            for guard in info.guards.iter().chain(of_fields) {
                if !guards.contains(guard) {
                    guards.push(*guard);
                }
            }
        }
        let types = registry.types().map(|info| {
            let fields = info.fields.iter().map(|field| field.name).zip(0..).collect();
            (info.name, Entry { info, fields })
        });
        Self {
            types: types.collect(),
            guards,
        }
    }

    pub(crate) fn guards(&self) -> &[Guard] {
        &self.guards
    }

    /// Guards of the type `name`.
    pub(super) fn type_guards(&self, name: &str) -> &'static [Guard] {
        self.get(name).map_or(&[], |entry| entry.info.guards)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Entry> {
        self.types.get(name)
    }

    /// Fields of `schema` that are missing from the table of their type, as `Type.field`.
    pub(crate) fn missing(&self, schema: &SchemaType<DefaultScalarValue>) -> Vec<String> {
        let mut missing = Vec::new();
        for ty in schema.concrete_type_list() {
            let MetaType::Object(object) = ty else { continue };
            let Some(entry) = self.get(&object.name) else {
                continue;
            };
            for field in &object.fields {
                if !field.is_builtin() && !entry.fields.contains_key(field.name.as_str()) {
                    missing.push(format!("{}.{}", object.name, field.name));
                }
            }
        }
        missing.sort();
        missing
    }
}
