//! Compiled operation, which owns all its data.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use juniper::{InputValue, OperationType};

use super::table::{Arguments, FieldInfo};
use super::write::Key;
use crate::guard::demand::Policies;
use crate::response::{Location, PathSegment};
use crate::validate::Fault;

/// Operation with expanded fragments, merged response keys, and decided `@skip` and `@include`.
pub struct Plan {
    pub(crate) kind: OperationType,
    /// Fields at the root, in response order.
    pub(crate) fields: Arc<[Field]>,
    /// Error locations by [`Field::meta`].
    pub(crate) metas: Box<[FieldMeta]>,
    /// Object type and name of the fields by [`Field::meta`]; empty unless resolvers are observed.
    pub(crate) resolvers: Box<[(&'static str, &'static str)]>,
    pub(crate) policies: Policies,
    /// Arguments with variables, by [`ArgRef::Slot`].
    pub(crate) slots: Box<[SlotPlan]>,
    /// Invalid arguments without variables.
    pub(crate) faults: Box<[FieldFaults]>,
    /// Response positions by [`FieldMeta::place`].
    pub(crate) places: Box<[Place]>,
    pub(crate) has_async: bool,
    /// Parts of the response that follow the first one, by the [`Field::meta`] of their fields.
    pub(crate) deferred: Box<[DeferredGroup]>,
    /// Deferred fragments, by [`DeferredGroup::fragments`].
    pub(crate) fragments: Box<[DeferredFragment]>,
    /// Largest response so far in bytes; initial capacity of the next execution.
    pub(crate) size_hint: AtomicUsize,
}

impl Plan {
    /// Records the size of a response in bytes. Stores only a new maximum, to avoid contention on
    /// the cache line.
    pub(crate) fn took(&self, bytes: usize) {
        if bytes > self.size_hint.load(Ordering::Relaxed) {
            self.size_hint.store(bytes, Ordering::Relaxed);
        }
    }

    /// Indices into [`Plan::metas`] of the fields that can run if `is_denied` refuses the fields
    /// with some policies.
    pub(crate) fn reachable(&self, is_denied: &dyn Fn(Option<u16>) -> bool) -> HashSet<u32> {
        let mut reached = Reached::default();
        reached.list(&self.fields, is_denied);
        reached.metas
    }

    /// Approximate bytes of the path of a field in JSON.
    pub(crate) fn path_size(&self, place: Option<u32>, indices: &[u32]) -> usize {
        path_size(&self.places, place) + indices.len() * INDEX
    }

    /// Path of a field: response keys with list indices between them. Empty for the root.
    pub(crate) fn path(&self, place: Option<u32>, indices: &[u32]) -> Vec<PathSegment> {
        let mut around = Vec::new();
        let mut at = place;
        while let Some(place) = at.and_then(|at| self.places.get(usize::try_from(at).ok()?)) {
            around.push(place);
            at = place.parent;
        }
        let mut rest = indices.iter();
        let mut path = Vec::with_capacity(around.len() + indices.len());
        for (above, place) in around.iter().enumerate().rev() {
            path.push(PathSegment::Key(place.key.to_string()));
            // all list indices of a parent field precede the failed field
            let lists = if above == 0 {
                usize::MAX
            } else {
                usize::try_from(place.lists).unwrap_or(usize::MAX)
            };
            for index in rest.by_ref().take(lists) {
                path.push(PathSegment::Index(usize::try_from(*index).unwrap_or(usize::MAX)));
            }
        }
        path
    }
}

/// Fields that can run.
#[derive(Default)]
struct Reached {
    metas: HashSet<u32>,
    /// Lists of fields so far; the object types of an interface share them.
    lists: HashSet<*const Field>,
}

impl Reached {
    fn list(&mut self, fields: &[Field], is_denied: &dyn Fn(Option<u16>) -> bool) {
        if !self.lists.insert(fields.as_ptr()) {
            return;
        }
        for field in fields {
            match (field.idx, is_denied(field.policy)) {
                // the guards of the object
                (Field::CONST, true) => return,
                (Field::CONST, false) | (_, true) => continue,
                (Field::DEFERRED, false) => {}
                (_, false) => {
                    self.metas.insert(field.meta);
                }
            }
            match &field.selection {
                Selection::Leaf => {}
                Selection::Object(fields) => self.list(fields, is_denied),
                Selection::Abstract(types) => {
                    for (_, fields) in types.iter() {
                        self.list(fields, is_denied);
                    }
                }
            }
        }
    }
}

/// Approximate bytes of a list index in a path.
const INDEX: usize = 6;

/// Approximate bytes of the response keys in the path of a field in JSON.
pub(crate) fn path_size(places: &[Place], mut place: Option<u32>) -> usize {
    let mut size = 0;
    while let Some(known) = place.and_then(|at| places.get(usize::try_from(at).ok()?)) {
        // quotes and a comma
        size += known.key.len() + 3;
        place = known.parent;
    }
    size
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plan")
            .field("kind", &self.kind)
            .field("fields", &self.fields)
            .finish_non_exhaustive()
    }
}

