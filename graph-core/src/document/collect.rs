//! [Field collection](https://spec.graphql.org/September2025/#sec-Field-Collection) of one object
//! type: expands fragments, evaluates `@skip` and `@include`, merges response keys.

use std::collections::HashSet;
use std::hash::{Hash, Hasher};

use indexmap::{IndexMap, IndexSet};
use juniper::{DefaultScalarValue, InputValue, SchemaType, Variables};

use crate::compat::syntax::{Condition, Field, Selection, Syntax};

/// Fields of one response key.
#[derive(Debug)]
pub(super) struct Group<'t> {
    pub(super) key: &'t str,
    /// First of the fields; validation ensures that all have the same name and arguments.
    pub(super) field: &'t Field<'t>,
    /// Selections below all the fields.
    pub(super) sets: Vec<&'t [Selection<'t>]>,
}

/// Inputs of the field collection.
pub(super) struct Collector<'t> {
    pub(super) schema: &'t SchemaType<DefaultScalarValue>,
    pub(super) syntax: &'t Syntax<'t>,
    pub(super) variables: &'t dyn Fn(&str) -> Option<InputValue>,
    /// Keeps everything that a variable could skip, to compute the maximum size.
    pub(super) everything: bool,
}

impl<'t> Collector<'t> {
    /// Collects the fields of `sets` on the object type `name`, in response order.
    pub(super) fn collect(&self, name: &str, sets: &[&'t [Selection<'t>]]) -> Vec<Group<'t>> {
        let mut collection = Collection {
            collector: self,
            name,
            groups: IndexMap::new(),
            spread: HashSet::new(),
        };
        for set in sets {
            collection.set(set);
        }
        collection.groups.into_values().collect()
    }

    /// Evaluates a boolean that may be a variable.
    pub(super) fn truth(&self, value: &InputValue) -> bool {
        let resolved = match value {
            InputValue::Variable(name) => (self.variables)(name),
            _ => return is_true(value),
        };
        resolved.as_ref().is_some_and(is_true)
    }

    fn stays(&self, conditions: &[Condition]) -> bool {
        let mut conditions = conditions.iter();
        conditions.all(|condition| {
            self.everything && matches!(condition.value, InputValue::Variable(_))
                || self.truth(&condition.value) == condition.wanted
        })
    }
}

pub(super) fn is_true(value: &InputValue) -> bool {
    matches!(value, InputValue::Scalar(DefaultScalarValue::Boolean(true)))
}

struct Collection<'c, 't> {
    collector: &'c Collector<'t>,
    name: &'c str,
    groups: IndexMap<ResponseKey<'t>, Group<'t>>,
    /// Fragments that were already spread.
    spread: HashSet<&'t str>,
}

impl<'t> Collection<'_, 't> {
    fn set(&mut self, set: &'t [Selection<'t>]) {
        for selection in set {
            match selection {
                Selection::Field(field) if self.collector.stays(&field.conditions) => self.field(field),
                Selection::Spread { name, conditions } if self.collector.stays(conditions) => {
                    if !self.spread.insert(name) {
                        continue;
                    }
                    let syntax = self.collector.syntax;
                    if let Some(fragment) = syntax.fragments.get(name)
                        && self.applies(fragment.on)
                    {
                        self.set(&fragment.selections);
                    }
                }
                Selection::Inline {
                    on,
                    conditions,
                    selections,
                } if self.collector.stays(conditions) && on.is_none_or(|on| self.applies(on)) => {
                    self.set(selections);
                }
                Selection::Field(_) | Selection::Spread { .. } | Selection::Inline { .. } => {}
            }
        }
    }

    fn applies(&self, on: &str) -> bool {
        on == self.name || self.collector.schema.is_named_subtype(self.name, on)
    }

    fn field(&mut self, field: &'t Field<'t>) {
        let key = field.key();
        let group = self.groups.entry(ResponseKey(key)).or_insert(Group {
            key,
            field,
            sets: Vec::new(),
        });
        group.sets.push(&field.selections);
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

/// Names of the variables used in `@skip` and `@include`: first in the operation, then in the
/// fragments by name.
pub(super) fn deciding(syntax: &Syntax<'_>) -> Box<[Box<str>]> {
    let mut names = IndexSet::new();
    in_set(&syntax.operation.selections, &mut names);
    let mut fragments: Vec<_> = syntax.fragments.iter().collect();
    fragments.sort_by_key(|(name, _)| **name);
    for (_, fragment) in fragments {
        in_set(&fragment.selections, &mut names);
    }
    names.into_iter().map(Into::into).collect()
}

fn in_set<'t>(set: &'t [Selection<'_>], names: &mut IndexSet<&'t str>) {
    for selection in set {
        let (conditions, below) = match selection {
            Selection::Field(field) => (&field.conditions, field.selections.as_slice()),
            Selection::Spread { conditions, .. } => (conditions, [].as_slice()),
            Selection::Inline {
                conditions,
                selections,
                ..
            } => (conditions, selections.as_slice()),
        };
        for condition in conditions {
            if let InputValue::Variable(name) = &condition.value {
                names.insert(name);
            }
        }
        in_set(below, names);
    }
}

/// Value of a variable before coercion, which is enough for `@skip` and `@include`.
pub(super) fn given(syntax: &Syntax<'_>, variables: &Variables, name: &str) -> Option<InputValue> {
    let given = variables.get(name).cloned();
    given.or_else(|| syntax.operation.variables.get(name)?.default.clone())
}

#[cfg(test)]
#[path = "tests/collect.rs"]
mod tests;
