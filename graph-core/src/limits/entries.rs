//! Entries of the lists inside an argument: in input objects, and in other lists.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use juniper::{InputValue, Variables};

use super::size::length;
use crate::document::operation::OperationTree;
use crate::document::parse::{Value, ValueKind};
use crate::schema::{Schema, TypeId, TypeKind, TypeRef};

/// Number of entries in the lists inside one argument.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entries {
    /// Entries in the document.
    known: u64,
    variables: Vec<InVariable>,
}

/// Variable in an argument.
#[derive(Clone, Debug)]
struct InVariable {
    name: Arc<str>,
    /// Entries without a value of the variable.
    default: u64,
    /// The outermost list does not count, because its length is a size of its own.
    is_list: bool,
}

impl Entries {
    /// Counts the entries in an argument, whose outermost list does not count if it `is_list`. The
    /// function `name` shares the names of variables.
    pub(super) fn written(
        tree: &OperationTree<'_, '_>,
        value: &Value<'_>,
        is_list: bool,
        name: &mut dyn FnMut(&str) -> Arc<str>,
    ) -> Self {
        let mut entries = Self::default();
        entries.add(tree, value, is_list, name);
        entries
    }

    fn add(
        &mut self,
        tree: &OperationTree<'_, '_>,
        value: &Value<'_>,
        is_list: bool,
        name: &mut dyn FnMut(&str) -> Arc<str>,
    ) {
        match &value.kind {
            ValueKind::Variable(variable) => {
                let mut declared = tree.ast.variables(tree.operation.variables).iter();
                let declared = declared.find(|declared| declared.name.text == *variable);
                let default = declared.and_then(|declared| declared.default.as_ref());
                // a default has no variables
                let default = default.map(|default| Self::written(tree, default, is_list, name));
                self.variables.push(InVariable {
                    name: name(variable),
                    default: default.map_or(0, |default| default.known),
                    is_list,
                });
            }
            ValueKind::List(values) => {
                self.known += if is_list { 0 } else { length(values.len()) };
                for value in tree.ast.values(*values) {
                    self.add(tree, value, false, name);
                }
            }
            ValueKind::Object(fields) => {
                for field in tree.ast.fields(*fields) {
                    self.add(tree, &field.value, false, name);
                }
            }
            _ => {}
        }
    }

    pub(super) fn has_variables(&self) -> bool {
        !self.variables.is_empty()
    }

    /// Approximate memory in bytes.
    pub(super) fn size(&self) -> usize {
        self.variables.len() * size_of::<InVariable>()
    }
}

/// Entries in the variables of one request; each variable is counted once.
#[derive(Debug, Default)]
pub(super) struct EntryCounts<'v> {
    counted: RefCell<HashMap<(&'v str, bool), u64>>,
}

impl<'v> EntryCounts<'v> {
    pub(super) fn measured(&self, entries: &'v Entries, variables: &Variables) -> u64 {
        let of_variables = entries.variables.iter().map(|within| {
            let key = (&*within.name, within.is_list);
            let mut counted = self.counted.borrow_mut();
            *counted.entry(key).or_insert_with(|| {
                let given = variables.get(&*within.name);
                given.map_or(within.default, |given| count(given, within.is_list))
            })
        });
        of_variables.fold(entries.known, u64::saturating_add)
    }
}

/// Number of entries in the lists of `value`, without the outermost list if it `is_list`.
fn count(value: &InputValue, is_list: bool) -> u64 {
    match value {
        InputValue::List(values) => {
            let own = if is_list { 0 } else { length(values.len()) };
            let inside = values.iter().map(|value| count(&value.item, false));
            inside.fold(own, u64::saturating_add)
        }
        InputValue::Object(fields) => {
            let inside = fields.iter().map(|(_, value)| count(&value.item, false));
            inside.fold(0, u64::saturating_add)
        }
        _ => 0,
    }
}

/// Returns `true` if a value of the type can have lists inside, besides an outermost list.
pub(super) fn nests_lists(schema: &Schema, ty: TypeRef) -> bool {
    let mut known = HashSet::new();
    match ty.entry() {
        Some(entry) => has_lists(schema, entry, &mut known),
        None => within(schema, ty.named, &mut known),
    }
}

fn has_lists(schema: &Schema, ty: TypeRef, known: &mut HashSet<TypeId>) -> bool {
    ty.entry().is_some() || within(schema, ty.named, known)
}

fn within(schema: &Schema, ty: TypeId, known: &mut HashSet<TypeId>) -> bool {
    let TypeKind::InputObject(object) = &schema.type_at(ty).kind else {
        return false;
    };
    let mut fields = object.fields.values();
    known.insert(ty) && fields.any(|field| has_lists(schema, field.ty, known))
}
