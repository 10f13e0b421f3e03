//! [Collects the fields](https://spec.graphql.org/September2025/#sec-Field-Collection) of one object type: fragments expanded,
//! `@skip` and `@include` decided, equal response keys merged.

use std::collections::HashSet;
use std::hash::{Hash, Hasher};

use indexmap::{IndexMap, IndexSet};
use juniper::{DefaultScalarValue, InputValue, SchemaType, Variables};

use crate::compat::syntax::{Condition, Field, Selection, Syntax};

/// The fields of one response key.
#[derive(Debug)]
pub(super) struct Group<'t> {
    pub(super) key: &'t str,
    /// The first of them: all call the same field with the same arguments.
    pub(super) field: &'t Field<'t>,
    /// What is selected below any of them.
    pub(super) sets: Vec<&'t [Selection<'t>]>,
}

/// What a selection is collected by.
pub(super) struct Collector<'t> {
    pub(super) schema: &'t SchemaType<DefaultScalarValue>,
    pub(super) syntax: &'t Syntax<'t>,
    pub(super) variables: &'t dyn Fn(&str) -> Option<InputValue>,
    /// Whatever variables could leave out stays: how much can it be?
    pub(super) everything: bool,
}

impl<'t> Collector<'t> {
    /// The fields that `sets` select on an object of the type `name`, in the order of the response.
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

    /// The value of a truth value that may be a variable.
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
    /// The fragments that were spread already.
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

/// What a group is found by.
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

/// The names of the variables that decide what is selected, in the order of the document.
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

/// What is known of the variables before they are coerced: enough to decide what is selected.
pub(super) fn given(syntax: &Syntax<'_>, variables: &Variables, name: &str) -> Option<InputValue> {
    let given = variables.get(name).cloned();
    given.or_else(|| syntax.operation.variables.get(name)?.default.clone())
}

#[cfg(test)]
#[path = "tests/collect.rs"]
mod tests;