/// Selected field of one object type.
pub struct Field {
    pub(crate) key: Key,
    /// Index in the table of its type, or [`Field::CONST`].
    pub(crate) idx: u16,
    /// `true` if the field is non-null in the schema.
    pub(crate) non_null: bool,
    /// `true` if the field or its selection is asynchronous.
    pub(crate) has_async: bool,
    /// `true` if the selection is asynchronous.
    pub(crate) sel_async: bool,
    /// `true` if the field has a guard or arguments that can fail, or is observed.
    pub(crate) checked: bool,
    /// `true` if the resolver of the field is observed.
    pub(crate) observed: bool,
    /// Index into [`Policies::distinct`].
    pub(crate) policy: Option<u16>,
    pub(crate) args: ArgRef,
    pub(crate) selection: Selection,
    pub(crate) meta: u32,
}

impl Field {
    /// Marks a field without a resolver, whose key includes its value: `__typename`, introspection,
    /// type guards.
    pub(crate) const CONST: u16 = u16::MAX;

    /// Marks the fields of a [`DeferredGroup`], whose index is [`Field::meta`].
    pub(crate) const DEFERRED: u16 = u16::MAX - 1;

    /// Returns the index of the field in the table of its type.
    #[inline]
    #[must_use]
    pub fn index(&self) -> u16 {
        self.idx
    }

    /// Returns `true` if the selection is asynchronous, so that the value must be kept until it is
    /// written.
    #[inline]
    #[must_use]
    pub fn is_deep(&self) -> bool {
        self.sel_async
    }

    #[inline]
    pub(crate) fn is_leaf(&self) -> bool {
        matches!(self.selection, Selection::Leaf)
    }

    /// Returns the fields selected on the object type `name`.
    #[inline]
    #[must_use]
    pub fn selected(&self, name: &str) -> &[Self] {
        match &self.selection {
            Selection::Object(fields) => fields,
            Selection::Abstract(types) => {
                let mut types = types.iter();
                types
                    .find_map(|(known, fields)| (*known == name).then_some(&**fields))
                    .unwrap_or_default()
            }
            Selection::Leaf => &[],
        }
    }
}

impl std::fmt::Debug for Field {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Field")
            .field("key", &self.key)
            .field("idx", &self.idx)
            .field("selection", &self.selection)
            .finish_non_exhaustive()
    }
}

/// Selection of a field.
#[derive(Clone, Debug)]
pub(crate) enum Selection {
    Leaf,
    Object(Arc<[Field]>),
    /// Interface or union: the fields of each object type.
    Abstract(Arc<[PerType]>),
}

/// Object type and its fields.
pub(crate) type PerType = (&'static str, Arc<[Field]>);

/// Arguments of a field.
pub(crate) enum ArgRef {
    None,
    /// Without variables, coerced once for all executions.
    Const(Arguments),
    /// Index into [`Plan::slots`], coerced in each execution.
    Slot(u32),
    /// Invalid arguments, with the message.
    Refused(Arc<str>),
}

/// Arguments of a field with variables.
#[derive(Debug)]
pub(crate) struct SlotPlan {
    /// Index into [`Plan::metas`].
    pub(crate) meta: u32,
    pub(crate) info: &'static FieldInfo,
    /// Literal, default and nullability of each argument.
    pub(crate) values: Box<[SlotValue]>,
}

/// Faults in the arguments of a field.
#[derive(Debug)]
pub(crate) struct FieldFaults {
    /// Index into [`Plan::metas`].
    pub(crate) meta: u32,
    pub(crate) faults: Vec<Fault>,
}

/// Argument of a field.
#[derive(Debug)]
pub(crate) struct SlotValue {
    pub(crate) name: &'static str,
    pub(crate) written: Option<InputValue>,
    pub(crate) default: Option<InputValue>,
    pub(crate) non_null: bool,
}

/// Data to report the failure of a field.
#[derive(Debug)]
pub(crate) struct FieldMeta {
    /// Index into [`Plan::places`].
    pub(crate) place: u32,
    pub(crate) location: Location,
    /// Index into [`Plan::deferred`]; `None` in the first part of the response.
    pub(crate) group: Option<u32>,
}

/// Fields of one object that belong to the same deferred fragments.
#[derive(Debug)]
pub(crate) struct DeferredGroup {
    /// Indices into [`Plan::fragments`].
    pub(crate) fragments: Box<[u32]>,
    /// Index of the object into [`Plan::places`]; `None` for the root.
    pub(crate) place: Option<u32>,
    /// Number of list indices of the object.
    pub(crate) lists: u32,
    /// Approximate bytes that the paths and labels of one object add to the response.
    pub(crate) overhead: usize,
}

/// Approximate bytes that announce and complete a deferred fragment, without path and label.
const OVERHEAD: usize = 128;

impl DeferredFragment {
    /// Approximate bytes that the fragment adds to the response for one object.
    pub(crate) fn overhead(&self, places: &[Place]) -> usize {
        let label = self.label.as_deref().map_or(0, str::len);
        OVERHEAD + label + path_size(places, self.place)
    }
}

/// Active `@defer` on one object type at one position.
#[derive(Debug)]
pub(crate) struct DeferredFragment {
    pub(crate) label: Option<Box<str>>,
    /// Fragment around this one, an index into [`Plan::fragments`].
    pub(crate) parent: Option<u32>,
    /// Index of the object into [`Plan::places`]; `None` for the root.
    pub(crate) place: Option<u32>,
    /// Number of list indices of the object.
    pub(crate) lists: u32,
}

/// Position in the response, shared by the object types of an interface.
#[derive(Debug)]
pub(crate) struct Place {
    /// Parent field.
    pub(crate) parent: Option<u32>,
    /// Response key.
    pub(crate) key: Box<str>,
    /// Number of lists in the field's type.
    pub(crate) lists: u32,
}
