//! [Field Selection Merging](https://spec.graphql.org/September2025/#sec-Field-Selection-Merging):
//! finds two fields of one response key that conflict.
//!
//! Most documents are proved free of conflicts in one pass: all fields of a response key, whatever
//! their parent types, are the same field with the same arguments, and so are the fields below
//! them. Only where that fails are pairs of fields compared, and only where a pair conflicts does
//! `conflict` search for the message.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::conflict::Search;
use crate::document::parse::{Argument, Ast, Field, Fragment, List, Selection, Value, ValueKind};
use crate::schema::{Field as FieldDefinition, Schema, TypeId, TypeRef, Wrapper};

pub(super) type Fragments<'w, 't> = HashMap<&'t str, &'w Fragment<'t>>;

/// Field with the type that declares it.
#[derive(Clone, Copy)]
pub(super) struct Selected<'w, 't> {
    pub(super) parent: Option<TypeId>,
    pub(super) field: &'w Field<'t>,
    pub(super) definition: Option<&'w FieldDefinition>,
}

impl Selected<'_, '_> {
    /// Type of the selection set below the field.
    pub(super) fn below(&self) -> Option<TypeId> {
        self.definition.map(|definition| definition.ty.named)
    }
}

/// Selection set on a type.
pub(super) type Set<'t> = (Option<TypeId>, List<Selection<'t>>);

type ByKey<'w, 't> = IndexMap<&'t str, Vec<Selected<'w, 't>>>;

/// Maximum number of fields that are visited for one selection set. The expansion of an operation
/// has a lower limit.
const VISITS: usize = 100_000;

pub(super) struct Overlap<'w, 't> {
    pub(super) schema: &'w Schema,
    pub(super) ast: &'w Ast<'t>,
    pub(super) fragments: Fragments<'w, 't>,
    /// Fragments spread themselves. Then only the search ends.
    pub(super) has_cycles: bool,
    /// Selection sets that are part of a set without conflicts.
    proved: HashSet<u32>,
    search: Search<'w, 't>,
}

impl<'w, 't> Overlap<'w, 't> {
    pub(super) fn new(schema: &'w Schema, ast: &'w Ast<'t>, fragments: Fragments<'w, 't>) -> Self {
        Self {
            schema,
            ast,
            fragments,
            has_cycles: false,
            proved: HashSet::new(),
            search: Search::default(),
        }
    }

    /// Message and positions of each conflict in a selection set.
    pub(super) fn conflicts(
        &mut self,
        parent: Option<TypeId>,
        selections: List<Selection<'t>>,
    ) -> Vec<(String, Vec<u32>)> {
        let set = (parent, selections);
        let is_one = matches!(
            self.ast.selections(selections),
            [Selection::Field(_) | Selection::Spread(_)]
        );
        if is_one || self.proved.contains(&selections.id()) {
            return Vec::new();
        }
        let mut proof = Proof {
            proved: Vec::new(),
            visits: VISITS,
        };
        if !self.has_cycles && self.is_uniform(&[set], &mut proof) {
            self.proved.extend(proof.proved);
            return Vec::new();
        }
        let mut search = std::mem::take(&mut self.search);
        let found = search.conflicts(self, set);
        self.search = search;
        match found {
            Some(found) => found,
            None if self.has_cycles => Vec::new(),
            None => self.first_conflict(set).into_iter().collect(),
        }
    }

