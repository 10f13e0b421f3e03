//! Tables of the schema's object types, with fields by name.

use std::collections::HashMap;

use crate::executor::{FieldInfo, Guard, Registry, TypeInfo};
use crate::schema::{Schema, TypeKind};

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
    pub(crate) fn missing(&self, schema: &Schema) -> Vec<String> {
        let mut missing = Vec::new();
        for (_, ty) in schema.types() {
            let (TypeKind::Object(object), Some(entry)) = (&ty.kind, self.get(&ty.name)) else {
                continue;
            };
            for field in object.fields.keys() {
                if !entry.fields.contains_key(field.as_str()) {
                    missing.push(format!("{}.{field}", ty.name));
                }
            }
        }
        missing.sort();
        missing
    }
}
