//! Constant table of an object type: names, arguments and guards of its fields.

use std::any::Any;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use juniper::{FromInputValue, InputValue, IntoFieldError};

use super::{Object, Source};

use crate::guard::demand::Guard;

/// Coerced arguments of a field: an `Arc` of the tuple of their Rust types.
pub type Arguments = Arc<dyn Any + Send + Sync>;

/// Coerces the values of a field's arguments to their tuple; `None` is an absent argument.
pub type Coerce = fn(&[Option<InputValue>]) -> Result<Arguments, String>;

/// Table of an object type.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "generated code writes it down")]
pub struct TypeInfo {
    /// GraphQL name.
    pub name: &'static str,
    /// Guards of the objects of this type; all must allow.
    pub guards: &'static [Guard],
    /// Fields; a plan refers to them by index.
    pub fields: &'static [FieldInfo],
}

/// Entry of a field in the table of its type.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "generated code writes it down")]
pub struct FieldInfo {
    /// GraphQL name.
    pub name: &'static str,
    /// `true` if the resolver is an `async fn`.
    pub is_async: bool,
    /// GraphQL names of the arguments, in tuple order.
    pub args: &'static [&'static str],
    /// Coerces the arguments; `None` for a field without arguments.
    pub coerce: Option<Coerce>,
    /// Guards of the field; all must allow.
    pub guards: &'static [Guard],
    /// Registers the object types of the field.
    pub register: fn(&mut Registry),
}

impl FieldInfo {
    /// Unnamed field, for struct update syntax.
    pub const EMPTY: Self = Self {
        name: "",
        is_async: false,
        args: &[],
        coerce: None,
        guards: &[],
        register: |_| {},
    };
}

/// Object types of a schema that have a table, by GraphQL name.
#[derive(Debug, Default)]
pub struct Registry {
    types: HashMap<&'static str, &'static TypeInfo>,
    /// Names used by two types with different tables.
    clashes: Vec<&'static str>,
}

impl Registry {
    /// Registers an object type and the types of its fields.
    pub fn object<C, T: Object<C> + ?Sized>(&mut self) {
        self.table(T::INFO);
    }

    /// Registers a subscription root and the types of its fields.
    pub fn source<C, T: Source<C> + ?Sized>(&mut self) {
        self.table(T::INFO);
    }

    fn table(&mut self, info: &'static TypeInfo) {
        match self.types.entry(info.name) {
            Entry::Occupied(known) => {
                // addresses of constants are not unique: compare the field names
                let names = |info: &TypeInfo| info.fields.iter().map(|field| field.name).collect::<Vec<_>>();
                if names(known.get()) != names(info) {
                    self.clashes.push(info.name);
                }
            }
            Entry::Vacant(vacant) => {
                vacant.insert(info);
                for field in info.fields {
                    (field.register)(self);
                }
            }
        }
    }

    pub(crate) fn types(&self) -> impl Iterator<Item = &'static TypeInfo> {
        self.types.values().copied()
    }

    pub(crate) fn clashes(&self) -> &[&'static str] {
        &self.clashes
    }
}

/// Coerces the argument at index `at`.
///
/// # Errors
///
/// The message of the type's parser, for the client.
pub fn argument<T>(values: &[Option<InputValue>], at: usize) -> Result<T, String>
where
    T: FromInputValue,
    T::Error: IntoFieldError,
{
    let parsed = match values.get(at).and_then(Option::as_ref) {
        Some(value) => T::from_input_value(value),
        None => T::from_implicit_null(),
    };
    parsed.map_err(|error| error.into_field_error().message().to_owned())
}