    /// Returns `true` if all fields of each response key are the same field with the same
    /// arguments, at each level.
    fn is_uniform(&self, sets: &[Set<'t>], proof: &mut Proof) -> bool {
        for fields in self.merged(sets).values() {
            let Some((first, others)) = fields.split_first() else {
                continue;
            };
            match proof.visits.checked_sub(fields.len()) {
                Some(left) => proof.visits = left,
                None => return false,
            }
            if !others.iter().all(|other| self.is_same(first, other)) {
                return false;
            }
            let below = below(fields);
            proof
                .proved
                .extend(below.iter().map(|(_, selections)| selections.id()));
            if !below.is_empty() && !self.is_uniform(&below, proof) {
                return false;
            }
        }
        true
    }

    fn is_same(&self, one: &Selected<'w, 't>, other: &Selected<'w, 't>) -> bool {
        std::ptr::eq(one.field, other.field)
            || (one.field.name.text == other.field.name.text
                && one.definition.map(|definition| definition.ty)
                    == other.definition.map(|definition| definition.ty)
                && self.same_arguments(one.field.arguments, other.field.arguments))
    }

    /// Fields of `sets` by response key, with all fragments expanded once.
    fn merged(&self, sets: &[Set<'t>]) -> ByKey<'w, 't> {
        let (mut fields, mut spread) = (ByKey::new(), HashSet::new());
        for set in sets {
            self.expand(*set, &mut fields, &mut spread);
        }
        fields
    }

    fn expand(&self, set: Set<'t>, fields: &mut ByKey<'w, 't>, spread: &mut HashSet<&'t str>) {
        let (parent, selections) = set;
        for selection in self.ast.selections(selections) {
            match selection {
                Selection::Field(field) => {
                    let selected = self.selected(parent, field);
                    fields.entry(field.key()).or_default().push(selected);
                }
                Selection::Inline(inline) => {
                    let on = inline.on.map_or(parent, |on| self.schema.id(on.text));
                    self.expand((on, inline.selections), fields, spread);
                }
                Selection::Spread(one) => {
                    if let Some(fragment) = self.fragments.get(one.name.text)
                        && spread.insert(one.name.text)
                    {
                        let on = self.schema.id(fragment.on.text);
                        self.expand((on, fragment.selections), fields, spread);
                    }
                }
            }
        }
    }

    pub(super) fn selected(&self, parent: Option<TypeId>, field: &'w Field<'t>) -> Selected<'w, 't> {
        let definition = parent.and_then(|parent| self.schema.type_at(parent).field(field.name.text));
        Selected {
            parent,
            field,
            definition,
        }
    }

    pub(super) fn same_arguments(&self, one: List<Argument<'t>>, other: List<Argument<'t>>) -> bool {
        one.len() == other.len()
            && self.ast.arguments(one).iter().all(|argument| {
                // the last of each name, as in graphql-js
                let mut others = self.ast.arguments(other).iter().rev();
                let same = others.find(|other| other.name.text == argument.name.text);
                same.is_some_and(|same| self.same_value(&argument.value, &same.value))
            })
    }

    fn same_value(&self, one: &Value<'t>, other: &Value<'t>) -> bool {
        match (&one.kind, &other.kind) {
            (ValueKind::Variable(one), ValueKind::Variable(other))
            | (ValueKind::Int(one), ValueKind::Int(other))
            | (ValueKind::Float(one), ValueKind::Float(other))
            | (ValueKind::Enum(one), ValueKind::Enum(other)) => one == other,
            (ValueKind::Boolean(one), ValueKind::Boolean(other)) => one == other,
            (ValueKind::Null, ValueKind::Null) => true,
            (
                ValueKind::String { text, is_block },
                ValueKind::String {
                    text: other,
                    is_block: is_other_block,
                },
            ) => text == other && is_block == is_other_block,
            (ValueKind::List(one), ValueKind::List(other)) => {
                let (one, other) = (self.ast.values(*one), self.ast.values(*other));
                one.len() == other.len()
                    && one
                        .iter()
                        .zip(other)
                        .all(|(one, other)| self.same_value(one, other))
            }
            (ValueKind::Object(one), ValueKind::Object(other)) => {
                let mut one: Vec<_> = self.ast.fields(*one).iter().collect();
                let mut other: Vec<_> = self.ast.fields(*other).iter().collect();
                one.sort_by_key(|field| field.name.text);
                other.sort_by_key(|field| field.name.text);
                one.len() == other.len()
                    && one.iter().zip(&other).all(|(one, other)| {
                        one.name.text == other.name.text && self.same_value(&one.value, &other.value)
                    })
            }
            _ => false,
        }
    }

    /// Reason why two fields of one response key conflict, without the fields below them.
    pub(super) fn reason(
        &self,
        is_exclusive: bool,
        one: &Selected<'w, 't>,
        other: &Selected<'w, 't>,
    ) -> Option<String> {
        if !is_exclusive {
            let (name, other_name) = (one.field.name.text, other.field.name.text);
            if name != other_name {
                return Some(format!("\"{name}\" and \"{other_name}\" are different fields"));
            }
            if !self.same_arguments(one.field.arguments, other.field.arguments) {
                return Some("they have differing arguments".to_owned());
            }
        }
        let (one, other) = (one.definition?.ty, other.definition?.ty);
        self.types_conflict(one, other).then(|| {
            let (one, other) = (self.schema.print(one), self.schema.print(other));
            format!("they return conflicting types \"{one}\" and \"{other}\"")
        })
    }

    /// Returns `true` if no value can have the shape of both types.
    fn types_conflict(&self, one: TypeRef, other: TypeRef) -> bool {
        let (mut left, mut right) = (one.wrappers, other.wrappers);
        loop {
            match (left.split(), right.split()) {
                (None, None) => break,
                (Some((Wrapper::List, inner)), Some((Wrapper::List, other)))
                | (Some((Wrapper::NonNull, inner)), Some((Wrapper::NonNull, other))) => {
                    (left, right) = (inner, other);
                }
                _ => return true,
            }
        }
        let is_leaf = |ty: TypeRef| self.schema.type_at(ty.named).is_leaf();
        one.named != other.named && (is_leaf(one) || is_leaf(other))
    }

    /// Returns `true` if no object has both parents.
    pub(super) fn are_exclusive(&self, one: Option<TypeId>, other: Option<TypeId>) -> bool {
        let is_object = |id: Option<TypeId>| id.is_some_and(|id| self.schema.type_at(id).is_object());
        one != other && is_object(one) && is_object(other)
    }

    /// First conflict in a set for which the search of `conflict` is too long. Fields with the same
    /// parent, name and arguments are compared once.
    fn first_conflict(&self, set: Set<'t>) -> Option<(String, Vec<u32>)> {
        let found = self.within(&[set])?;
        let (key, reason, one, other) = found;
        let message = super::conflict::message(key, &reason);
        Some((message, vec![one.field.at(), other.field.at()]))
    }

    fn within(&self, sets: &[Set<'t>]) -> Option<Conflict<'w, 't>> {
        for (key, fields) in &self.merged(sets) {
            let classes = match self.classes(fields) {
                Ok(classes) => classes,
                Err((reason, one, other)) => return Some((key, reason, one, other)),
            };
            for (at, class) in classes.iter().enumerate() {
                for other in classes.iter().skip(at + 1) {
                    let found = self.between(key, class, other, false);
                    if found.is_some() {
                        return found;
                    }
                }
                let below = below(class);
                if let Some(found) = (!below.is_empty()).then(|| self.within(&below)).flatten() {
                    return Some(found);
                }
            }
        }
        None
    }

    /// First conflict of a field of `one` with a field of `other`.
    fn between(
        &self,
        key: &'t str,
        one: &[Selected<'w, 't>],
        other: &[Selected<'w, 't>],
        is_exclusive: bool,
    ) -> Option<Conflict<'w, 't>> {
        let (first, second) = (one.first()?, other.first()?);
        let is_exclusive = is_exclusive || self.are_exclusive(first.parent, second.parent);
        if let Some(reason) = self.reason(is_exclusive, first, second) {
            return Some((key, reason, *first, *second));
        }
        let (one, other) = (below(one), below(other));
        if one.is_empty() || other.is_empty() {
            return None;
        }
        let other = self.merged(&other);
        for (key, fields) in &self.merged(&one) {
            let Some(others) = other.get(key) else { continue };
            for class in self.grouped(fields) {
                for other in self.grouped(others) {
                    let found = self.between(key, &class, &other, is_exclusive);
                    if found.is_some() {
                        return found;
                    }
                }
            }
        }
        None
    }

    /// Groups fields of one response key by parent, name and arguments, or returns the first two
    /// that conflict.
    fn classes(&self, fields: &[Selected<'w, 't>]) -> Result<Classes<'w, 't>, FirstTwo<'w, 't>> {
        let mut classes = Classes::new();
        for field in fields {
            if self.joined(field, &mut classes) {
                continue;
            }
            for first in classes.iter().filter_map(|class| class.first()) {
                let is_exclusive = self.are_exclusive(first.parent, field.parent);
                if let Some(reason) = self.reason(is_exclusive, first, field) {
                    return Err((reason, *first, *field));
                }
            }
            classes.push(vec![*field]);
        }
        Ok(classes)
    }

    /// Groups fields that were compared with each other before.
    fn grouped(&self, fields: &[Selected<'w, 't>]) -> Classes<'w, 't> {
        let mut classes = Classes::new();
        for field in fields {
            if !self.joined(field, &mut classes) {
                classes.push(vec![*field]);
            }
        }
        classes
    }

    /// Adds `field` to its class; returns `false` if there is none yet.
    fn joined(&self, field: &Selected<'w, 't>, classes: &mut Classes<'w, 't>) -> bool {
        let known = classes.iter_mut().find(|class| {
            let first = class.first();
            first.is_some_and(|first| first.parent == field.parent && self.is_same(first, field))
        });
        match known {
            Some(class) => class.push(*field),
            None => return false,
        }
        true
    }
}

/// Fields with equal parents, names and arguments.
type Classes<'w, 't> = Vec<Vec<Selected<'w, 't>>>;

/// Reason and the two fields.
type FirstTwo<'w, 't> = (String, Selected<'w, 't>, Selected<'w, 't>);

/// Response key, reason, and the two fields.
type Conflict<'w, 't> = (&'t str, String, Selected<'w, 't>, Selected<'w, 't>);

struct Proof {
    /// Selection sets below the proved ones.
    proved: Vec<u32>,
    visits: usize,
}

/// Selection sets of `fields`.
fn below<'t>(fields: &[Selected<'_, 't>]) -> Vec<Set<'t>> {
    let sets = fields
        .iter()
        .map(|selected| (selected.below(), selected.field.selections));
    sets.filter(|(_, selections)| !selections.is_empty()).collect()
}
