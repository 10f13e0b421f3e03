//! What a type says about itself: names, arguments and guards of its fields, as constants.

use std::any::Any;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use juniper::{FromInputValue, InputValue, IntoFieldError};

use super::{Object, Source};

use crate::guard::demand::Guard;

/// The coerced arguments of a field: an `Arc` of the tuple of their Rust types.
pub type Arguments = Arc<dyn Any + Send + Sync>;

/// Makes the tuple of a field's arguments of their values; `None` is an argument that nobody gave.
pub type Coerce = fn(&[Option<InputValue>]) -> Result<Arguments, String>;

/// An object type of the schema.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "generated code writes it down")]
pub struct TypeInfo {
    /// The GraphQL name.
    pub name: &'static str,
    /// Who may have an object of the type: all of them must let it pass.
    pub guards: &'static [Guard],
    /// The fields; a plan refers to them by their place.
    pub fields: &'static [FieldInfo],
}

/// A field of an object type.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "generated code writes it down")]
pub struct FieldInfo {
    /// The GraphQL name.
    pub name: &'static str,
    /// Whether the resolver is an `async fn`.
    pub is_async: bool,
    /// The GraphQL names of the arguments, in the order of the tuple.
    pub args: &'static [&'static str],
    /// Makes the tuple of the arguments, one value for each of `args`; `None` for a field without arguments.
    pub coerce: Option<Coerce>,
    /// Who may select the field: all of them must let it pass.
    pub guards: &'static [Guard],
    /// Whether the field returns a type that only juniper can execute: `#[graph(plain)]`.
    pub plain: bool,
    /// Registers the object types behind the field.
    pub register: fn(&mut Registry),
}

impl FieldInfo {
    /// A field without a name, for the rest of a struct expression.
    pub const EMPTY: Self = Self {
        name: "",
        is_async: false,
        args: &[],
        coerce: None,
        guards: &[],
        plain: false,
        register: |_| {},
    };
}

/// The object types of a schema that have a table, by GraphQL name.
#[derive(Debug, Default)]
pub struct Registry {
    types: HashMap<&'static str, &'static TypeInfo>,
    /// Names that two types of different tables claim.
    clashes: Vec<&'static str>,
}

impl Registry {
    /// Registers an object type and everything behind its fields.
    pub fn object<C, T: Object<C> + ?Sized>(&mut self) {
        self.table(T::INFO);
    }

    /// Registers a subscription root and everything behind its fields.
    pub fn source<C, T: Source<C> + ?Sized>(&mut self) {
        self.table(T::INFO);
    }

    fn table(&mut self, info: &'static TypeInfo) {
        match self.types.entry(info.name) {
            Entry::Occupied(known) => {
                // a constant may be in several places: its address says nothing
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

/// The argument at the place `at` of a field's arguments.
///
/// # Errors
///
/// What the parser of the type said, for clients.
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
