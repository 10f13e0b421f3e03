//! [Field collection](https://spec.graphql.org/September2025/#sec-Field-Collection) of one object
//! type: expands fragments, evaluates `@skip` and `@include`, merges response keys.

use std::collections::HashSet;
use std::hash::{Hash, Hasher};

use indexmap::IndexMap;
use juniper::{DefaultScalarValue, InputValue};

use super::operation::OperationTree;
use super::parse::{Directive, Field, List, Selection, ValueKind};
use crate::schema::{Schema, TypeId};

/// Fields of one response key.
#[derive(Debug)]
pub(super) struct Group<'d, 't> {
    pub(super) key: &'t str,
    /// First of the fields; validation ensures that all have the same name and arguments.
    pub(super) field: &'d Field<'t>,
    /// Selections below all the fields.
    pub(super) sets: Vec<List<Selection<'t>>>,
}

/// Inputs of the field collection.
pub(super) struct Collector<'c, 't> {
    pub(super) schema: &'c Schema,
    pub(super) tree: &'c OperationTree<'c, 't>,
    pub(super) variables: &'c dyn Fn(&str) -> Option<InputValue>,
    /// Keeps everything that a variable could skip, to compute the maximum size.
    pub(super) everything: bool,
}

impl<'c, 't> Collector<'c, 't> {
    /// Collects the fields of `sets` on the object type `object`, in response order.
    pub(super) fn collect(&self, object: TypeId, sets: &[List<Selection<'t>>]) -> Vec<Group<'c, 't>> {
        let mut collection = Collection {
            collector: self,
            object,
            groups: IndexMap::new(),
            spread: HashSet::new(),
        };
        for set in sets {
            collection.set(*set);
        }
        collection.groups.into_values().collect()
    }

    /// Evaluates a boolean that may be a variable.
    pub(super) fn truth(&self, value: &ValueKind<'_>) -> bool {
        match value {
            ValueKind::Variable(name) => (self.variables)(name).as_ref().is_some_and(is_true),
            ValueKind::Boolean(truth) => *truth,
            _ => false,
        }
    }

    fn stays(&self, directives: List<Directive<'t>>) -> bool {
        let mut conditions = self.tree.conditions(directives);
        conditions.all(|(wanted, value)| {
            self.everything && matches!(value, ValueKind::Variable(_)) || self.truth(value) == wanted
        })
    }
}

pub(super) fn is_true(value: &InputValue) -> bool {
    matches!(value, InputValue::Scalar(DefaultScalarValue::Boolean(true)))
}

struct Collection<'l, 'c, 't> {
    collector: &'l Collector<'c, 't>,
    object: TypeId,
    groups: IndexMap<ResponseKey<'t>, Group<'c, 't>>,
    /// Fragments that were already spread.
    spread: HashSet<&'t str>,
}

impl<'t> Collection<'_, '_, 't> {
    fn set(&mut self, set: List<Selection<'t>>) {
        let tree = self.collector.tree;
        for selection in tree.ast.selections(set) {
            match selection {
                Selection::Field(field) if self.collector.stays(field.directives) => {
                    let key = field.key();
                    let group = self.groups.entry(ResponseKey(key)).or_insert(Group {
                        key,
                        field,
                        sets: Vec::new(),
                    });
                    if !field.selections.is_empty() {
                        group.sets.push(field.selections);
                    }
                }
                Selection::Spread(spread) if self.collector.stays(spread.directives) => {
                    if self.spread.insert(spread.name.text)
                        && let Some(fragment) = tree.fragments.get(spread.name.text)
                        && self.applies(fragment.on.text)
                    {
                        self.set(fragment.selections);
                    }
                }
                Selection::Inline(inline)
                    if self.collector.stays(inline.directives)
                        && inline.on.is_none_or(|on| self.applies(on.text)) =>
                {
                    self.set(inline.selections);
                }
                Selection::Field(_) | Selection::Spread(_) | Selection::Inline(_) => {}
            }
        }
    }

    fn applies(&self, on: &str) -> bool {
        let schema = self.collector.schema;
        schema
            .id(on)
            .is_some_and(|on| schema.is_possible(self.object, on))
    }
}

/// Response key, with comparisons counted in tests.
#[derive(Clone, Copy, Debug, Eq)]
struct ResponseKey<'t>(&'t str);

impl PartialEq for ResponseKey<'_> {
    fn eq(&self, other: &Self) -> bool {
        #[cfg(test)]
        tests::compared();
        self.0 == other.0
    }
}

impl Hash for ResponseKey<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

#[cfg(test)]
#[path = "tests/collect.rs"]
mod tests;
