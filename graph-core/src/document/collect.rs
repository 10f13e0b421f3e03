//! [Field collection](https://spec.graphql.org/September2025/#sec-Field-Collection) of one object
//! type: expands fragments, evaluates `@skip`, `@include` and `@defer`, merges response keys.

use std::collections::HashMap;
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
    pub(super) sets: Vec<Set<'t>>,
    /// Innermost deferred fragment around each of the fields; `None` outside of all fragments. A
    /// fragment may occur several times.
    pub(super) fragments: Vec<Option<u32>>,
}

/// Selection set, with the innermost deferred fragment around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Set<'t> {
    pub(super) list: List<Selection<'t>>,
    pub(super) fragment: Option<u32>,
}

impl<'t> From<List<Selection<'t>>> for Set<'t> {
    fn from(list: List<Selection<'t>>) -> Self {
        Self { list, fragment: None }
    }
}

/// Active `@defer` that the collection has found.
#[derive(Debug)]
pub(super) struct Deferred {
    pub(super) label: Option<Box<str>>,
    pub(super) parent: Option<u32>,
    /// Position of the directive in the text.
    at: u32,
}

/// Inputs of the field collection.
pub(super) struct Collector<'c, 't> {
    pub(super) schema: &'c Schema,
    pub(super) tree: &'c OperationTree<'c, 't>,
    pub(super) variables: &'c dyn Fn(&str) -> Option<InputValue>,
    /// Keeps everything that a variable could skip, to compute the maximum size.
    pub(super) everything: bool,
    /// Defers fragments; otherwise `@defer` has no effect.
    pub(super) defers: bool,
}

impl<'c, 't> Collector<'c, 't> {
    /// Collects the fields of `sets` on the object type `object`, in response order. Adds the
    /// deferred fragments to `known`, whose indices are their ids; without `known`, `@defer` has no
    /// effect.
    pub(super) fn collect(
        &self,
        object: TypeId,
        sets: &[Set<'t>],
        known: Option<&mut Vec<Deferred>>,
    ) -> Vec<Group<'c, 't>> {
        let mut collection = Collection {
            collector: self,
            object,
            groups: IndexMap::new(),
            spread: HashMap::new(),
            known: known.filter(|_| self.defers),
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

    /// Evaluates the condition of `@defer`, which is `true` without a value.
    fn is_active(&self, condition: &ValueKind<'_>) -> bool {
        match condition {
            ValueKind::Variable(name) => (self.variables)(name).as_ref().is_none_or(is_true),
            condition => self.truth(condition),
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
    /// Fragments that were already spread, with the directives that deferred them.
    spread: HashMap<&'t str, Vec<Option<u32>>>,
    known: Option<&'l mut Vec<Deferred>>,
}

impl<'t> Collection<'_, '_, 't> {
    fn set(&mut self, set: Set<'t>) {
        let tree = self.collector.tree;
        for selection in tree.ast.selections(set.list) {
            match selection {
                Selection::Field(field) if self.collector.stays(field.directives) => {
                    let key = field.key();
                    let group = self.groups.entry(ResponseKey(key)).or_insert(Group {
                        key,
                        field,
                        sets: Vec::new(),
                        fragments: Vec::new(),
                    });
                    if group.fragments.last() != Some(&set.fragment) {
                        group.fragments.push(set.fragment);
                    }
                    if !field.selections.is_empty() {
                        group.sets.push(Set {
                            list: field.selections,
                            ..set
                        });
                    }
                }
                Selection::Spread(spread) if self.collector.stays(spread.directives) => {
                    if let Some(fragment) = tree.fragments.get(spread.name.text)
                        && self.applies(fragment.on.text)
                    {
                        let deferred = self.deferred(spread.directives, set.fragment);
                        let around = deferred
                            .as_ref()
                            .map(|deferred| deferred.at)
                            .or_else(|| self.position(set.fragment));
                        let before = self.spread.entry(spread.name.text).or_default();
                        if before.contains(&None) || before.contains(&around) {
                            continue;
                        }
                        before.push(around);
                        let fragment = self.fragment(fragment.selections, set, deferred);
                        self.set(fragment);
                    }
                }
                Selection::Inline(inline)
                    if self.collector.stays(inline.directives)
                        && inline.on.is_none_or(|on| self.applies(on.text)) =>
                {
                    let deferred = self.deferred(inline.directives, set.fragment);
                    let fragment = self.fragment(inline.selections, set, deferred);
                    self.set(fragment);
                }
                Selection::Field(_) | Selection::Spread(_) | Selection::Inline(_) => {}
            }
        }
    }

    /// Active `@defer` of a fragment.
    fn deferred(&self, directives: List<Directive<'t>>, parent: Option<u32>) -> Option<Deferred> {
        self.known.as_ref()?;
        let tree = self.collector.tree;
        let directive = tree.defer(directives)?;
        let condition = tree.ast.argument(directive.arguments, "if");
        let is_active = condition.is_none_or(|condition| self.collector.is_active(&condition.kind));
        let label = tree.ast.argument(directive.arguments, "label");
        is_active.then(|| Deferred {
            label: label.and_then(|label| match &label.kind {
                ValueKind::String { text, .. } => Some(text.as_ref().into()),
                _ => None,
            }),
            parent,
            at: directive.at,
        })
    }

    /// Position of the directive of a deferred fragment.
    fn position(&self, fragment: Option<u32>) -> Option<u32> {
        let fragment = usize::try_from(fragment?).ok()?;
        self.known.as_ref()?.get(fragment).map(|deferred| deferred.at)
    }

    /// Selections of a fragment in `around`, deferred or not.
    fn fragment(
        &mut self,
        list: List<Selection<'t>>,
        around: Set<'t>,
        deferred: Option<Deferred>,
    ) -> Set<'t> {
        match (deferred, &mut self.known) {
            (Some(deferred), Some(known)) => {
                let fragment = u32::try_from(known.len()).ok();
                known.push(deferred);
                Set { list, fragment }
            }
            _ => Set { list, ..around },
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
