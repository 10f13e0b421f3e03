//! A compiled operation: it owns everything it needs and borrows nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use juniper::{InputValue, OperationType};

use super::table::{Arguments, FieldInfo};
use super::write::Key;
use crate::guard::demand::Policies;
use crate::response::Location;

/// An operation with its fragments expanded, its response keys merged, and `@skip` and `@include` decided.
pub struct Plan {
    pub(crate) kind: OperationType,
    /// The fields at the root, in the order of the response.
    pub(crate) fields: Arc<[Field]>,
    /// What of a field is needed when it fails, by [`Field::meta`].
    pub(crate) metas: Box<[FieldMeta]>,
    pub(crate) policies: Policies,
    /// Arguments with variables in them, by [`ArgRef::Slot`].
    pub(crate) slots: Box<[SlotPlan]>,
    /// Where in the response fields are, by [`FieldMeta::place`].
    pub(crate) places: Box<[Place]>,
    pub(crate) has_async: bool,
    /// How long the buffer became that an execution starts with, at most: in bytes, with what ends the envelope.
    pub(crate) size_hint: AtomicUsize,
}

impl Plan {
    /// Notes how long the buffer became. To write only what is new spares the other processors.
    pub(crate) fn took(&self, bytes: usize) {
        if bytes > self.size_hint.load(Ordering::Relaxed) {
            self.size_hint.store(bytes, Ordering::Relaxed);
        }
    }
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plan")
            .field("kind", &self.kind)
            .field("fields", &self.fields)
            .finish_non_exhaustive()
    }
}

/// A selected field of one object type.
pub struct Field {
    pub(crate) key: Key,
    /// Its place in the table of its type, or [`Field::CONST`].
    pub(crate) idx: u16,
    /// The schema says that it is never null.
    pub(crate) non_null: bool,
    /// It, or something below it, is asynchronous.
    pub(crate) has_async: bool,
    /// Something below it is asynchronous.
    pub(crate) sel_async: bool,
    /// It has a guard, or arguments that may not have been coerced.
    pub(crate) checked: bool,
    /// In [`Policies::distinct`].
    pub(crate) policy: Option<u16>,
    pub(crate) args: ArgRef,
    pub(crate) selection: Selection,
    pub(crate) meta: u32,
}

impl Field {
    /// The key is written with its value, if there is one: `__typename`, introspection, and what guards an object.
    pub(crate) const CONST: u16 = u16::MAX;

    /// The place of the field in the table of its type.
    #[inline]
    #[must_use]
    pub fn index(&self) -> u16 {
        self.idx
    }

    /// Whether something below it is asynchronous: the value must be kept until that is done.
    #[inline]
    #[must_use]
    pub fn is_deep(&self) -> bool {
        self.sel_async
    }

    #[inline]
    pub(crate) fn is_leaf(&self) -> bool {
        matches!(self.selection, Selection::Leaf)
    }

    /// What is selected of the value when it is of the object type `name`.
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

/// What is selected of a field.
#[derive(Clone, Debug)]
pub(crate) enum Selection {
    Leaf,
    Object(Arc<[Field]>),
    /// Of an interface or a union: the complete fields for every object type.
    Abstract(Arc<[PerType]>),
}

/// The fields of one object type.
pub(crate) type PerType = (&'static str, Arc<[Field]>);

/// The arguments of a field.
pub(crate) enum ArgRef {
    None,
    /// Without variables, coerced once for all executions.
    Const(Arguments),
    /// In [`Plan::slots`], coerced once an execution.
    Slot(u32),
    /// Nothing that the type of the argument takes.
    Refused(Arc<str>),
}

/// The arguments of a field with variables in them.
#[derive(Debug)]
pub(crate) struct SlotPlan {
    pub(crate) info: &'static FieldInfo,
    /// For every argument: what is written, or else the default of the schema; and whether the argument takes a null.
    pub(crate) values: Box<[SlotValue]>,
}

/// One argument of a field.
#[derive(Debug)]
pub(crate) struct SlotValue {
    pub(crate) name: &'static str,
    pub(crate) written: Option<InputValue>,
    pub(crate) default: Option<InputValue>,
    pub(crate) non_null: bool,
}

/// What of a field is needed when it fails.
#[derive(Debug)]
pub(crate) struct FieldMeta {
    /// In [`Plan::places`].
    pub(crate) place: u32,
    pub(crate) location: Location,
}

/// Where in the response a field is: on every type of an interface's objects the same.
#[derive(Debug)]
pub(crate) struct Place {
    /// The field around it.
    pub(crate) parent: Option<u32>,
    /// The response key.
    pub(crate) key: Box<str>,
    /// How many lists its type has.
    pub(crate) lists: u32,
}
